#!/usr/bin/env python3
"""Turns what NVIDIA's profiler said of the lab's programs (lab_profile.sh) into lab/profiled.json. Of all metrics those
are kept that lab/catalogue.json names.

usage: lab_profile.py FOLDER_WITH_PROFILES FOLDER_TO_WRITE
"""
import csv
import datetime
import json
import pathlib
import re
import sys

from lab_record import number, write

NUMBER = re.compile(r"[0-9,.]+(e[+-]?[0-9]+)?")
CATALOGUE = pathlib.Path(__file__).parents[2] / "lab/catalogue.json"


# What other values follow from (src/cli/lab_report.cpp).
PARTS = ("gpu__time_duration.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
         "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
         "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum")


def wanted():
    """Every metric that a column or a row of a study shows, in the catalogue's order."""
    programs = json.loads(CATALOGUE.read_text())["programs"]
    columns = [column for p in programs for column in p["columns"] + p.get("study", {}).get("rows", [])]
    return list(dict.fromkeys(PARTS + tuple(column["key"] for column in columns)))


def launches(path, names):
    """One line for each launch, a column for each metric; the second line holds the units."""
    rows = list(csv.reader(line for line in path.read_text().splitlines() if line.startswith('"')))
    for row in rows[2:]:
        launch = dict(zip(rows[0], row))
        yield {name: number(launch[name]) for name in names if NUMBER.fullmatch(launch.get(name, ""))}


def profiled(path, names):
    """Of a variant with several launches the longest one."""
    document = json.loads(path.with_suffix(".json").read_text())
    every = list(launches(path, names))
    for variant in document["variants"]:
        mine = every[variant["launch_first"]:variant["launch_first"] + variant["launch_count"]]
        if mine:
            yield variant["name"], max(mine, key=lambda launch: launch["gpu__time_duration.sum"])
    yield None, (document["device"], document["size"])


def main():
    folder, out = map(pathlib.Path, sys.argv[1:3])
    names = wanted()
    head = {"description": "What NVIDIA's profiler (ncu) said of the lab's programs on a real GPU, at the published sizes "
                           "(tests/gpu/lab_profile.sh)", "date": datetime.date.fromtimestamp(
                               max((path.stat().st_mtime for path in folder.glob("*.csv")), default=0)).isoformat()}
    programs = {}
    for path in sorted(folder.glob("*.csv")):
        program = programs.setdefault(path.name.split(".")[0], {"size": 0, "variants": {}})
        try:
            for name, found in profiled(path, names):
                if name is None:
                    head["device"], program["size"] = found
                else:
                    program["variants"][name] = found
        except (OSError, ValueError, KeyError) as error:
            print(f"{path.name}: left out ({type(error).__name__}: {error})")
    entries = []
    for name, program in programs.items():
        lines = ",\n".join(f"    {json.dumps(v)}: {json.dumps(m)}" for v, m in program["variants"].items())
        entries.append(f'"{name}": {{"size": {program["size"]}, "variants": {{\n{lines}}}}}')
    write(out / "lab_profiled.json", head, "programs", "{", entries, "\n }")
    print(f"{sum(len(p['variants']) for p in programs.values())} variants of {len(programs)} programs")


if __name__ == "__main__":
    main()
