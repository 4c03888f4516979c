#!/usr/bin/env python3
"""What the courses say about the order of times, where a GPU's recorded times (lab/recorded.json) bear it out.

usage: recorded_test.py RECORDED PROFILED
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
    ("matmul", "openmp_2", "openmp_1"),
    ("matmul", "openmp_8", "openmp_2"),
)

# Likewise what the profiler of that GPU said: program, metric, the variant that has less of it, the one that has more.
BARRIERS = "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio"
INSTRUCTIONS = "smsp__inst_executed.sum"
LESS = (
    ("reduction", INSTRUCTIONS, "unroll8_warp", "unroll8"),
    ("nested", "smsp__issue_inst0.avg.pct_of_peak_sustained_active", "neighbored", "by_block"),
    ("matmul", "gpu__time_duration.sum", "zero_copy_naive", "zero_copy_naive_8"),
    ("matmul", "gpu__time_duration.sum", "zero_copy_naive_16", "zero_copy_naive_8"),
    ("matmul", "gpu__time_duration.sum", "zero_copy_shared", "zero_copy_naive"),
    ("matmul", "l1tex__t_sector_hit_rate.pct", "zero_copy_naive_8", "zero_copy_naive"),
    ("matmul", "l1tex__t_sector_hit_rate.pct", "zero_copy_shared", "zero_copy_naive"),
    ("matmul", "lts__t_sector_hit_rate.pct", "zero_copy_shared", "zero_copy_naive"),
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
    profiled = json.loads(pathlib.Path(sys.argv[2]).read_text())["programs"]
    for program, metric, less, more in LESS:
        one, other = (profiled[program]["variants"][name][metric] for name in (less, more))
        if one >= other:
            failures.append(f"{program}: {metric} of {less} is {one}, of {more} {other}")
    eight, warp = (profiled["reduction"]["variants"][name] for name in ("unroll8", "unroll8_warp"))
    if warp[BARRIERS] * warp[INSTRUCTIONS] >= eight[BARRIERS] * eight[INSTRUCTIONS]:
        failures.append("unrolling the last warp does not shorten the time at barriers")
    print("\n".join(failures) or f"{len(orders)} orders are as the courses have them")
    sys.exit(1 if failures else 0)


main()
