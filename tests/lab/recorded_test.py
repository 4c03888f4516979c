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
    ("lookup", "shared", "global"),
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
    ("matmul", "registers", "tiled_32"),
    ("scan", "lookback", "shuffle"),
)


# Times of the same kernel differ by this much from run to run.
NOISE = 0.03


def main():
    programs = json.loads(pathlib.Path(sys.argv[1]).read_text())["programs"]
    failures = []
    for program, faster, slower in FASTER:
        one, other = (programs[program]["variants"][name]["kernel_ms"] for name in (faster, slower))
        if one > other * (1 + NOISE):
            failures.append(f"{program}: {faster} takes {one} ms, {slower} {other}")
    wrong = [f"{p} {v}" for p, e in programs.items() for v, row in e["variants"].items() if row["verified"] is False]
    failures += [f"{name} was wrong" for name in wrong]
    print("\n".join(failures) or f"{len(FASTER)} orders are as the courses have them")
    sys.exit(1 if failures else 0)


main()
