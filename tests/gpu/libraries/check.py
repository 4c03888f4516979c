#!/usr/bin/env python3
"""What our libraries answer to the programs of cases (cases.hpp), against what NVIDIA's answered on an H100 (NAME.json).

All answers must be equal but for those that known.json lists, each with the reason. One that is listed and equal is
told as well, so that the list stays true.

usage: check.py NAME PATH/TO/ordito SCRATCH_FOLDER LINK
       ends with 77 ("skipped") where there is no recording or the library has not what it needs (OpenBLAS)
"""
import json
import pathlib
import re
import subprocess
import sys

import record

HERE = pathlib.Path(__file__).parent


def ours(name, ordito, scratch, link):
    scratch.mkdir(parents=True, exist_ok=True)
    program = scratch / name
    subprocess.run([ordito, "nvcc", "-std=c++17", HERE / f"{name}.cu", f"-l{link}", "-o", program], check=True)
    return record.record([ordito, "run", program])


def reason(known, case):
    """(pattern, why) of the first entry that allows a difference in this case."""
    return next(((pattern, why) for pattern, why in known.items() if re.fullmatch(pattern, case)), None)


def compare(answers, recorded, known):
    """Lines about what is wrong; differences that are known are none, but an entry that explains nothing is."""
    used = set()
    for case in sorted(set(answers) | set(recorded)):
        if answers.get(case) == recorded.get(case):
            continue
        why = reason(known, case)
        if why is None:
            yield f"{case}: {answers.get(case, 'not asked')}, on the GPU {recorded.get(case, 'not asked')}"
        else:
            used.add(why[0])
    for pattern in known:
        if pattern not in used:
            yield f"known.json: nothing that '{pattern}' allows differs"


def main():
    name, ordito, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    recording = HERE / f"{name}.json"
    if not recording.exists():
        print(f"skipped: {recording.name} has not been recorded on a GPU yet")
        sys.exit(77)
    recorded = json.loads(recording.read_text(encoding="utf-8"))
    known = json.loads((HERE / "known.json").read_text(encoding="utf-8")).get(name, {})
    answers, ending = ours(name, ordito, scratch, sys.argv[4])
    if ending == 2 and not answers:
        print("skipped: the library gives no handle on this machine")
        sys.exit(77)
    wrong = list(compare(answers, recorded, known))
    if ending != 0:
        wrong.append(f"the program ended with {ending}")
    print(*wrong, sep="\n")
    different = sum(answers.get(case) != recorded.get(case) for case in recorded)
    print(f"{len(recorded)} cases, {different} differ, {len(wrong)} of them or of the list unexplained")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
