#!/usr/bin/env python3
"""`ordito occupancy`: the courses' worked examples, curves that only fall, a picture that shows these very curves, and
wrong calls that end with status 2 and one line.

usage: occupancy_test.py PATH/TO/ordito
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

ORDITO = sys.argv[1]
# Resident blocks and threads, and of the Pascal ones the occupancy, as the documents print them.
PUBLISHED = {
    ("c2070", 64): (8, 512), ("c2070", 256): (6, 1536), ("c2070", 1024): (1, 1024),
    ("k40c", 64): (16, 1024), ("k40c", 256): (8, 2048), ("k40c", 1024): (2, 2048),
}
# Of a GTX 1060, by threads and registers: limits by registers, shared memory, warps, blocks; per cent.
PASCAL = {
    (64, 28): (32, 32, 32, 32, 100), (256, 28): (8, 32, 8, 32, 100), (1024, 28): (2, 32, 2, 32, 100),
    (64, 32): (32, 12, 32, 32, 37.5), (256, 32): (8, 12, 8, 32, 100), (1024, 32): (2, 12, 2, 32, 100),
}
failed = []


def expect(what, condition):
    if not condition:
        failed.append(what)


def run(*options):
    return subprocess.run([ORDITO, "occupancy", *options], capture_output=True, text=True)


def rows(*options):
    return json.loads(run(*options, "--json").stdout)


def examples():
    found = rows("--examples")
    expect("twelve examples", len(found) == 12)
    for row in found:
        if row["gpu"] == "gtx1060":
            limits = tuple(row["blocks_by_" + by] for by in ("registers", "shared", "warps", "blocks"))
            expected = PASCAL[row["block"], row["registers"]]
            expect(f"{row} is not {expected}", (*limits, row["occupancy"] * 100) == expected)
        else:
            expected = PUBLISHED[row["gpu"], row["block"]]
            expect(f"{row} is not {expected}", (row["blocks"], row["threads"]) == expected)


def curves():
    gpus = [row["gpu"] for row in rows()]
    expect("all GPUs", len(gpus) == 11)
    for gpu in gpus:
        for along in ("registers", "shared"):
            warps = [row["warps"] for row in rows("--gpu", gpu, "--along", along)]
            expect(f"{gpu}: warps fall along {along}", len(warps) > 5 and warps == sorted(warps, reverse=True))
            expect(f"{gpu}: {along} limit", warps[0] > warps[-1])
        blocks = rows("--gpu", gpu, "--along", "block")
        expect(f"{gpu}: whole warps", [row["block"] for row in blocks] == list(range(32, 32 * len(blocks) + 1, 32)))
    rules = rows("--block", "513", "--gpu", "gtx280")[0]
    expect("513 threads are too many for a GTX 280", rules["blocks"] == 0 and rules["limit"] == "too many threads")


def heights(polyline):
    points = [tuple(map(float, point.split(","))) for point in polyline.get("points").split()]
    return [y for _, y in points][1::2]


def picture():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "curves.svg"
        expect("the picture is written", run("--gpu", "gtx1060", "--plot", str(path)).returncode == 0)
        lines = [e for e in xml.parse(path).iter() if e.tag.endswith("polyline")]
    expect("three curves", [line.get("data-axis") for line in lines] == ["block", "registers", "shared"])
    for line in lines:
        warps = [row["warps"] for row in rows("--gpu", "gtx1060", "--along", line.get("data-axis"))]
        top, bottom = 104, 350  # of 64 warps, and of none
        drawn = [(bottom - y) / (bottom - top) * 64 for y in heights(line)]
        expect(f"the drawn curve along {line.get('data-axis')} is that of the table",
               len(drawn) == len(warps) and all(abs(a - b) < 0.1 for a, b in zip(drawn, warps)))


def wrong_calls():
    for options in (["--block", "0"], ["--registers", "256"], ["--shared", "-1"], ["--gpu", "voodoo2"],
                    ["--along", "warps"], ["--plot", "/no/such/folder/a.svg"]):
        done = run(*options)
        expect(f"{options}: status {done.returncode}, {done.stderr!r}",
               done.returncode == 2 and done.stderr.count("\n") == 1 and not done.stdout)


for part in (examples, curves, picture, wrong_calls):
    part()
print("\n".join(failed) or "as published, and as drawn")
sys.exit(1 if failed else 0)
