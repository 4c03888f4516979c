"""GPUVerify's directory of CUDA kernels as programs: these have no host code, so each gets some here.

A kernel is launched as its first lines say, with buffers for pointers, and several times with other values for its
numbers, since what is proved for all values may be wrong for some; a parameter of which the file says a value has that
one. Pointers to functions become each of the file's functions of that type, and null. gpuverify.h tells what the words
for the prover become. Blocks of more threads than CUDA allows get fewer. Kernels are compiled as they stand, since many
write what nobody reads.
"""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
NUMBERS = "{total, 1, 0, 2, 64}"

# What has no expectation, whatever the first lines say: H + 4 - 4 counts as null, and only block (16, 16) is assumed.
OF_THE_PROVER = ("misc/fail/miscfail7", "annotation_tests/test_axiom")

# What is wrong with a kernel that must fail, where its first lines tell it. "prover": with the proof, not the kernel.
SAYS = (("memory", "null pointer access|0-sized|constant memory"),
        ("prover", "not-racy|Type of __return_val|Unsupported function pointer|undeclared|invariant might not|"
                   "statically given values"),
        ("race", "race|Write by thread|racy"),
        ("assertion", r"assert|\w = \d+|kernel.cu:10"))


def option(text, name):
    """"[4,2]" or "4"."""
    found = re.search(rf"--{name}=(\[[\d, ]+\]|\d+)", text)
    return [int(n) for n in found.group(1).strip("[]").split(",")] if found else [1]


def block_of(text):
    """At most 1024 threads."""
    dims = option(text, "blockDim")
    while len(dims) < 3:
        dims.append(1)
    while dims[0] * dims[1] * dims[2] > 1024 or dims[2] > 64:
        at = 2 if dims[2] > 64 else dims.index(max(dims))
        dims[at] //= 2
    return dims


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def kernels(text):
    """Names, and the names of their parameters."""
    plain = re.sub(r"__launch_bounds__\s*\([^)]*\)|__attribute__\s*\(\(.*?\)\)", "", without_comments(text))
    found = re.findall(r"(?:__global__\s+(?:static\s+)?void|\bvoid\s+__global__)\s+(\w+)\s*\(([^)]*)\)", plain)
    return [(name, [p.split()[-1].strip("*&") for p in parameters.split(",") if p.strip() not in ("", "void")])
            for name, parameters in found]


def first_lines(text):
    return "".join(line + "\n" for line in re.findall(r"^//.*$", text, re.MULTILINE))


def says(name, text):
    """What the first lines expect: "pass", or what is wrong."""
    head = first_lines(text)
    if name in OF_THE_PROVER:
        return "prover"
    if "xfail" not in text.split("\n")[0].lower():
        return "pass in lock-step" if "--warp-sync" in head else "pass"
    told = head.split("\n", 2)[2]
    for kind, words in SAYS:
        if re.search(words, told):
            return kind
    # Of the others only the name speaks.
    return "memory" if re.search("null|pass_struct", name) else "divergence" if "divergence" in name else "race"


def functions(text):
    """Those that a pointer may point to, where there are such pointers."""
    plain = without_comments(text)
    has_pointers = re.search(r"\(\s*\*\s*\w+\s*\)\s*\(", plain)
    return re.findall(r"__device__\s+[\w ]+?[\s*]+(\w+)\s*\([^)]*\)\s*\{", plain) if has_pointers else []


def launches(text):
    known = dict(re.findall(r"^//(\w+) = (\d+)$", text, re.MULTILINE))
    known.update(re.findall(r"__requires\((\w+) == (\d+)\)", text))
    is_cooperative = str("this_grid" in text).lower()
    pointers = "|".join(re.findall(r"typedef[^;]*\(\s*\*\s*(\w+)\s*\)", text))
    has_pointers = pointers and re.search(rf"__global__[^{{;]*\b({pointers})\b", text)
    rounds = (len(functions(text)) + 1) ** 2 if has_pointers else 1
    for first in range(10 if any(parameters for _, parameters in kernels(text)) else 1):
        for choice in range(rounds):
            yield f"  round_now = {{{NUMBERS}, {first}, {first // 5}, {choice}, {str(first % 2 == 0).lower()}}};"
            for name, parameters in kernels(text):
                values = ", ".join(f"Known{{true, {known[p]}}}" if p in known else "Known{}" for p in parameters)
                yield f"  launch({name}, grid, block, {is_cooperative}, {{{values}}});"


def defines(text):
    return re.findall(r"-D\S+", first_lines(text))


def program(source):
    """The text of a program, or None."""
    text = source.read_text(errors="replace")
    if not kernels(text):
        return None
    grid, block = ", ".join(map(str, option(text, "gridDim"))), ", ".join(map(str, block_of(text)))
    found = "\n".join(f"  if constexpr (std::is_same_v<F, decltype(&{name})>) out[(*count)++] = &{name};"
                      for name in functions(text))
    lines = "\n".join(launches(text))
    return f"""#include "{HERE}/gpuverify.h"
#pragma clang optimize off
#include "{source}"
#pragma clang optimize on
template <class F>
__global__ void functions_of(F* out, int* count) {{
  *count = 0;
{found}
}}
int main() {{
  const dim3 grid({grid}), block({block});
  const long total = long(grid.x) * grid.y * grid.z * block.x * block.y * block.z;
  (void)total;
{lines}
}}
"""
