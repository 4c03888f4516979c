#!/usr/bin/env python3
"""What `ordito check` says of the programs of other people's suites, beside what these say themselves.

usage: suites.py PATH/TO/ordito SUITE PATH/TO/CLONE [--only TEXT] [--every N] [--jobs N] [--seconds N] [--input NAME]
                 [--list]

SUITE    the clone is of
indigo   the artifact of HiRace (SC 2024), which holds Indigo's sources and graphs
scor     ScoR, the suite of ScoRD (ISCA 2020): its microbenchmarks and applications
cusan    CuSan, its tests of the runtime that need no MPI; nothing else of it is built
gpuverify  GPUVerify, its directory of CUDA kernels; host code is added (gpuverify.py)
oclgrind Oclgrind, its kernels about what it reports, as CUDA (oclgrind.py)

It needs Python 3.9, and what `ordito nvcc` needs. The clone is only read; programs are built in a temporary folder.
A program is convicted if there is a finding of a rule that tells a race or a misuse of barriers; notes count as none.
Rows that differ from the suite's own expectation are listed. --only takes the programs whose names contain TEXT,
--every each N-th of them, --list tells every verdict. A program may take 120 seconds, or --seconds.

It is no test of `./test`, since nothing of the suites is in this repository. docs/check.md has the numbers.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile

import gpuverify
import oclgrind

# `is_wrong`: None where the suite says nothing that a run could show; `text` is compiled in place of the source, if there
# is one; `rules`: beginnings of those that convict; `checks`: more options of `ordito check`.
Case = collections.namedtuple("Case", "name source flags arguments is_wrong kind text rules checks stdin",
                              defaults=[None, ("race.", "sync."), ("--no-uninitialised",), ""])
BUG = re.compile(r"(atomic|guard|sync|race|bounds)Bug")


def indigo(clone, options):
    """File names tell the bugs. An error of bounds alone is no race."""
    include = clone / "indigo/indigo_include"
    graph = clone / "indigo/input" / options.input
    for source in sorted((clone / "indigo/indigo_sources").rglob("*.cu")):
        bugs = sorted(set(BUG.findall(source.stem)))
        is_wrong = bool(set(bugs) - {"bounds"})
        yield Case(source.stem, source, [f"-I{include}"], [graph, "256", "16"], is_wrong, "+".join(bugs) or "no bug")


def scor(clone, _):
    """Nearly all data is declared volatile, to keep it out of registers. Two volatile accesses are no race by PTX's memory model
    (they are strong, of system scope), so each program is also built without the word."""
    for source in sorted((clone / "microbenchmarks/src").glob("*.cu")):
        is_wrong = source.stem.startswith("race_")
        kind = "race" if is_wrong else "no race"
        yield Case(source.stem, source, [], [], is_wrong, f"{kind}, as they are")
        yield Case(f"{source.stem} -Dvolatile=", source, ["-Dvolatile="], [], is_wrong, f"{kind}, -Dvolatile=")
    yield from scor_applications(clone)


def scor_input(name):
    """What an application reads: sizes, and then data that does not matter much."""
    random.seed(1)
    numbers = {"1dconv": [9, 8000], "matrix-multiplication": [32, 32, 32], "reduction": [30000], "rule-110": [20000, 3],
               "uts": [4, 3]}.get(name)
    if numbers:
        return " ".join(map(str, numbers + [random.randrange(2) for _ in range(32000)]))
    edges = [random.sample(range(50), 2) for _ in range(100)]
    return f"50 100 {' '.join(f'{a} {b}' for a, b in edges)}"


def with_own_includes(file, done):
    """The text of a file and of those beside it that it includes, each once."""
    if file in done or not file.exists():
        return ""
    done.add(file)
    return re.sub(r'^#include "(.*)"', lambda found: with_own_includes(file.parent / found[1], done), file.read_text(),
                  flags=re.MULTILINE)


def scor_applications(clone):
    """One file has all of a program's, so that the headers of the system keep the word volatile."""
    for makefile in sorted((clone / "benchmarks").glob("*/Makefile")):
        text, folder = makefile.read_text(), makefile.parent
        sources = [folder / name for name in re.search(r"^FILES := (.*)", text, re.MULTILINE)[1].split()]
        sizes = [f"-D{name}={value}" for name, value in re.findall(r"^(NBLOCKS|NTHREADS) *\?= (\d+)", text, re.MULTILINE)]
        headers = re.findall(r"^#include <.*", "".join(p.read_text() for p in folder.glob("*.cu*")), re.MULTILINE)
        for is_wrong, is_volatile in itertools.product((False, True), (True, False)):
            done = set()
            whole = "\n".join([*headers, "" if is_volatile else "#define volatile",
                               *(with_own_includes(p, done) for p in sources)])
            words = ["-DRACEY"] * is_wrong
            name = " ".join([folder.name, *words, *([] if is_volatile else ["-Dvolatile="])])
            kind = f"application, {'race' if is_wrong else 'no race'}, {'as they are' if is_volatile else '-Dvolatile='}"
            whole = re.sub(r"^extern (__device__ [^=]*) = .*;", r"extern \1;", whole, flags=re.MULTILINE)
            yield Case(name, sources[0], [f"-I{folder}", *sizes, *words], [], is_wrong, kind, whole,
                       stdin=scor_input(folder.name))


