#!/usr/bin/env python3
"""The picture of a warp's accesses shows what the courses' rules say, from the addresses that the kernels used.

usage: access_plot_test.py PATH/TO/ordito
"""
import os
import re
import subprocess
import sys
import tempfile

# Sectors and lines, or passes, in the order of the variants; local arrays have no picture.
EXPECTED = ["32 lanes, 4 sectors of 32 bytes in 1 line of 128", "32 lanes, 4 sectors of 32 bytes in 1 line of 128",
            "32 lanes, 5 sectors of 32 bytes in 2 lines of 128", "32 lanes, 8 sectors of 32 bytes in 2 lines of 128",
            "32 lanes, 32 sectors of 32 bytes in 32 lines of 128", "32 lanes, 1 sector of 32 bytes in 1 line of 128",
            "32 lanes, 12 sectors of 32 bytes in 3 lines of 128", "32 lanes, 4 sectors of 32 bytes in 1 line of 128",
            "32 lanes, 4 sectors of 32 bytes in 1 line of 128", "16 lanes, 2 sectors of 32 bytes in 1 line of 128",
            "32 lanes, 32 sectors of 32 bytes in 32 lines of 128", "32 lanes, 1 pass", "32 lanes, 2 passes, one after another",
            "32 lanes, 32 passes, one after another", "32 lanes, 1 pass", "32 lanes, 1 pass"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        plot = os.path.join(folder, "access.svg")
        result = subprocess.run([sys.argv[1], "lab", "run", "access", "--size", "64", "--rounds", "1", "--plot", plot],
                                capture_output=True, text=True)
        if result.returncode != 0:
            sys.exit(f"status {result.returncode}\n{result.stderr}")
        with open(plot, encoding="utf-8") as file:
            picture = file.read()
    found = re.findall(r">(\d+ lanes, [^<]*)<", picture)
    wrong = [f"panel {i}: {a}, not {b}" for i, (a, b) in enumerate(zip(found, EXPECTED)) if a != b]
    if len(found) != len(EXPECTED):
        wrong.append(f"{len(found)} panels")
    marks, crowds = picture.count('class="mark"'), picture.count('class="crowd"')
    if (marks, crowds) != (13 * 32 + 16, 2 * 32):
        wrong.append(f"{marks} marks, {crowds} crowded")
    print("\n".join(wrong) or "ok")
    sys.exit(bool(wrong))


main()
