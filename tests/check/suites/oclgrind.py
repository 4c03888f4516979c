"""Oclgrind's kernels as CUDA programs: oclgrind.h makes OpenCL's words CUDA's, and the host code is what the .sim file
beside each kernel says of sizes and arguments.

A parameter in local memory becomes a shared array of the size that the .sim file gives. What Oclgrind expects is in the
.ref file: a line ERROR for each report. Kernels are compiled as they stand.
"""
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("alignment", "async_copy", "atomics", "barrier", "data-race", "memcheck", "uninitialized", "wait_event")

WORDS = {"kernel": 'extern "C" __global__', "global": "", "local": "__shared__"}

# What is no error in CUDA, or has no counterpart.
OTHERWISE = {
    "global_only_fence": "barriers order all memory",
    "local_only_fence": "barriers order all memory",
    "intragroup_hidden_race": "barriers order all memory",
    "read_write_only_memory": "no buffers that are only read or only written",
    "write_read_only_memory": "no buffers that are only read or only written",
    "async_copy_divergent": "no copies that a block must call alike",
    "async_copy_loop_divergent": "no copies that a block must call alike",
    "async_copy_single_wi": "no copies that a block must call alike",
    "wait_event_divergent": "no events within a kernel",
    "wait_event_invalid": "no events within a kernel",
}


class Argument:
    """What a .sim file says of a parameter: "<size=16 range=0:1:3 dump>" and values behind it."""

    def __init__(self, words, values):
        words = words.split()
        named = dict(word.split("=", 1) for word in words if "=" in word)
        self.is_null = "null" in words
        self.is_dumped = "dump" in words
        self.bytes = int(named.get("size", 0))
        self.type = next((word for word in words if word in ("char", "int", "float")), None)
        self.values, self.fill, self.range = values.split(), named.get("fill"), named.get("range")

    def elements(self, size):
        count = self.bytes // size
        if self.range:
            first, step, _ = map(float, self.range.split(":"))
            return [f"{first + i * step:g}" for i in range(count)]
        return [self.fill] * count if self.fill else self.values


def parse(sim):
    """The kernel's name, the threads of grid and block, and the arguments."""
    text = "\n".join(line for line in sim.read_text().splitlines() if not line.startswith("#"))
    _, name, sizes, block = text.split("\n")[:4]
    return name, list(map(int, sizes.split())), list(map(int, block.split())), \
        [Argument(*found) for found in re.findall(r"<([^>]*)>([^<]*)", text)]


def parameters(text, name):
    """Where the kernel's parameters and its body begin, and the parameters."""
    found = re.search(rf"void\s+{name}\s*\(([^)]*)\)\s*\{{", text)
    return found, [" ".join(p.split()) for p in found[1].split(",") if p.strip()]


def split(parameter):
    """The type without OpenCL's words, and the name: "local int *p" is ("int *", "p")."""
    found = re.match(r"(.*?)(\w+)$", re.sub(r"\b(__)?(global|local|const)\b", "", parameter))
    return found[1].strip(), found[2]


def program(source):
    """The text of a program."""
    text = source.read_text()
    name, threads, block, arguments = parse(source.with_suffix(".sim"))
    found, declared = parameters(text, name)
    kept, shared, made, dumps = [], "", [], ""
    for i, (parameter, argument) in enumerate(zip(declared, arguments)):
        kind, word = split(parameter)
        if re.match(r"(__)?local\b", parameter):
            element = kind.rstrip("* ")
            shared += f" __shared__ {element} {word}[{argument.bytes} / sizeof({element})];"
            continue
        kept.append(parameter)
        element = argument.type or (kind.rstrip("* ") if not kind.startswith("struct") else "char")
        size = {"char": 1, "uchar": 1, "ulong": 8}.get(element, 4)
        values = ", ".join(f"({'float' if element == 'float4' else element}){v}" for v in argument.elements(size))
        element = "float" if element == "float4" else element
        if "*" in kind:
            value = "nullptr" if argument.is_null else f"buffer<{element}>({argument.bytes}, {{{values}}})"
            made.append(f"  void* a{i} = {value};\n  arguments[{len(kept) - 1}] = &a{i};\n")
        else:
            made.append(f"  {element} a{i}[] = {{{values}}};\n  arguments[{len(kept) - 1}] = a{i};\n")
        if argument.is_dumped:
            dumps += f"  {{ char bytes[{argument.bytes}];" \
                     f" cudaMemcpy(bytes, a{i}, sizeof bytes, cudaMemcpyDeviceToHost); }}\n"
    text = text[:found.start(1)] + ", ".join(kept) + text[found.end(1):found.end()] + shared + text[found.end():]
    for word, ours in WORDS.items():
        text = re.sub(rf"\b(__)?{word}\b", ours, text)
    text = re.sub(r"^(?=(?!extern|struct|union|typedef)\w+ \w+\([^;]*\) ?\{)", "__device__ ", text, flags=re.MULTILINE)
    grid = [n // b for n, b in zip(threads, block)]
    return f"""#include "{HERE}/oclgrind.h"
#pragma clang optimize off
#line 1 "{source}"
{text}
#pragma clang optimize on
int main() {{
  void* arguments[8] = {{}};
{"".join(made)}
  cudaLaunchKernel(reinterpret_cast<void*>({name}), dim3({", ".join(map(str, grid))}), dim3({", ".join(map(str, block))}), arguments);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
{dumps}}}
"""


def is_wrong(source):
    return any(line.startswith("ERROR") for line in source.with_suffix(".ref").read_text().splitlines())
