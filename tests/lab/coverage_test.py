#!/usr/bin/env python3
"""Keeps `ordito lab coverage` true: every test that it names is one that ctest runs, every program is in the catalogue,
rows are named once, the totals are those of the rows, and the catalogue names only rows that there are.

usage: coverage_test.py PATH/TO/ordito PATH/TO/ctest BUILD_FOLDER CATALOGUE
"""
import json
import pathlib
import re
import subprocess
import sys

ROWS = 508  # of the specification


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def failures(rows, tests, catalogue, table):
    ids = [row["row"] for row in rows]
    for name in {i for i in ids if ids.count(i) > 1}:
        yield f"{name} is there twice"
    if len(ids) != ROWS:
        yield f"{len(ids)} rows instead of {ROWS}"
    programs = {program["name"] for program in catalogue["programs"]}
    for row in rows:
        if row["program"] and row["program"] not in programs:
            yield f"{row['row']}: there is no program {row['program']}"
        if not row["covered"]:
            continue
        for test in row["shown_by"].split():
            if test not in tests:
                yield f"{row['row']}: ctest knows no test {test}"
    for program in catalogue["programs"]:
        for row in program["spec"]:
            if row not in ids:
                yield f"{program['name']} names {row}, which is no row"
    covered = sum(row["covered"] for row in rows)
    if not re.search(rf"\nall +{covered} +{len(ids)}\n", table):
        yield f"the totals are not {covered} of {len(ids)}"


def main():
    ordito, ctest, build, catalogue = sys.argv[1:]
    rows = json.loads(output(ordito, "lab", "coverage", "--json"))
    tests = set(re.findall(r"Test +#\d+: (\S+)", output(ctest, "--test-dir", build, "-N")))
    found = list(failures(rows, tests, json.loads(pathlib.Path(catalogue).read_text()), output(ordito, "lab", "coverage")))
    print("\n".join(found) or f"{sum(row['covered'] for row in rows)} of {len(rows)} rows are shown to work")
    sys.exit(1 if found else 0)


main()
