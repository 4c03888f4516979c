#!/usr/bin/env python3
"""What Ordito counts for awkward accesses, against what NVIDIA's profiler counted on a real GPU (access_counters.json).

usage: check_counters.py PATH/TO/ordito SCRATCH_FOLDER [--table]
"""
import csv
import json
import pathlib
import subprocess
import sys

SHARED_LOAD = "smsp__inst_executed_op_shared_ld.sum"
HERE = pathlib.Path(__file__).parent


def is_left_out(kernel, metric):
    # A GPU's profiler counts a cp.async with its wait as three instructions that load from shared memory.
    if kernel.startswith("copy_") and metric == SHARED_LOAD:
        return True
    return False


def profile(ordito, scratch, name):
    program = scratch / name
    subprocess.run([ordito, "nvcc", "-std=c++17", HERE / f"{name}.cu", "-o", program], check=True)
    text = subprocess.run([ordito, "profile", "--csv", program], check=True, capture_output=True, text=True).stdout
    return {row["kernel"].split("(")[0]: row for row in csv.DictReader(text.splitlines())}


def compare(ours, recorded):
    """How many counts were compared, and how many differ."""
    compared = different = 0
    for kernel, metrics in recorded.items():
        if kernel not in ours:
            print(f"{kernel}: not run")
            different += 1
            continue
        for metric, theirs in metrics.items():
            if is_left_out(kernel, metric) or metric not in ours[kernel]:
                continue
            mine = int(ours[kernel][metric])
            compared += 1
            if mine != theirs:
                different += 1
                print(f"{kernel}: {metric} is {mine}, on the GPU {theirs}")
    print(f"{len(recorded)} kernels, {compared} counts compared, {different} different")
    return different


def main():
    ordito, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    recorded = json.loads((HERE / "access_counters.json").read_text())
    different = compare(profile(ordito, scratch, "access_patterns"), recorded)
    sys.exit(1 if different else 0)


main()
