#!/usr/bin/env python3
"""What `ordito check` says of the right programs of docs/programs.tsv: a finding is a false alarm, or a bug of theirs.

usage: programs.py PATH/TO/ordito FOLDER_OF_CLONES [--suite TEXT] [--only TEXT] [--every N] [--jobs N] [--seconds N]

The folder holds clones under the names of their repositories (HeCBench, cuda-samples, ...); what is not there is left
out. Programs are built in a temporary folder, HeCBench's by its own makefiles, others from all sources of their
folder, and run with the arguments of the table. Every verdict is told: clean, the rules that convict, or why there is
none. It is no test of `./test`, since nothing of the suites is in this repository; docs/check.md has the numbers.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCES = (".cu", ".cpp", ".cc", ".c")


def rows(options):
    with open(ROOT / "docs" / "programs.tsv", encoding="utf-8") as file:
        table = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    right = [r for r in table if r["result"] == "right" and options.suite in r["source"] and options.only in r["program"]]
    return [r for r in right if (options.clones / r["source"].split("/")[1]).is_dir()][::options.every]


def nvcc(ordito, folder, sources, flags):
    return subprocess.run([ordito, "nvcc", "-lineinfo", "-g", "-arch=sm_80", *flags, *sources, "-o", "prog"], cwd=folder,
                          capture_output=True, text=True)


def build(ordito, row, clone, scratch):
    """The program's folder and name, or why there is none."""
    name, program = clone.name, row["program"]
    if name == "HeCBench":
        shutil.copytree(clone / "src" / f"{program}-cuda", scratch / "cuda", symlinks=True)
        for shared in ("include",):
            if (clone / "src" / shared).is_dir():
                shutil.copytree(clone / "src" / shared, scratch / shared)
        run = subprocess.run(["make", f"CC={ordito} nvcc", "EXTRA_CFLAGS=-lineinfo -g", "ARCH=sm_80"],
                             cwd=scratch / "cuda", capture_output=True, text=True)
        return (scratch / "cuda", "main") if run.returncode == 0 else (None, run.stderr)
    if name == "cuda-samples":
        folders = [f for f in (clone / "Samples").rglob(program) if f.is_dir()] if program else []
        flags = [f"-I{clone / 'Common'}", "-rdc=true", "-lcudadevrt"] if program.startswith("cdp") else \
            [f"-I{clone / 'Common'}"]
    elif name == "polybenchGpu":
        folders, flags = [clone / "CUDA" / program], [f"-I{clone / 'common'}", f"-I{clone / 'CUDA/utilities'}"]
    elif program.endswith(".cu"):
        source = clone / program
        folders, flags = [source.parent], [f"-I{source.parent}", f"-I{clone}"]
    else:  # a file without its ending
        source = (clone / program).with_suffix(".cu")
        folders, flags = [source.parent], [f"-I{source.parent}", *(f"-I{p}" for p in clone.rglob("common") if p.is_dir())]
    if not folders or not folders[0].is_dir():
        return None, "no such folder"
    shutil.copytree(folders[0], scratch / "src", symlinks=True)
    if program.endswith(".cu") or name not in ("cuda-samples", "polybenchGpu"):
        sources = [pathlib.Path(program).with_suffix(".cu").name]
    else:
        sources = sorted(p.name for p in (scratch / "src").iterdir() if p.suffix in SOURCES)
    run = nvcc(ordito, scratch / "src", [folders[0] / name for name in sources], flags)
    return (scratch / "src", "prog") if run.returncode == 0 else (None, run.stderr)


def judge(options, row):
    clone = options.clones / row["source"].split("/")[1]
    with tempfile.TemporaryDirectory() as scratch:
        folder, program = build(options.ordito, row, clone, pathlib.Path(scratch))
        if folder is None:
            lines = [line for line in program.splitlines() if "error" in line] or [program.strip()[-200:]]
            return None, f"not built: {lines[0][:200]}"
        report = folder / "report.json"
        arguments = shlex.split(row["command"])[1:]
        try:
            run = subprocess.run([options.ordito, "check", "--json", report, f"./{program}", *arguments], cwd=folder,
                                 capture_output=True, text=True, timeout=options.seconds, errors="replace")
        except subprocess.TimeoutExpired:
            return None, f"not done after {options.seconds} s"
        if not report.exists():
            return None, f"no report: {run.stderr.strip().splitlines()[-1:]}"
        findings = json.loads(report.read_text())["findings"]
    told = [f for f in findings if f["severity"] != "note"]
    places = [f'{f["rule"]}: {f["kernel"]}: ' + ", ".join(str(a["source"]) for a in f["accesses"]) for f in told]
    return sorted({f["rule"] for f in told}), "".join(f"\n    {place}" for place in places[:6])


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    parser.add_argument("ordito", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("clones", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--suite", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120)
    options = parser.parse_args()
    programs = rows(options)
    if not programs:
        sys.exit(f"{options.clones} holds none of the programs")
    table = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row, (rules, why) in zip(programs, pool.map(lambda r: judge(options, r), programs)):
            verdict = "no verdict" if rules is None else "convicted" if rules else "clean"
            table[verdict] += 1
            print(f"{verdict}\t{row['source']}\t{row['program']}\t{' '.join(rules or [])}{why}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(table.items())))


main()
