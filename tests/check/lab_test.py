#!/usr/bin/env python3
"""The lab under `ordito check`: the specimens, which are wrong on purpose, are convicted by these rules at these lines,
and all other variants are clean.

usage: lab_test.py PATH/TO/ordito specimens | right [PROGRAM...]
"""
import re
import subprocess
import sys

SCAN, PRODUCT = r"block\.cuh", r"matmul/kernels\.cuh"
# By program and variant: the size, the rules, the file that the findings name.
SPECIMENS = {
    ("scan", "racy"): ("64", {"race.shared", "race.warp"}, SCAN),
    ("matmul", "no_first_barrier"): ("40", {"race.shared", "race.warp", "memory.uninitialised"}, PRODUCT),
    ("matmul", "no_second_barrier"): ("40", {"race.shared", "race.warp"}, PRODUCT),
    ("histogram", "race"): ("200", {"race.global", "race.warp"}, r"histogram/kernels\.cuh"),
    ("nested", "no_barrier"): ("512", {"race.global"}, r"nested/kernels\.cuh"),
    ("nested", "no_tail"): ("2048", {"race.global"}, r"nested/kernels\.cuh"),
    ("saxpy", "tail"): ("250", {"memory.bounds"}, r"saxpy/saxpy\.cu"),
}
# The same kernels where nothing is wrong with them.
CURED = [("scan", "horn_tmp", "64"), ("scan", "horn", "64"), ("matmul", "tiled_32", "40"), ("histogram", "atomic_128", "64"),
         ("nested", "by_block", "512"), ("nested", "by_grid", "2048"),
         ("saxpy", "saxpy_64", "250"), ("saxpy", "tail", "256"), ("saxpy", "no_guard", "256")]
ALL = {"reduction": "1000", "matmul": "40", "transpose": "40", "histogram": "200", "saxpy": "1000", "scan": "1000",
       "lookup": "200", "rgb_histogram": "1000", "convolution": "100", "nested": "1000", "access": "64",
       "divergence": "64", "queues": "", "sorting": "300", "graphs": "60", "sparse": "60", "block_diagonal": "33",
       "theory": "33", "dram": "100", "machine": "33", "transfer": "100", "streams": "100",
       "libraries": "33", "montecarlo": "1000", "dgemm": "33"}


def check(ordito, program, size, variant=None):
    command = [ordito, "lab", "run", program, "--check", *(["--size", size] if size else [])]
    return subprocess.run([*command, *(["--variant", variant] if variant else [])], capture_output=True, text=True)


def rules_of(run):
    return set(re.findall(r"^(?:error|warning)\[([a-z._]+)\]", run.stderr, re.M))


def is_clean(ordito, program, size, variant=None):
    run = check(ordito, program, size, variant)
    if run.returncode == 0 and re.search(r"^ordito check: 0 errors, 0 warnings", run.stderr, re.M):
        return True
    print(f"{program} {variant or ''} {size}: not clean, status {run.returncode}\n{run.stdout}{run.stderr[:4000]}")
    return False


def is_convicted(ordito, program, variant):
    size, rules, place = SPECIMENS[program, variant]
    run = check(ordito, program, size, variant)
    lines = re.findall(r"^  \S.*?:\d+: (?:read|write|use).*", run.stderr, re.M)
    isTold = rules_of(run) == rules and lines and all(re.search(place + r":\d+:\d+: ", line) for line in lines)
    # 250 elements in 4 blocks of 64: exactly six threads have none, and each is told of at each of its accesses.
    counts = re.findall(r"^  (\d+) more of these", run.stderr, re.M)
    isCounted = variant != "tail" or counts == ["5"] * 3
    if isTold and isCounted and run.returncode == 99:
        return True
    print(f"{program} {variant}: {sorted(rules_of(run))}, expected {sorted(rules)}, status {run.returncode}\n{run.stderr[:4000]}")
    return False


def main():
    ordito, what, *programs = sys.argv[1:]
    if what == "specimens":
        verdicts = [is_convicted(ordito, *specimen) for specimen in SPECIMENS]
        verdicts += [is_clean(ordito, program, size, variant) for program, variant, size in CURED]
    else:
        verdicts = [is_clean(ordito, program, ALL[program]) for program in programs or ALL]
    print(f"{sum(verdicts)} of {len(verdicts)} are as expected")
    sys.exit(0 if all(verdicts) else 1)


main()
