#!/usr/bin/env python3
"""What the courses say about the order of times, where a GPU's recorded times (lab/recorded.json) bear it out.

usage: recorded_test.py RECORDED
"""
import json
import pathlib
import sys

# Program, the faster variant, the slower one: kernel times.
FASTER = (
    ("histogram", "private_1024", "atomic_1024"),
    ("histogram", "private_128", "atomic_128"),
    ("histogram", "lanes", "private_1024"),
    ("lookup", "shared_wide", "global"),
    ("lookup", "shared", "constant"),
    ("transpose", "padded_32", "tiled_32"),
    ("transpose", "padded_16", "tiled_16"),
    ("transpose", "tiled_32", "elements"),
    ("saxpy", "whole_streams", "whole"),
    ("reduction", "neighbored_less", "neighbored"),
    ("reduction", "interleaved", "neighbored_less"),
    ("reduction", "unroll2", "interleaved"),
    ("reduction", "unroll4", "unroll2"),
    ("reduction", "unroll8", "unroll4"),
    ("reduction", "template_smem", "unroll8"),
    ("matmul", "tiled_32", "naive_32"),
    ("matmul", "zero_copy_shared", "zero_copy_naive"),
    ("matmul", "columns", "rows"),
    ("nested", "neighbored", "by_grid"),
    ("nested", "by_grid", "by_block"),
    ("matmul", "registers", "tiled_32"),
    ("scan", "lookback", "shuffle"),
)


# Likewise on the processor of that machine: total times.
FASTER_ON_THE_HOST = (
    ("matmul", "cpu_ikj", "cpu_ijk"),
    ("matmul", "cpu_blocked", "cpu_ikj"),
    ("matmul", "openmp_2", "openmp_1"),
    ("matmul", "openmp_8", "openmp_2"),
)

# Times of the same kernel differ by this much from run to run.
NOISE = 0.03


def main():
    programs = json.loads(pathlib.Path(sys.argv[1]).read_text())["programs"]
    failures = []
    orders = [(p, "variants", "kernel_ms", *names) for p, *names in FASTER]
    orders += [(p, "host", "total_ms", *names) for p, *names in FASTER_ON_THE_HOST]
    for program, where, time, faster, slower in orders:
        one, other = (programs[program][where][name][time] for name in (faster, slower))
        if one > other * (1 + NOISE):
            failures.append(f"{program}: {faster} takes {one} ms, {slower} {other}")
    wrong = [f"{p} {v}" for p, e in programs.items() for v, row in (e["variants"] | e["host"]).items() if row["verified"] is False]
    failures += [f"{name} was wrong" for name in wrong]
    print("\n".join(failures) or f"{len(orders)} orders are as the courses have them")
    sys.exit(1 if failures else 0)


main()
