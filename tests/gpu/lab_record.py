#!/usr/bin/env python3
"""Turns what the lab's programs and NVIDIA's profiler said on a real GPU into the files that the project keeps; called
by lab_record.sh. A program without usable output is left out by name.

usage: lab_record.py FOLDER_WITH_OUTPUT FOLDER_TO_WRITE PROGRAM...
"""
import csv
import datetime
import json
import pathlib
import sys


def number(text):
    value = float(text.replace(",", ""))
    return int(value) if value == int(value) else value


def extents(text):
    return [int(part) for part in text.strip("()").split(",")]


def launches(path):
    """The profiler's rows, one for each metric of each launch, put together by launch."""
    rows = csv.DictReader(line for line in path.read_text().splitlines() if line.startswith('"'))
    found = {}
    for row in rows:
        launch = found.setdefault(int(row["ID"]), {"kernel": row["Kernel Name"], "grid": extents(row["Grid Size"]),
                                                   "block": extents(row["Block Size"]), "metrics": {}})
        launch["metrics"][row["Metric Name"]] = number(row["Metric Value"])
    return [found[key] for key in sorted(found)]


def counted(folder, program):
    document = json.loads((folder / f"{program}.counted").read_text())
    profiled = launches(folder / f"{program}.csv")
    run = {"program": program, "size": document["size"], "launches": []}
    for variant in document["variants"]:
        first = variant["launch_first"]
        for launch in profiled[first:first + variant["launch_count"]]:
            run["launches"].append({"variant": variant["name"], **launch})
    return run


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def timed(folder, program):
    document = json.loads((folder / f"{program}.times").read_text())
    rows = list(document["variants"])
    for more in sorted(folder.glob(f"{program}.times.*")):
        rows += json.loads(more.read_text())["variants"]
    rows = [row for row in rows if row["total_ms"] > 0]
    variants = {v["name"]: {"kernel_ms": v["kernel_ms"], "total_ms": v["total_ms"], "verified": v["verified"]}
                for v in rows if v["launch_count"] > 0}
    host = {v["name"]: {"total_ms": v["total_ms"], "verified": v["verified"]} for v in rows if v["launch_count"] == 0}
    return document["device"], {"size": document["size"], "variants": variants, "host": host}


def write(path, head, key, opening, entries, closing):
    """One entry on a line, so that a change is a line in a diff."""
    lines = ",\n".join("  " + entry for entry in entries)
    path.write_text(f'{{"description": {json.dumps(head["description"])}, "device": {json.dumps(head["device"])}, '
                    f'"host": {json.dumps(processor())}, "date": "{head["date"]}",\n "{key}": {opening}\n{lines}{closing}}}\n')


def collect(read, folder, programs):
    for program in programs:
        try:
            yield program, read(folder, program)
        except (OSError, ValueError, KeyError) as error:
            print(f"{program}: left out ({type(error).__name__}: {error})")


def main():
    folder, out, programs = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    head = {"date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(), "device": "unknown"}
    times = {}
    for program, (device, entry) in collect(timed, folder, programs):
        head["device"] = device
        times[program] = entry
    head["description"] = "Times of the lab's programs on a real GPU, built by nvcc (tests/gpu/lab_record.sh)"
    write(out / "lab_times.json", head, "programs", "{", [f"{json.dumps(p)}: {json.dumps(e)}" for p, e in times.items()],
          "\n }")
    head["description"] = "Counters that NVIDIA's profiler (ncu) reported for the lab's programs (tests/gpu/lab_record.sh)"
    runs = []
    for _, run in collect(counted, folder, programs):
        body = ",\n".join("    " + json.dumps(launch, sort_keys=True) for launch in run["launches"])
        runs.append(f'{{"program": "{run["program"]}", "size": {run["size"]}, "launches": [\n{body}]}}')
    write(out / "lab_counters.json", head, "runs", "[", runs, "]")
    print(f"{len(times)} programs timed, {len(runs)} counted on {head['device']}")


if __name__ == "__main__":
    main()
