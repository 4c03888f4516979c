#!/usr/bin/env python3
"""The tables of docs/libraries.md: the functions of each library, which of them tests call, and which are refused.

    functions.py BUILD-DIRECTORY

What there is is what the tables of names say (include/tables, for cuRAND its header). What a test calls is what its
executable asks the dynamic linker for, so nothing has to be kept by hand: the unit tests of src/libs and the programs of
tests/api/runtime. Exits with 77 and names the executable if one of them is not built.

A function is listed once for all its types and forms: `{S,D,C,Z}gemm` stands for cublasSgemm, cublasDgemm ..., each also
with sizes of 64 bits (`_64`) where CUDA has that. It counts as called if one of them is.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Name, table or header, what the exported names begin with, unit tests, programs.
LIBRARIES = (
    ("cuBLAS", "tables/cublas.table", "cublas", ("cublas",), ("cublas", "cublas_legacy")),
    ("cuBLASLt", "tables/cublasLt.table", "cublasLt", ("cublaslt",), ("cublaslt",)),
    ("cuSPARSE", "tables/cusparse.table", "cusparse", ("cusparse",), ("cusparse", "cusparse_operators")),
    ("cuSOLVER", "tables/cusolver.table", "cusolverDn|cusolver", ("cusolver",), ("cusolver",)),
    ("cuSOLVER, sparse", "tables/cusolverSp.table", "cusolverSp|cusolverRf", ("cusolver",), ()),
    ("cuSOLVER, several GPUs", "tables/cusolverMg.table", "cusolverMg", ("cusolver_several",), ()),
    ("cuFFT", "tables/cufft.table", "cufft", ("cufft",), ("cufft", "cufft_callbacks", "cufft_several")),
    ("cuFFTW", "tables/cufftw.table", "fftw", ("cufftw",), ("cufftw",)),
    ("cuRAND", "curand.h", "curand", (), ("random", "quasirandom", "mtgp32", "captured_random", "discrete_random")),
    ("cuDNN", "tables/cudnn.table", "cudnn", ("cudnn",), ("cudnn",)),
    ("NCCL", "tables/nccl.table", "nccl", ("nccl",), ("nccl",)),
    ("NPP", "tables/npp.table", "npp", ("npp",), ("npp",)),
    ("nvJPEG", "tables/nvjpeg.table", "nvjpeg", ("nvjpeg",), ("nvjpeg",)),
    ("NVRTC", "tables/nvrtc.table", "nvrtc", (), ("runtime_compiler", "runtime_linker")),
    ("nvJitLink", "tables/nvjitlink.table", "nvJitLink", (), ("runtime_linker",)),
    ("nvPTXCompiler", "tables/nvptxcompiler.table", "nvPTXCompiler", (), ("ptx_compiler",)),
    ("libNVVM", "tables/nvvm.table", "nvvm", ("nvvm",), ()),
    ("NVML", "tables/nvml.table", "nvml", (), ("nvml",)),
)
# More than these are counted, and not listed: the table of names has them.
MOST_REFUSED = 200

# cuBLAS: what the letters of the types stand in front of, where a letter less would be another function.
CUBLAS_NAMES = (("", "(Sc|Dz|S|D)(nrm2|asum)"), ("", "(Cs|Zd)(scal|rot)"), ("I", "([sdcz])(am\\w+)"),
                ("Xt", "([SDCZ])((?:gemm|hemm|her|spmm|symm|syr|trmm|trsm)\\w*)"),
                ("", "([SDCZH])((?!etS|etV|reate|estroy|hutdown|wap[A-Z]|cal[A-Z]|opy[A-Z]|ot[A-Z]|otc[A-Z])[a-z]\\w*)"))


def base(name: str) -> str:
    """The name without version and size of its sizes."""
    return re.sub(r"_v\d+$", "", name.removesuffix("_64"))


def split_cublas(plain: str) -> tuple[str, str]:
    """The letters of the types, and what is computed: ("S", "gemm")."""
    for prefix, pattern in CUBLAS_NAMES:
        match = re.match(f"{prefix}{pattern}$", plain)
        if match and not re.match("Set|Get|Free|Init|Copy|Rot|Uint", plain):
            return match[1], prefix + match[2]
    return "", plain


def splitter(library: str, plains: set[str]):
    """How a name without its prefix is split: NPP's end in their types; elsewhere a first letter is a type's if another
    type has the same function."""
    def by_letter(plain: str) -> tuple[str, str]:
        if plain[:1] in "SDCZ" and sum(letter + plain[1:] in plains for letter in "SDCZ") > 1:
            return plain[0], plain[1:]
        return "", plain
    if library == "NPP":
        return lambda plain: ("", plain.partition("_")[0])
    return split_cublas if library == "cuBLAS" else by_letter


class Functions:
    """The functions of a library by what they compute: their exported names, and the types that they have."""

    def __init__(self, library: str, prefix: str, names: list[str]):
        plain = {name: base(re.sub(f"^(?:{prefix})", "", name)) for name in names}
        split = splitter(library, set(plain.values()))
        self.types: dict[str, list[str]] = {}
        self.names: dict[str, list[str]] = {}
        for name in names:
            letters, function = split(plain[name])
            types = self.types.setdefault(function, [])
            if letters not in types:
                types.append(letters)
            self.names.setdefault(function, []).append(name)

    def told(self, function: str) -> str:
        types = [letters for letters in self.types[function] if letters]
        return f"`{{{','.join(types)}}}{function}`" if types else f"`{function}`"

    def rows(self, title: str, functions: list[str]) -> str:
        count = sum(len(self.names[function]) for function in functions)
        return f"| {title} | {count} | {' '.join(self.told(function) for function in functions)} |"


def declared(path: pathlib.Path) -> tuple[list[str], list[str]]:
    """The names that work, and those that are refused."""
    text = path.read_text()
    if path.suffix == ".h":
        return re.findall(r"^curandStatus_t\s+(?:\w+\s+)?(curand\w+)\(", text, re.MULTILINE), []
    there = [re.search(r"(\w+)\(", line)[1] for line in text.splitlines() if line.startswith("call ")]
    refused = [re.search(r"(\w+)\(", line)[1] for line in text.splitlines() if line.startswith("refuse ")]
    return there, refused + re.findall(r"^stub (\w+)", text, re.MULTILINE)


def called(build: pathlib.Path, units: tuple[str, ...], programs: tuple[str, ...]) -> set[str]:
    """What the executables ask the dynamic linker for."""
    files = [build / "tests" / f"{unit}_test" for unit in units]
    files += [build / "tests/api/runtime" / program for program in programs]
    symbols: set[str] = set()
    for file in files:
        if not file.exists():
            print(f"{file} is not built", file=sys.stderr)
            sys.exit(77)
        listed = subprocess.run(["nm", "-D", "--undefined-only", file], check=True, capture_output=True, text=True).stdout
        symbols |= {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    return symbols


def table(build: pathlib.Path, library: str, source: str, prefix: str, units: tuple[str, ...], programs: tuple[str, ...]) -> None:
    there, refused = declared(ROOT / "include" / source)
    symbols = called(build, units, programs)
    functions = Functions(library, prefix, there)
    tested = [f for f in functions.names if any(name in symbols for name in functions.names[f])]
    others = [f for f in functions.names if f not in tested]
    tests = ", ".join([f"`unit.{unit}`" for unit in units] + [f"`api.runtime.{program}`" for program in programs])
    print(f"\n### {library}\n\n| | names | functions |\n|---|--:|---|")
    print(functions.rows(f"called by {tests}", tested))
    if others:
        print(functions.rows("not called by these tests", others))
    if len(refused) > MOST_REFUSED:
        print(f"| refused | {len(refused)} | see `include/{source}` |")
    elif refused:
        no = Functions(library, prefix, refused)
        print(no.rows("refused", list(no.names)))


def main(build: str) -> None:
    for library in LIBRARIES:
        table(pathlib.Path(build), *library)


if __name__ == "__main__":
    main(*sys.argv[1:])
