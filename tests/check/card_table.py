#!/usr/bin/env python3
"""The checker's cases before ours and before NVIDIA's tools on a real GPU, as the table of docs/check.md.

Ours are what check_test.py demands; theirs were recorded (tests/gpu/check_verdicts.json, by tests/gpu/check_record.py).
A case counts where all four tools, or those that could be judged, said something of it.

usage: card_table.py             prints the table
       card_table.py --page F    status 1 if the page F has another one
"""
import json
import pathlib
import sys

from cases import RIGHT, WRONG
from page_table import show

HERE = pathlib.Path(__file__).parent


def convicted(verdicts):
    return any(isinstance(found, int) and found > 0 for found in verdicts)


def table(recording):
    said = {(row["program"], row["case"]): [row[tool] for tool in recording["tools"]] for row in recording["cases"]}
    yield "| suite | wrong: ours | wrong: the card's tools | right, but accused by them | not judged by all of them |"
    yield "|---|---|---|---|---|"
    for program in WRONG:
        wrong = [case for case in WRONG[program] if (program, case) in said]
        right = [case for case in RIGHT[program] if (program, case) in said]
        if not wrong:
            continue
        found = [case for case in wrong if convicted(said[program, case])]
        accused = [case for case in right if convicted(said[program, case])]
        open_ = sum(None in said[program, case] for case in [*wrong, *right])
        yield (f"| {program} | {len(wrong)} of {len(wrong)} | {len(found)} of {len(wrong)} | "
               f"{len(accused)} of {len(right)} | {open_ or ''} |")


def main():
    recording = json.loads((HERE.parent / "gpu" / "check_verdicts.json").read_text())
    unknown = [row["case"] for row in recording["cases"]
               if row["case"] not in WRONG[row["program"]] and row["case"] not in RIGHT[row["program"]]]
    if unknown:
        sys.exit(f"check_verdicts.json has cases that are not in cases.py: {unknown}")
    show("card_table.py", table(recording))


main()
