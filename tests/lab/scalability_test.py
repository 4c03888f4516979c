#!/usr/bin/env python3
"""Eight equal blocks on a GPU of two multiprocessors, of four and of eight: 4, 2 and 1 waves, and the same sum.

usage: scalability_test.py PATH/TO/ordito DESCRIPTION.json PATH/TO/machine
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ordito, description, program = sys.argv[1:]
sums, wrong = set(), []
with tempfile.TemporaryDirectory() as folder:
    for multiprocessors, waves in ((2, 4), (4, 2), (8, 1)):
        gpu = json.loads(pathlib.Path(description).read_text()) | {"multiprocessors": multiprocessors}
        path = pathlib.Path(folder) / "few.json"
        path.write_text(json.dumps(gpu))
        said = subprocess.run([ordito, "run", "--gpu", str(path), program, "--trace"], check=True, capture_output=True, text=True).stdout
        match = re.match(r"(\d+) multiprocessors: 8 equal blocks in (\d+) waves, sum (\d+)\n", said)
        if not match or (int(match[1]), int(match[2])) != (multiprocessors, waves):
            wrong.append(f"{multiprocessors} multiprocessors: {said}")
        else:
            sums.add(match[3])
if len(sums) != 1:
    wrong.append(f"sums {sums}")
print("\n".join(wrong) or "4, 2 and 1 waves, the same sum")
sys.exit(1 if wrong else 0)
