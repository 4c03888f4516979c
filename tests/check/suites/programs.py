#!/usr/bin/env python3
"""What `ordito check` says of the right programs of docs/programs.tsv: a finding is a false alarm, or a bug of theirs.

usage: programs.py PATH/TO/ordito FOLDER_OF_CLONES [--suite TEXT] [--only TEXT] [--results "right,no verdict"]
                   [--first N] [--every N] [--jobs N] [--seconds N] [--log FILE] [--cccl CLONE]

The folder holds clones under the names of their repositories (HeCBench, cuda-samples, ...); what is not there is left
out. Programs are built in a temporary folder, HeCBench's by its own makefiles, NVIDIA's samples from what their
CMakeLists.txt name, others from all sources of their folder, and run with the arguments of the table. Every verdict is
told as soon as there is one: clean, the rules that convict, or why there is none. A clean program must end with status
0: one that gave up before its kernels ran would be clean, too. What --log has kept is not run again. With --cccl
programs that use CUB or Thrust get them from there: the decoupled look-back of old releases reads by ld.cg what others
write by st.cg, which PTX calls a race. It is no test of `./test`, since nothing of the suites is in this repository;
docs/check.md has the numbers.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import pathlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCES = (".cu", ".cpp", ".cc", ".c")
LIBRARIES = {"curand": "curand", "cublas": "cublas", "cufft": "cufft", "cusparse": "cusparse", "cusolver": "cusolver"}

# What those take less time with that the table has no command for.
SMALLER = {"reductionMultiBlockCG": "-n=4096 -maxblocks=4", "eigenvalues": "-matrix-size=256 -iters-timing=1",
           "globalToShmemAsyncCopy": "-wA=128 -hA=128 -wB=128 -hB=128",
           "cdpAdvancedQuicksort": "-size=1000", "threadFenceReduction": "-n=65536"}


def rows(options):
    with open(ROOT / "docs" / "programs.tsv", encoding="utf-8") as file:
        table = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    results = options.results.split(",")
    found = [r for r in table if r["result"] in results and options.suite in r["source"] and options.only in r["program"]]
    return [r for r in found if (options.clones / r["source"].split("/")[1]).is_dir()][options.first::options.every]


def cccl_flags(options, sources):
    """Where CUB and Thrust are, if the program uses them."""
    uses = any(re.search(r"#\s*include\s*<(cub|thrust)/", pathlib.Path(s).read_text(errors="replace")) for s in sources)
    folders = ("cub", "thrust", "libcudacxx/include")
    return ["-std=c++17", *(f"-I{options.cccl / name}" for name in folders)] if uses and options.cccl else []


def nvcc(options, clone, folder, sources, flags, out="prog"):
    """Headers that are not found where the program looks may lie anywhere in its clone."""
    text = "".join(pathlib.Path(source).read_text(errors="replace") for source in sources)
    flags = [*flags, *(f"-l{library}" for name, library in LIBRARIES.items() if f"#include <{name}" in text),
             *cccl_flags(options, sources)]
    for _ in range(8):
        run = subprocess.run([options.ordito, "nvcc", "-lineinfo", "-g", "-arch=sm_80", *flags, *sources, "-o", out],
                             cwd=folder, capture_output=True, text=True)
        missing = re.search(r"fatal error: '([^']+)' file not found", run.stderr)
        if not missing or ".." in missing[1]:
            break
        home = pathlib.Path(sources[0]).parent
        found = sorted(home.rglob(missing[1])) or sorted(clone.rglob(missing[1]))
        if not found:
            break
        flags.append(f"-I{found[0].parents[missing[1].count('/')]}")
    return run


def sample(options, clone, program, scratch):
    """One of NVIDIA's, as its CMakeLists.txt says: the program, and the module of its kernel for those of the driver API."""
    folder = next((f for f in (clone / "Samples").rglob(program) if (f / "CMakeLists.txt").exists()), None)
    if folder is None:
        return None, "no such folder"
    text = (folder / "CMakeLists.txt").read_text()
    shutil.copytree(folder, scratch / "src", symlinks=True)
    common = f"-I{clone / 'Common'}"
    module = re.search(r'set\(CUDA_(FATBIN|PTX)_FILE ".*/(.+)"\)', text)
    if module:
        kernel = re.search(r'set\(CUDA_KERNEL_SOURCE ".*/(.+)"\)', text)[1]
        run = nvcc(options, clone, scratch / "src", [folder / kernel], [common, f"-{module[1].lower()}"], module[2])
        if run.returncode:
            return None, run.stderr
    sources = [folder / name for name in re.search(rf"add_executable\({program}\s+([^)]*)\)", text)[1].split()
               if name.endswith(SOURCES)]
    flags = [common, "-lcuda", "-std=c++17", "--extended-lambda"]
    flags += ["-rdc=true", "-lcudadevrt"] if program.startswith("cdp") else []
    flags += ["-Xcompiler", "-fopenmp"] if "OpenMP" in text else []
    run = nvcc(options, clone, scratch / "src", sources, flags)
    return (scratch / "src", "prog") if run.returncode == 0 else (None, run.stderr)


