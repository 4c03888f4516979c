#!/usr/bin/env python3
"""Runs a program of cases (cases.hpp) to its end, again behind each case that ends it, and writes what it answered.

usage: record.py OUTPUT.json COMMAND...        the numbers of cases to leave out are put behind the command
"""
import json
import subprocess
import sys

LIMIT = 120  # seconds; no program of cases needs more than a few


def run(command, leave_out):
    """(names begun, {name: answer}, how it ended) of one run."""
    try:
        done = subprocess.run([*command, str(leave_out)], stdout=subprocess.PIPE, timeout=LIMIT)
        output, ending = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        output, ending = late.stdout or b"", "hangs"
    begun, answers = [], {}
    for line in output.decode(errors="replace").splitlines():
        name, tab, answer = line.partition("\t")
        if line.startswith("begin ") and not tab:
            begun.append(line[len("begin "):])
        elif tab and name in begun:
            answers[name] = answer
    return begun, answers, ending


def record(command):
    answers, passed = {}, 0
    while True:
        begun, found, ending = run(command, passed)
        answers.update(found)
        passed += len(begun)
        if ending == 0 or not begun:
            return answers, ending
        if begun[-1] not in found:
            answers[begun[-1]] = "hangs" if ending == "hangs" else "ends the process"


def main():
    answers, ending = record(sys.argv[2:])
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(answers, out, indent=0)
        out.write("\n")
    print(f"{sys.argv[1]}: {len(answers)} cases" + ("" if ending == 0 else f", and then it ended with {ending}"))


if __name__ == "__main__":
    main()
