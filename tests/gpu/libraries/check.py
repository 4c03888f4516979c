#!/usr/bin/env python3
"""What our libraries answer to the programs of cases (cases.hpp), against what NVIDIA's answered on a GPU (NAME.json).

All answers must be equal but for those that known.json lists, each with the reason. One that is listed and equal is
told as well, so that the list stays true. Where a call ended the recorded process, hung or left a device that fails,
ours has to refuse or at least to live on: any status but 0 is right, and never that the process ends. A NaN that a GPU
makes has other bits than one that a processor makes; they count as the same.

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
NANS = re.compile(r"\b(7fffffff|7fc00000|ffc00000)\b")


def agree(answer, recorded):
    if answer is None or recorded is None:
        return False
    if recorded == "hangs":
        return answer not in ("hangs", "ends the process")
    if recorded == "ends the process" or recorded.endswith("and the device fails"):
        return re.match(r"[1-9]\d*\b", answer) is not None and not answer.endswith("and the device fails")
    return NANS.sub("NaN", answer) == NANS.sub("NaN", recorded)


def ours(name, ordito, scratch, link):
    scratch.mkdir(parents=True, exist_ok=True)
    program = scratch / name
    subprocess.run([ordito, "nvcc", "-std=c++17", HERE / f"{name}.cu", f"-l{link}", "-o", program], check=True)
    return record.record([ordito, "run", "--gpu", "h200", program])


def reason(known, case):
    """(pattern, why) of the first entry that allows a difference in this case."""
    return next(((pattern, why) for pattern, why in known.items() if re.fullmatch(pattern, case)), None)


def compare(answers, recorded, known):
    """Lines about what is wrong; differences that are known are none, but an entry that explains nothing is."""
    used = set()
    for case in sorted(set(answers) | set(recorded)):
        if agree(answers.get(case), recorded.get(case)):
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
    agreeing = sum(agree(answers.get(case), answer) for case, answer in recorded.items())
    print(f"{len(recorded)} cases, {agreeing} agree, {len(wrong)} lines above are unexplained")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
