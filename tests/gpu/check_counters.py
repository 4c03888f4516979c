#!/usr/bin/env python3
"""What Ordito counts, against what NVIDIA's profiler counted on a real GPU: awkward accesses (access_counters.json), and
each kind of instruction that touches memory (memory_instructions.json, where a count that is not there is 0).

usage: check_counters.py PATH/TO/ordito SCRATCH_FOLDER
"""
import csv
import json
import pathlib
import subprocess
import sys
from fnmatch import fnmatch

HERE = pathlib.Path(__file__).parent
SHARED_LOAD = "smsp__inst_executed_op_shared_ld.sum"
# A GPU's profiler counts a cp.async with its wait as three instructions that load from shared memory. And ptxas makes
# other instructions of some: of a load of fragments from shared memory an ldmatrix, of short branches guards; a call and
# its return are branches there. Of a loop behind which the kernel ends, clang makes an exit and a jump back, which do not
# count, and ptxas one branch back.
LEFT_OUT = [
    ("copy_*", SHARED_LOAD),
    ("wmma_load_shared", SHARED_LOAD),
    ("wmma_load_shared", "smsp__sass_inst_executed_op_ldsm.sum"),
    ("mbarrier_rounds", "smsp__sass_branch_targets*"),
    ("bulk_load", "smsp__sass_branch_targets*"),
    ("call_once", "smsp__sass_branch_targets*"),
    ("loop_*", "smsp__sass_branch_targets*"),
]
# What the GPU counts behind guards (smsp__sass_) has its older name here; the values are the same.
OUR_NAMES = {
    f"smsp__sass_inst_executed_op_{what}.sum": f"smsp__inst_executed_op_{what}.sum"
    for what in ("shared_ld", "shared_st", "shared_atom", "global_red", "local_ld", "local_st")
}


def profile(ordito, scratch, name, *options):
    program, report = scratch / name, scratch / (name + ".csv")
    subprocess.run([ordito, "nvcc", "-std=c++17", *options, HERE / f"{name}.cu", "-o", program], check=True)
    subprocess.run([ordito, "profile", "--csv", "-o", report, program], check=True, stdout=subprocess.DEVNULL)
    return {row["kernel"].split("(")[0]: row for row in csv.DictReader(report.read_text().splitlines())}


def recorded(name):
    """For each kernel the counts under our names, with the zeros."""
    kernels = json.loads((HERE / name).read_text())
    metrics = sorted({m for counts in kernels.values() for m in counts})
    return {kernel: {OUR_NAMES.get(m, m): counts.get(m, 0) for m in metrics} for kernel, counts in kernels.items()}


def is_left_out(kernel, metric):
    return any(fnmatch(kernel, k) and fnmatch(metric, m) for k, m in LEFT_OUT)


def compare(ours, theirs):
    """How many counts differ."""
    compared = different = 0
    for kernel, metrics in theirs.items():
        if kernel not in ours:
            print(f"{kernel}: not run")
            different += 1
            continue
        for metric, count in metrics.items():
            if metric not in ours[kernel] or is_left_out(kernel, metric):
                continue
            mine = int(ours[kernel][metric])
            compared += 1
            if mine != count:
                different += 1
                print(f"{kernel}: {metric} is {mine}, on the GPU {count}")
    print(f"{len(theirs)} kernels, {compared} counts compared, {different} different")
    return different


def main():
    ordito, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    different = compare(profile(ordito, scratch, "access_patterns"), recorded("access_counters.json"))
    ours = profile(ordito, scratch, "memory_instructions", "-arch=sm_90")
    different += compare(ours, recorded("memory_instructions.json"))
    sys.exit(1 if different else 0)


main()