def build(options, row, clone, scratch):
    """The program's folder and name, or why there is none."""
    name, program = clone.name, row["program"]
    if "…" in program:  # the table has shortened the path
        at, wanted = program.split("/…/")
        program = next((str(p.relative_to(clone)) for p in sorted((clone / at).rglob("*.cu")) if str(p).endswith("/" + wanted)),
                       program)
    if name == "HeCBench":
        folder = scratch / f"{program}-cuda"
        shutil.copytree(clone / "src" / folder.name, folder, symlinks=True)
        for other in (clone / "src").iterdir():  # which it may refer to
            if other.name != folder.name:
                (scratch / other.name).symlink_to(other)
        more = cccl_flags(options, [p for p in folder.rglob("*") if p.suffix in (*SOURCES, ".h", ".cuh")])
        run = subprocess.run(["make", f"CC={options.ordito} nvcc", f"EXTRA_CFLAGS={' '.join(['-lineinfo', '-g', *more])}",
                              "ARCH=sm_80"], cwd=folder, capture_output=True, text=True)
        return (folder, "main") if run.returncode == 0 else (None, run.stderr)
    if name == "cuda-samples":
        return sample(options, clone, program, scratch)
    elif name == "polybenchGpu":
        folders, flags = [clone / "CUDA" / program], [f"-I{clone / 'common'}", f"-I{clone / 'CUDA/utilities'}"]
    elif program.endswith(".cu"):
        source = clone / program
        folders, flags = [source.parent], [f"-I{p}" for p in (source.parent, clone)]
        if name == "cutlass":
            flags += ["-std=c++17", *(f"-I{clone / p}" for p in ("include", "tools/util/include", "examples/common", "test/unit"))]
    else:  # a file without its ending
        source = (clone / program).with_suffix(".cu")
        folders, flags = [source.parent], [f"-I{source.parent}", *(f"-I{p}" for p in clone.rglob("common") if p.is_dir())]
    if not folders or not folders[0].is_dir():
        return None, "no such folder"
    shutil.copytree(folders[0], scratch / "src", symlinks=True)
    if program.endswith(".cu") or name != "polybenchGpu":
        sources = [pathlib.Path(program).with_suffix(".cu").name]
    else:
        sources = sorted(p.name for p in (scratch / "src").iterdir() if p.suffix in SOURCES)
    if (folders[0] / "testbench").is_dir():  # CUDABeaver's
        sources += [p.relative_to(folders[0]) for p in sorted((folders[0] / "testbench").rglob("*.cu"))]
    run = nvcc(options, clone, scratch / "src", [folders[0] / name for name in sources], flags)
    if re.search("undefined (symbol|reference)", run.stderr):  # of the files beside it, perhaps
        sources = sorted(p for p in folders[0].iterdir() if p.suffix in SOURCES)
        run = nvcc(options, clone, scratch / "src", sources, flags)
    return (scratch / "src", "prog") if run.returncode == 0 else (None, run.stderr)


def run_for(seconds, command, folder):
    """The status and what was said; no status where the time was over, and then nothing is left of the processes."""
    run = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        said, _ = run.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        return None, ""
    return run.returncode, said


def judge(options, row):
    clone = options.clones / row["source"].split("/")[1]
    with tempfile.TemporaryDirectory() as scratch:
        folder, program = build(options, row, clone, pathlib.Path(scratch))
        if folder is None:
            lines = [line for line in program.splitlines() if "error" in line] or [program.strip()[-200:]]
            return None, f"not built: {lines[0][:200]}"
        report = folder / "report.json"
        arguments = shlex.split(row["command"])[1:] or shlex.split(SMALLER.get(row["program"], ""))
        status, said = run_for(options.seconds, [options.ordito, "check", "--json", report, f"./{program}", *arguments],
                               folder)
        if status is None:
            return None, f"not done after {options.seconds} s"
        if not report.exists():
            return None, f"no report: {said.strip().splitlines()[-1:]}"
        findings = json.loads(report.read_text())["findings"]
    told = [f for f in findings if f["severity"] != "note"]
    if not told and status != 0:
        return None, f"clean, but ended with status {status}: {said.strip().splitlines()[-3:]}"
    places = [": ".join([f["rule"], f["kernel"] or f["message"], ", ".join(str(a["source"]) for a in f["accesses"]) or
                         f["object"]]) for f in told]
    return sorted({f["rule"] for f in told}), "".join(f"\n    {place}" for place in places[:6])


def known(log):
    """The programs that an earlier run has kept."""
    lines = log.read_text().splitlines() if log and log.exists() else []
    return {tuple(line.split("\t")[1:3]) for line in lines if line.count("\t") >= 3}


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][len("usage: "):])
    parser.add_argument("ordito", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("clones", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--suite", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--results", default="right")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--log", type=pathlib.Path)
    parser.add_argument("--cccl", type=lambda p: pathlib.Path(p).resolve())
    options = parser.parse_args()
    done = known(options.log)
    programs = [row for row in rows(options) if (row["source"], row["program"]) not in done]
    if not programs:
        sys.exit(f"{options.clones} holds none of the programs")
    table = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        judged = {pool.submit(judge, options, row): row for row in programs}
        for future in concurrent.futures.as_completed(judged):
            row, (rules, why) = judged[future], future.result()
            verdict = "no verdict" if rules is None else "convicted" if rules else "clean"
            table[verdict] += 1
            line = f"{verdict}\t{row['source']}\t{row['program']}\t{' '.join(rules or [])}{why}"
            print(line, flush=True)
            if options.log:
                with open(options.log, "a", encoding="utf-8") as log:
                    log.write(line + "\n")
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(table.items())))


main()
