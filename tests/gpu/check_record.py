#!/usr/bin/env python3
"""Puts the cases of tests/check before NVIDIA's checker on a real GPU and keeps its verdicts, four tools for each case.
Needs nvcc and compute-sanitizer, no build of Ordito. A verdict is the number of things that a tool reported (0: clean),
"hangs" where the program did not end in time, or "ends" where the tool ended without a verdict.

usage: check_record.py OUTPUT_FOLDER [PROGRAM...]      programs are done one after the other and kept as they end
  check_verdicts.json   to become tests/gpu/check_verdicts.json, which tests/check/card_table.py lays beside ours
"""
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "check"))
from cases import WRONG, cases, leaks_matter  # noqa: E402

TOOLS = {"memcheck": [], "racecheck": ["--racecheck-report", "all"], "initcheck": [], "synccheck": []}
SECONDS = 10
SECONDS_ALONE = 5
AT_ONCE = 16
SUMMARY = re.compile(r"(?:ERROR SUMMARY|RACECHECK SUMMARY): (\d+) ")


def build(program, folder):
    binary = folder / program
    subprocess.run(["nvcc", "-O1", "-lineinfo", "-std=c++17", "-arch=native", "-rdc=true",
                    ROOT / "tests" / "check" / f"{program}.cu", "-o", binary, "-lcudadevrt"], check=True)
    return binary


def output_of(command, seconds):
    """What a command wrote; None where it did not end in time. The tool's own child, which keeps the GPU busy, goes, too."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True) as run:
        try:
            return run.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, signal.SIGKILL)
            return None


def verdict(binary, case, tool, seconds=SECONDS):
    leaks = ["--leak-check", "full"] if tool == "memcheck" and leaks_matter(case) else []
    command = ["compute-sanitizer", "--tool", tool, *TOOLS[tool], *leaks, binary, case]
    said = output_of(command, seconds)
    if said is None:
        return "hangs"
    found = SUMMARY.findall(said)
    return max(map(int, found)) if found else "ends"


def write(path, device, rows):
    lines = ",\n  ".join(rows)
    path.write_text(f'{{"device": {json.dumps(device)}, "tools": {json.dumps(list(TOOLS))},\n "cases": [\n  {lines}\n]}}\n')


def main():
    output = pathlib.Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    programs = sys.argv[2:] or list(WRONG)
    device = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
    rows = []
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        binaries = dict(zip(programs, pool.map(lambda program: build(program, pathlib.Path(scratch)), programs)))
        for program in programs:
            jobs = {(case, tool): pool.submit(verdict, binaries[program], case, tool)
                    for case, _ in cases(program) for tool in TOOLS}
            for case, _ in cases(program):
                said = {tool: jobs[case, tool].result() for tool in TOOLS}
                for tool in (tool for tool in TOOLS if said[tool] == "hangs"):  # or its neighbours do: once more, alone
                    said[tool] = pool.submit(verdict, binaries[program], case, tool, SECONDS_ALONE).result()
                rows.append(json.dumps({"program": program, "case": case, **said}))
            write(output / "check_verdicts.json", device.stdout.strip(), rows)


main()
