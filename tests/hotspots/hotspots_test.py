#!/usr/bin/env python3
"""The hottest instructions of strides.cu, with their source lines, and its launches, on each engine.

usage: hotspots_test.py PATH/TO/ordito SCRATCH_FOLDER
"""
import csv
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
# One warp, three launches: a column of 32 rows of 32 bytes is 32 sectors, 32 neighbours of 4 bytes are 4.
EXPECTED = [
    ("strides.cu:13", "st.global.f32", {"requests": 3, "global_sectors": 96, "shared_wavefronts": 0}),
    ("strides.cu:11 > strides.cu:6", "ld.global.f32", {"requests": 3, "global_sectors": 12, "shared_wavefronts": 0}),
]


def profile(ordito, program, engine, *options):
    environment = dict(os.environ, ORDITO_ENGINE=engine)
    return subprocess.run([ordito, "profile", *options, program], check=True, capture_output=True, text=True,
                          env=environment).stdout


def check(what, actual, expected):
    if actual == expected:
        return 0
    print(f"{what}: {actual}, expected {expected}")
    return 1


def main():
    ordito, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    program = scratch / "strides"
    subprocess.run([ordito, "nvcc", "-lineinfo", HERE / "strides.cu", "-o", program], check=True)
    wrong = 0
    for engine in ("interp", "jit"):
        rows = json.loads(profile(ordito, program, engine, "--hotspots=2", "--json"))
        wrong += check(f"{engine}: rows", len(rows), 2)
        for row, (source, instruction, numbers) in zip(rows, EXPECTED):
            places = [pathlib.PurePath(place).name for place in row["source"].split(" > ")]
            wrong += check(f"{engine}: source", " > ".join(places), source)
            wrong += check(f"{engine}: instruction", row["instruction"], instruction)
            wrong += check(f"{engine}: {source}", {key: row[key] for key in numbers}, numbers)
        all_rows = list(csv.DictReader(profile(ordito, program, engine, "--hotspots", "--csv").splitlines()))
        wrong += check(f"{engine}: all", len(all_rows), 4)  # and both sides of the tile
        launches = json.loads(profile(ordito, program, engine, "--json"))["launches"]
        warps = [launch["metrics"].get("smsp__inst_executed.sum", 0) > 0 for launch in launches]
        wrong += check(f"{engine}: launches", warps, 3 * [True])
        table = profile(ordito, program, engine, "--hotspots=1")
        wrong += check(f"{engine}: table", "1 of 4 instructions that touched memory" in table, True)
    sys.exit(1 if wrong else 0)


main()
