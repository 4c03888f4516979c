"""Do the kernels of the bench and the lab still compile to the code that they did?

codegen_test.py --ordito ORDITO --figures CODEGEN_FIGURES --root SOURCES --work FOLDER [--accept | --every N]

The figures of each kernel (see figures.cpp) stand in tests/codegen/CPU.json, for two processors. An optimisation that no
longer fires changes them. A change that is meant is accepted with --accept, and the difference of the files goes into the
commit. The figures are those of one version of LLVM: with another the test is skipped (status 77), and says so.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

CPUS = ["x86-64-v3", "x86-64-v4"]
SKIPPED = 77


def arguments():
    parser = argparse.ArgumentParser()
    for name in ("ordito", "figures", "root", "work", "llvm"):
        parser.add_argument("--" + name, required=True)
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--every", type=int, default=1, help="look at the first of N sources, the next after them, and so on")
    one.add_argument("--accept", action="store_true", help="write the figures instead of comparing them")
    return parser.parse_args()


def program(source):
    return pathlib.Path(source["file"]).stem


def make_ptx(options, source, arguments):
    """The PTX of a source, made anew: clang is quick, and what it depends on are many files."""
    ptx = pathlib.Path(arguments.work) / (program(source) + ".ptx")
    subprocess.run([arguments.ordito, "nvcc", *options, "-ptx", source["file"], "-o", ptx], cwd=arguments.root, check=True)
    return ptx


def without_unit_numbers(kernel):
    """The name of a kernel in an unnamed namespace holds two numbers of its unit, which depend on where the files lie."""
    return re.sub(r"(_GLOBAL__N__)[0-9a-f]{8}(_[0-9]+_\w*?_cu_)[0-9a-f]{8}", r"\1\2", kernel)


def measure(cpu, ptx, source, arguments):
    blocks = [word for rule in source.get("blocks", []) for word in ("--block-of", rule)]
    command = [arguments.figures, "--cpu", cpu, *blocks, str(ptx)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def write(path, llvm, figures):
    """One line for each kernel, so that a difference can be read."""
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(figures.items()))
    path.write_text(f'{{\n "llvm": "{llvm}",\n "kernels": {{\n{rows}\n }}\n}}\n')


def differences(known, measured):
    for name in sorted(known.keys() | measured.keys()):
        before, now = known.get(name), measured.get(name)
        if before is None or now is None:
            yield f"{name}: {'new' if before is None else 'no longer there'}"
        elif before != now:
            changed = [f"{k} {before.get(k)} -> {now[k]}" for k in now if before.get(k) != now[k]]
            yield f"{name}: {', '.join(changed)}"


def main():
    args = arguments()
    here = pathlib.Path(__file__).resolve().parent
    sources = json.loads((here / "sources.json").read_text())
    pathlib.Path(args.work).mkdir(parents=True, exist_ok=True)
    golden = {cpu: here / (cpu + ".json") for cpu in CPUS}
    if not args.accept:
        made_with = json.loads(golden[CPUS[0]].read_text())["llvm"]
        if made_with != args.llvm:
            print(f"skipped: the figures are those of LLVM {made_with}, this is {args.llvm}")
            return SKIPPED
    chosen = sources["sources"][:: args.every]
    ptx = [make_ptx(sources["options"], source, args) for source in chosen]
    programs = {program(source) for source in chosen}
    status = 0
    for cpu in CPUS:
        figures = {}
        for source, file in zip(chosen, ptx):
            for kernel, row in measure(cpu, file, source, args).items():
                figures[f"{program(source)} {without_unit_numbers(kernel)}"] = row
        if args.accept:
            write(golden[cpu], args.llvm, figures)
            continue
        known = json.loads(golden[cpu].read_text())["kernels"]
        known = {name: row for name, row in known.items() if name.split(" ")[0] in programs}
        found = list(differences(known, figures))
        print(f"{cpu}: {len(figures)} kernels, {len(found)} differ")
        print("".join(f"  {line}\n" for line in found), end="")
        status |= bool(found)
    if status:
        print("A change that is meant: cmake --build build/release --target accept_codegen")
    return status


if __name__ == "__main__":
    sys.exit(main())
