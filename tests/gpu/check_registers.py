#!/usr/bin/env python3
"""Our estimates of kernels' registers against those that ptxas reported.

check_registers.py ORDITO FUZZ_RECORD REPLAY SCRATCH [--every N]  compare with registers.recorded
check_registers.py ORDITO FUZZ_RECORD - SCRATCH --record PTXAS    ask ptxas, and write registers.recorded

The kernels: those of tests/ptx, those of our CUDA sources as `ordito nvcc` compiles them, and random ones of the fuzzer,
of which the recording keeps the seeds that all five architectures take. Compiling the sources takes minutes: with
--every N only every N-th of them is compiled and compared.
"""
import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests/gpu/registers.recorded"
ARCHITECTURES = (75, 80, 90, 100, 120)
SOURCES = ("lab/*/*.cu", "bench/*.cu", "tests/api/*/*.cu", "tests/gpu/*.cu", "tests/ptx/inputs/*.cu")
INCLUDES = ("lab", "lab/common", "tests", "tests/api/runtime")
SEEDS = 4100


def compile_source(ordito, source, output):
    """PTX of one of our sources. Those that are there to be refused have none."""
    includes = [f"-I{ROOT / folder}" for folder in INCLUDES]
    subprocess.run([ordito, "nvcc", "-O3", "-ptx", *includes, "-o", output, source], capture_output=True, check=False)


def our_sources(every):
    """Every N-th of our CUDA sources, with the name that its PTX has in SCRATCH/cuda."""
    sources = [source for pattern in SOURCES for source in sorted(ROOT.glob(pattern))]
    return [(s, str(s.relative_to(ROOT).with_suffix("")).replace("/", "_") + ".ptx") for s in sources[::every]]


def write_kernels(arguments, seeds):
    """The PTX files, in SCRATCH/{ptx,cuda,fuzz}."""
    scratch = arguments.scratch
    for folder in ("cuda", "fuzz"):
        shutil.rmtree(scratch / folder, ignore_errors=True)
        (scratch / folder).mkdir(parents=True)
    if not (scratch / "ptx").exists():
        (scratch / "ptx").symlink_to(ROOT / "tests/ptx")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for source, name in our_sources(arguments.every):
            pool.submit(compile_source, arguments.ordito, source, scratch / "cuda" / name)
    subprocess.run([arguments.fuzz_record, "--ptx", scratch / "fuzz", str(seeds), "1"], check=True)


def ask(ptxas, path, architecture):
    """{kernel: registers}; what ptxas refuses has none. A newer target's suffix only says what may be used."""
    text = re.sub(r"^\.target\s+sm_\d+[af]?", f".target sm_{architecture}", path.read_text(), count=1, flags=re.M)
    command = [ptxas, "-v", f"-arch=sm_{architecture}", "-o", "/dev/null", "-"]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    found, kernel = {}, None
    for line in result.stderr.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            kernel = match.group(1)
        elif (match := re.search(r"Used (\d+) registers", line)) and kernel:
            found[kernel], kernel = int(match.group(1)), None
    return found


def record(arguments):
    lines = []
    for path in sorted(arguments.scratch.glob("*/*.ptx")):
        answers = [ask(arguments.record, path, a) for a in ARCHITECTURES]
        for kernel in sorted(set().union(*answers)):
            numbers = [answer.get(kernel, "-") for answer in answers]
            if path.parent.name == "fuzz" and "-" in numbers:
                continue
            lines.append(" ".join(map(str, (path.relative_to(arguments.scratch), kernel, *numbers))))
    RECORDED.write_text("# file, kernel, registers on " + " ".join(f"sm_{a}" for a in ARCHITECTURES) + "\n" +
                        "\n".join(lines) + "\n")


def wanted_records(arguments):
    """The recording without the sources that nobody compiled now; those that are gone stay in it and count as missing."""
    left_out = {name for _, name in our_sources(1)} - {name for _, name in our_sources(arguments.every)}
    wanted = arguments.scratch / "wanted.recorded"
    lines = RECORDED.read_text().splitlines(keepends=True)
    wanted.write_text("".join(line for line in lines if line.split()[0].removeprefix("cuda/") not in left_out))
    return wanted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ordito", type=pathlib.Path)
    parser.add_argument("fuzz_record", type=pathlib.Path)
    parser.add_argument("replay")
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--record", metavar="PTXAS")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    arguments = parser.parse_args()
    write_kernels(arguments, SEEDS)
    if arguments.record:
        return record(arguments)
    return subprocess.run([arguments.replay, wanted_records(arguments), arguments.scratch], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