def cusan(clone, _):
    """Each line that builds a program is a variant; what its output is searched for says whether it is right."""
    for source in sorted([*(clone / "test/runtime").glob("*.c"), *(clone / "test/pass").glob("*.c")]):
        text = source.read_text()
        if "mpi.h" in text or "gpu_mpi" in text:
            continue
        for line in re.findall(r"RUN: %wrapper-c(?:c|xx) (.*)", text):
            if "%s" not in line:
                continue
            defines = [f"-D{name}" for name in re.findall(r"-D *(\w+)", line)]
            prefix = "CHECK-SYNC" if "-DCUSAN_SYNC" in defines else "CHECK"
            # "CHECK-DAG: data race" without a NOT is what makes a program a wrong one.
            is_wrong = bool(re.search(rf"^// *{prefix}(-DAG|-NEXT)?: .*data race", text, re.MULTILINE))
            name = " ".join([source.stem, *defines])
            yield Case(name, source, ["-x", "cu", *defines], [], is_wrong, "race" if is_wrong else "no race")


GPUVERIFY_RULES = {"race": ("race.",), "divergence": ("sync.", "launch."), "memory": ("memory.", "launch."),
                   "assertion": ("launch.",)}


def gpuverify_kernels(clone, _):
    """What fails for a limit of the prover, or passes only where warps run in lock-step, has no expectation here."""
    folder = clone / "testsuite/CUDA"
    for source in sorted(folder.rglob("*.cu")):
        name, text = str(source.parent.relative_to(folder)), source.read_text(errors="replace")
        kind, made = gpuverify.says(name, text), gpuverify.program(source)
        if made:
            is_wrong = {"pass": False, "pass in lock-step": None, "prover": None}.get(kind, True)
            yield Case(name, source, [f"-I{source.parent}", "-std=c++20", *gpuverify.defines(text)], [], is_wrong, kind,
                       made, GPUVERIFY_RULES.get(kind, ("race.", "sync.", "launch.")))


def oclgrind_kernels(clone, _):
    """The kernels about what Oclgrind reports; what is no error in CUDA has no expectation."""
    for folder in oclgrind.FOLDERS:
        for source in sorted((clone / "tests/kernels" / folder).glob("*.cl")):
            is_wrong = None if source.stem in oclgrind.OTHERWISE else oclgrind.is_wrong(source)
            kind = {True: "wrong", False: "right", None: f"in CUDA {oclgrind.OTHERWISE.get(source.stem)}"}[is_wrong]
            yield Case(f"{folder}/{source.stem}", source, ["-std=c++20", "-Xcompiler", "-Wno-narrowing"], [], is_wrong, kind,
                       oclgrind.program(source), ("race.", "sync.", "memory.", "launch."), ())


SUITES = {"indigo": indigo, "scor": scor, "cusan": cusan, "gpuverify": gpuverify_kernels, "oclgrind": oclgrind_kernels}


def judge(ordito, case, folder, seconds):
    """The rules that convict it, or why there is no verdict."""
    stem = re.sub(r"\W", "_", case.name)
    program, report = folder / stem, folder / f"{stem}.json"
    source = case.source
    if case.text:
        source = folder / f"{stem}.cu"
        source.write_text(case.text)
    build = subprocess.run([ordito, "nvcc", "-lineinfo", "-arch=sm_80", *case.flags, source, "-o", program],
                           capture_output=True, text=True)
    if build.returncode:
        lines = [line for line in build.stderr.splitlines() if "error" in line] or [build.stderr.strip()]
        return None, f"not built: {lines[0]}"
    run = subprocess.Popen([ordito, "check", *case.checks, "--json", report, program, *case.arguments], cwd=folder,
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           errors="replace", start_new_session=True)
    try:
        _, told = run.communicate(case.stdin, timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)  # the program, too
        run.communicate()
        return None, f"not done after {seconds} s"
    finally:
        program.unlink(missing_ok=True)
    if not report.exists():
        return None, f"no report: {told.strip().splitlines()[-1:]}"
    findings = json.loads(report.read_text())["findings"]
    report.unlink()
    if "which no module defines" in told:
        return None, "its kernels cannot be loaded"
    notes = sorted({f["rule"] for f in findings if f["severity"] == "note"})
    return sorted({f["rule"] for f in findings if f["severity"] != "note"}), f" notes: {' '.join(notes)}" * bool(notes)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    parser.add_argument("ordito", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("clone", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--input", default="power_law_200n_1000e.egr")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    cases = [c for c in SUITES[options.suite](options.clone, options) if options.only in c.name][::options.every]
    if not cases:
        sys.exit(f"{options.clone} holds no programs of {options.suite}")
    table = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        verdicts = pool.map(lambda case: judge(options.ordito, case, pathlib.Path(folder), options.seconds), cases)
        for case, (rules, why) in zip(cases, verdicts):
            row = table[case.kind]
            row["programs"] += 1
            convicts = any(rule.startswith(case.rules) for rule in rules or [])
            verdict = "no verdict" if rules is None else "convicted" if convicts else "clean"
            row[verdict] += 1
            is_alike = case.is_wrong is None or verdict == ("convicted" if case.is_wrong else "clean")
            row["differs"] += not is_alike
            if not is_alike or options.list:
                print(f"{'' if is_alike else 'DIFFERS: '}{case.name}: {verdict} {' '.join(rules or [])}{why}",
                      flush=True)
    columns = ("programs", "convicted", "clean", "no verdict", "differs")
    print(f"| {options.suite} | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for kind, row in sorted(table.items()):
        print(f"| {kind} | {' | '.join(str(row[c]) for c in columns)} |")
    total = sum(table.values(), collections.Counter())
    print(f"| all | {' | '.join(str(total[c]) for c in columns)} |")


main()
