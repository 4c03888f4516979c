#!/usr/bin/env python3
"""What the table of a program must show by counts alone, at the size of the published figures.

usage: tables_test.py PATH/TO/ordito PROGRAM
"""
import json
import subprocess
import sys

INSTRUCTIONS = "smsp__inst_executed.sum"
failures = []


def table(ordito, program, *options):
    command = [ordito, "lab", "run", program, "--rounds", "1", "--json", *options]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with status {result.returncode}:\n{result.stderr}")
    document = json.loads(result.stdout)
    return {row["variant"]: row for row in document["table"]}, document


def expect(what, right):
    if not right:
        failures.append(what)


def published(row, *keys):
    for key in keys:
        expect(f"{row['variant']}: a published {key}", row.get(f"published {key}") is not None)


def nested(rows, _):
    """2^22 elements in blocks of 512 are 8192 parts, which are halved 8 times until two elements are left."""
    children = {name: row["children"] for name, row in rows.items()}
    for name in ("by_block_tail", "by_block", "no_barrier"):
        expect(f"{name} has 8 children for each of 8192 blocks, not {children[name]}", children[name] == 8 * 8192)
    for name in ("by_grid", "no_tail"):
        expect(f"{name} has 8 children, not {children[name]}", children[name] == 8)
    expect("neighbored launches nothing", children["neighbored"] is None)
    for name in ("neighbored", "by_block_tail", "by_block", "by_grid"):
        published(rows[name], INSTRUCTIONS, "no_eligible", "stall_barrier", "total_ms", "speedup")
        expect(f"{name}: its speed-up over the CPU and over the rung before", rows[name]["speedup"] > 0 and rows[name]["step"] > 0)


def saxpy(_, document):
    """Copies and kernel of `whole`: the shares make a hundred, as many calls as the program makes."""
    lines = [line.split(maxsplit=6) for line in document["notes"] if line.lstrip()[:1].isdigit()]
    calls = {line[6]: int(line[2]) for line in lines}
    expect(f"calls: {calls}", calls == {"copies to the device": 2, "saxpyRepeated": 1, "copies to the host": 1})
    shares = sum(float(line[0]) for line in lines)
    expect(f"shares make {shares} %", abs(shares - 100) < 0.02)
    times = [float(line[1]) for line in lines]
    expect("the longest first", times == sorted(times, reverse=True))


def histogram(_, document):
    """A block of 256 threads merges its 256 bins with one atomic addition for each thread: 8 warps, 128 or 1024 blocks."""
    metrics = {variant["name"]: variant["metrics"] for variant in document["variants"]}
    for blocks in (128, 1024):
        merges = metrics[f"private_{blocks}"].get("smsp__inst_executed_op_global_red.sum")
        expect(f"{blocks} blocks merge with {merges} atomic additions of warps", merges == 8 * blocks)


CHECKS = {
    "nested": (nested, ["--all"]),
    "saxpy": (saxpy, ["--size", "2^20"]),
    "histogram": (histogram, ["--size", "2^20"]),
}


def main():
    ordito, program = sys.argv[1:3]
    check, options = CHECKS[program]
    check(*table(ordito, program, *options))
    print("\n".join(failures) or f"{program}: as it must be")
    sys.exit(1 if failures else 0)


main()
