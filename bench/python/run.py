#!/usr/bin/env python3
"""Kernels of Numba and Triton on Ordito beside NumPy and beside what runs them without a GPU otherwise: Numba's simulator
and Triton's interpreter. Prints a table for RESULTS.md.

    run.py ORDITO PYTHON_WITH_NUMBA PYTHON_WITH_TRITON_AND_PYTORCH

Times are those of a launch and the wait for its end, without what the first call compiles: the median of up to 15 within
a second. Simulator and interpreter run the small sizes only. Triton's interpreter runs under Ordito, too, since PyTorch's
wheel needs libraries; nothing in it calls a device.
"""
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

HERE = pathlib.Path(__file__).parent


def work(command, script, scale, **variables):
    ended = subprocess.run([*command, "-B", str(HERE / script), scale], capture_output=True, text=True,
                           env={**os.environ, **variables})
    if ended.returncode:
        sys.exit(f"{script} {scale}: {ended.stderr[-2000:]}")
    return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]


def milliseconds(value):
    return f"{value:.3f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def table(other, small, slow, large):
    yield f"| kernel | size | Ordito ms | {other} ms | {other} / Ordito | size | Ordito ms | NumPy ms | NumPy / Ordito |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for a, b, c in zip(small, slow, large):
        if not (a["right"] and b["right"] and c["right"]):
            sys.exit(f"{a['kernel']}: a wrong result")
        yield (f"| {a['kernel']} | {a['size']} | {milliseconds(a['ms'])} | {milliseconds(b['ms'])} | "
               f"{b['ms'] / a['ms']:.0f} | {c['size']} | {milliseconds(c['ms'])} | {milliseconds(c['numpy'])} | "
               f"{c['numpy'] / c['ms']:.2f} |")


def main(ordito, numba, triton):
    run = [ordito, "run"]
    print(f"{datetime.date.today()}, {platform.processor() or platform.machine()}, {os.cpu_count()} CPUs, load before "
          f"{os.getloadavg()[0]:.1f}")
    for script, python, other, variables in (
            ("numba_kernels.py", numba, "CUDASIM", {"NUMBA_ENABLE_CUDASIM": "1"}),
            ("triton_kernels.py", triton, "TRITON_INTERPRET", {"TRITON_INTERPRET": "1"})):
        small = work([*run, python], script, "small")
        large = work([*run, python], script, "large")
        slow = work([*run, python], script, "small", **variables)
        print("", *table(other, small, slow, large), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
