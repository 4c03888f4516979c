#!/usr/bin/env python3
"""`ordito lab check`: the hidden solutions pass, and what is wrong, wasteful, racy or no program does not.

usage: exercises_test.py PATH/TO/ordito LAB_FOLDER SOLUTIONS [--all]      --all: every exercise, not only two
"""
import json
import pathlib
import subprocess
import sys

failures = []


def judged(ordito, exercise, file):
    return subprocess.run([ordito, "lab", "check", exercise, str(file)], capture_output=True, text=True)


def expect(what, right, result):
    if not right:
        failures.append(f"{what}: status {result.returncode}\n{result.stdout}{result.stderr}")


def passes(ordito, exercise, file):
    result = judged(ordito, exercise, file)
    expect(f"{file.name} passes", result.returncode == 0 and result.stdout.endswith(f"{exercise}: passed\n"), result)


def fails(ordito, exercise, file, words, status=1):
    result = judged(ordito, exercise, file)
    told = result.stdout + result.stderr
    expect(f"{exercise} by {file}: {words}", result.returncode == status and words in told, result)


def main():
    ordito, lab, solutions = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    names = [e["name"] for e in json.loads((lab / "exercises" / "exercises.json").read_text())["exercises"]]
    if [f.stem for f in sorted(solutions.glob("*.cu"))] != sorted(names):
        failures.append("a solution for each exercise")
    for name in names if "--all" in sys.argv else ("reduction", "streams"):
        passes(ordito, name, solutions / f"{name}.cu")
    if "--all" in sys.argv:
        for name in names:
            result = judged(ordito, name, lab / "exercises" / name / "start.cu")
            expect(f"{name}: start.cu is right and not enough", result.returncode == 1 and "TOO" in result.stdout
                   and "right at every size" in result.stdout, result)
    start = lab / "exercises" / "product" / "start.cu"
    fails(ordito, "product", start, "262144 sectors read from global memory, TOO MANY: at most 70000")
    fails(ordito, "reduction", solutions / "wrong" / "racy.cu", "it found something")
    fails(ordito, "reduction", solutions / "wrong" / "short.cu", "wrong at size 1: element 0 is 0, not ")
    fails(ordito, "scan", solutions / "reduction.cu", "it does not compile")
    fails(ordito, "nothing", start, "no exercise 'nothing'; there are: reduction", 2)
    fails(ordito, "scan", pathlib.Path("/no/such/file.cu"), "cannot read /no/such/file.cu", 2)
    begun = subprocess.run([ordito, "lab", "exercise", "scan"], capture_output=True, text=True)
    expect("the file to begin with", begun.stdout == (lab / "exercises" / "scan" / "start.cu").read_text(), begun)
    print("\n".join(failures) or "ok")
    sys.exit(bool(failures))


main()
