#!/usr/bin/env python3
"""What Ordito counts for awkward accesses, against what NVIDIA's profiler counted on a real GPU (access_counters.json).

usage: check_counters.py PATH/TO/ordito SCRATCH_FOLDER [--table]
"""
import csv
import json
import pathlib
import subprocess
import sys

RED, SHARED_LOAD = "smsp__inst_executed_op_global_red.sum", "smsp__inst_executed_op_shared_ld.sum"
# A GPU's profiler counts an atom with a result under another name; and a cp.async with its wait as three instructions
# that load from shared memory.
LEFT_OUT = {("atomic_result", RED), ("exchange_stride_2", RED)}


def is_left_out(kernel, metric):
    return (kernel, metric) in LEFT_OUT or (kernel.startswith("copy_") and metric == SHARED_LOAD)


HERE = pathlib.Path(__file__).parent


def profile(ordito, scratch):
    program = scratch / "access_patterns"
    subprocess.run([ordito, "nvcc", "-std=c++17", HERE / "access_patterns.cu", "-o", program], check=True)
    text = subprocess.run([ordito, "profile", "--csv", program], check=True, capture_output=True, text=True).stdout
    return {row["kernel"].split("(")[0]: row for row in csv.DictReader(text.splitlines())}


def main():
    scratch = pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    ours = profile(sys.argv[1], scratch)
    recorded = json.loads((HERE / "access_counters.json").read_text())
    compared = different = 0
    for kernel, metrics in recorded.items():
        if kernel not in ours:
            print(f"{kernel}: not run")
            different += 1
            continue
        for metric, theirs in metrics.items():
            if is_left_out(kernel, metric):
                continue
            mine = int(ours[kernel][metric])
            compared += 1
            if mine != theirs:
                different += 1
                print(f"{kernel}: {metric} is {mine}, on the GPU {theirs}")
    print(f"{len(recorded)} kernels, {compared} counts compared, {different} different")
    sys.exit(1 if different else 0)


main()
