#!/usr/bin/env python3
"""The chapters of the course name only commands, programs, variants and exercises that there are; every program and every
exercise is in one of them; and `ordito lab read` prints them.

usage: read_test.py PATH/TO/ordito LAB_FOLDER COURSE_FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys

failures = []
ORDITO = sys.argv[1]

# What the courses only tell, and so do we.
TOLD = {"theory": ["co-processor", "machine", "architecture", "computation", "programming", "medical images", "10 to 20 is usual",
                   "baseline", "Frequency no longer grows"],
        "libraries": ["Eight steps", "mostly renaming", "PyCUDA", "RAPIDS", "CuPy", "Numba", "PyTorch"],
        "profiling": ["expose parallelism", "read neighbours", "keep intermediate results", "pin memory", "one large copy"]}


def run(ordito, *words):
    return subprocess.run([ordito, *words], capture_output=True, text=True)


def expect(what, right):
    if not right:
        failures.append(what)


def commands(text):
    for block in re.findall(r"```\n(.*?)```", text, re.S):
        yield from (line.split() for line in block.splitlines())


def source_of(lab, program):
    return "".join(f.read_text() for f in (lab / program).glob("*.*") if f.suffix in (".cu", ".py", ".hpp", ".cuh"))


def judge(where, words, lab, catalogue, exercises):
    """A line of a chapter; the options of `lab run` are those that the program has."""
    while "=" in words[0]:
        words = words[1:]
    expect(f"{where}: not a command of Ordito", words[0] == "ordito")
    help_text = run(ORDITO, *(words[1:3] if words[1] == "lab" else words[1:2]), "--help").stdout
    for option in (word for word in words if word.startswith("--") and words[1] != "nvcc"):
        expect(f"{where}: no option {option}", option in help_text)
    if words[1:3] == ["lab", "exercise"]:
        expect(f"{where}: no exercise {words[3]}", words[3] in exercises)
    if words[1:3] != ["lab", "run"]:
        return
    program = catalogue.get(words[3])
    expect(f"{where}: no program {words[3]}", program is not None)
    if "--trace" in words and program:
        expect(f"{where}: no trace", "--trace" in program["arguments"])
    if "--study" in words and program:
        expect(f"{where}: no study", "study" in program)
    if "--variant" in words and program:
        name = words[words.index("--variant") + 1]
        expect(f"{where}: no variant {name}", f'"{name}"' in source_of(lab, words[3]))


def main():
    ordito, lab, course = ORDITO, pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    catalogue = {p["name"]: p for p in json.loads((lab / "catalogue.json").read_text())["programs"]}
    exercises = [e["name"] for e in json.loads((lab / "exercises" / "exercises.json").read_text())["exercises"]]
    chapters = sorted(course.glob("*.md"))
    listed = run(ordito, "lab", "read").stdout
    everything = ""
    for number, chapter in enumerate(chapters, 1):
        text = chapter.read_text()
        everything += text
        name = chapter.stem.split("-")[1]
        expect(f"{chapter.name}: its number and title", text.startswith(f"# {number}. ") and chapter.name.startswith(f"{number:02}-"))
        expect(f"{chapter.name}: listed", text.splitlines()[0].split(". ", 1)[1] in listed)
        expect(f"{chapter.name}: printed", run(ordito, "lab", "read", name).stdout == text == run(ordito, "lab", "read", str(number)).stdout)
        expect(f"{chapter.name}: a line is too long", all(len(line) <= 120 for line in text.splitlines() if not line.startswith("|")))
        for word in TOLD.get(name, []):
            expect(f"{chapter.name}: does not tell {word}", word in " ".join(text.split()))
        for words in commands(text):
            judge(f"{chapter.name}: {' '.join(words)}", words, lab, catalogue, exercises)
    for name in catalogue:
        expect(f"no chapter runs {name}", re.search(rf"lab run {name}\b", everything))
    for name in exercises:
        expect(f"no chapter has the exercise {name}", f"lab exercise {name}\n" in everything)
    unknown = run(ordito, "lab", "read", "nothing")
    expect("an unknown chapter", unknown.returncode == 2 and unknown.stderr.count("\n") == 1)
    print("\n".join(failures) or "ok")
    sys.exit(bool(failures))


main()
