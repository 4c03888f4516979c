"""clang-tidy over the sources, with the rules of .clang-tidy.
usage: tidy.py <build tree> [file ...]          otherwise all of src/

Nearly all of the time goes into headers, above all LLVM's, that clang-tidy reads again for each file. So the checks walk through our
own declarations only (tidy_scope.cpp), and files that one compiler line fits are read together, a batch as one source that includes
them. A batch in which anything is found, be it that two files do not bear each other, is halved, until what is found is found in one
file alone. ORDITO_TEST_JOBS batches run at a time."""
import concurrent.futures
import itertools
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

TIDY = "clang-tidy-19"
BATCH = 12
plugin = []  # clang-tidy's options that load it
ROOT = pathlib.Path(__file__).resolve().parent.parent


def build_plugin(output):
    """clang-tidy's plugin. It needs clang's headers, which CI installs; without them the same is found, in thrice the time."""
    line = ["clang++-19", "-std=c++17", "-O1", "-shared", "-fPIC", "-fno-rtti", "-isystem", "/usr/lib/llvm-19/include"]
    done = subprocess.run([*line, ROOT / "tests/tidy_scope.cpp", "-o", output], stderr=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        return [f"--load={output}"]
    print("clang-tidy: libclang-19-dev is not installed, system headers are searched too")
    return []


def compiler_arguments(entry):
    """What matters to the front end: definitions, include paths and dialect."""
    words = iter(shlex.split(entry["command"]))
    next(words)
    for word in words:
        if word in ("-o", "-c", "-MF", "-MT", "-Xclang"):  # -Xclang: of precompiled headers, which the compiler alone reads
            next(words)
        elif word in ("-isystem", "-include"):
            yield from (word, next(words))
        elif word.startswith(("-D", "-I", "-std", "-f", "-W", "-m")):
            yield word


def batches(entries):
    """Files of one folder with equal arguments, at most BATCH together."""
    key = lambda entry: (str(pathlib.Path(entry["file"]).parent), tuple(compiler_arguments(entry)))
    for (_, arguments), group in itertools.groupby(sorted(entries, key=key), key=key):
        files = [entry["file"] for entry in group]
        for first in range(0, len(files), BATCH):
            yield arguments, files[first : first + BATCH]


def tidy(source, arguments, folder):
    """The output where something was found, otherwise nothing. The count of warnings in system headers on stderr interests nobody."""
    line = [TIDY, "--quiet", *plugin, f"--config-file={ROOT / '.clang-tidy'}", source, "--", *arguments]
    done = subprocess.run(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout or f"{source}: {TIDY} ended with {done.returncode}\n"


def findings(batch, folder):
    arguments, files = batch
    if len(files) == 1:
        return tidy(files[0], arguments, folder)
    with tempfile.NamedTemporaryFile("w", suffix=".cpp") as together:
        together.writelines(f'#include "{file}"\n' for file in files)
        together.flush()
        if not tidy(together.name, arguments, folder):
            return ""
    half = len(files) // 2
    return findings((arguments, files[:half]), folder) + findings((arguments, files[half:]), folder)


def is_source(file):
    return file.startswith(f"{ROOT}/src/") and file.endswith(".cpp")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    plugin.extend(build_plugin(build / "tidy_scope.so"))
    wanted = {str(pathlib.Path(file).resolve()) for file in sys.argv[2:]}
    known = {entry["file"]: entry for entry in json.loads((build / "compile_commands.json").read_text())}
    entries = [e for file, e in known.items() if (file in wanted if wanted else is_source(file))]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("ORDITO_TEST_JOBS", "2"))) as pool:
        found = False
        for text in pool.map(lambda batch: findings(batch, build), list(batches(entries))):
            found |= bool(text)
            print(text, end="", flush=True)
    print(f"clang-tidy: {len(entries)} files, {'see above' if found else 'nothing found'}")
    sys.exit(found)


if __name__ == "__main__":
    main()
