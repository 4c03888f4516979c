#!/usr/bin/env python3
"""What `ordito check` says of small programs, wrong ones and right ones that look like them.

usage: check_test.py PATH/TO/ordito SCRATCH_FOLDER PROGRAM [OPTION...]

The options are those of `ordito check`: with --no-uninitialised kernels run as compiled code, and must be judged alike.
"""
import json
import pathlib
import subprocess
import sys

from cases import cases, leaks_matter

HERE = pathlib.Path(__file__).parent
# Rules that follow values through registers, which only the interpreter does.
FOLLOWING = {"sync.inactive_lane", "memory.uninitialised"}
ARCHITECTURES = {"bulk": "sm_90"}
RANK = {"note": 0, "warning": 1, "error": 2}


def judge(ordito, program, case, report):
    report.unlink(missing_ok=True)
    options = [*sys.argv[4:], *(["--leaks"] if leaks_matter(case) else [])]
    run = subprocess.run([ordito, "check", "--json", report, *options, program, case], capture_output=True, text=True)
    if not report.exists():
        return None, run
    return json.loads(report.read_text())["findings"], run


def is_place(name, source):
    """In the program, and at last in a file of its own: not in a header of the toolkit."""
    return bool(source) and f"{name}.cu" in source and (HERE / source.split(" > ")[-1].split(":")[0].split("/")[-1]).exists()


def takes_an_old_report(ordito, report):
    """A program without kernels writes no report; that of an earlier run must not be taken for its own."""
    report.write_text('{"findings": []}')
    run = subprocess.run([ordito, "check", "--json", report, "true"], capture_output=True, text=True)
    if run.returncode == 98 and not report.exists():
        return False
    print(f"an old report: status {run.returncode}\n{run.stderr}")
    return True


def main():
    ordito, scratch, name = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    scratch.mkdir(parents=True, exist_ok=True)
    program = scratch / name
    subprocess.run([ordito, "nvcc", "-lineinfo", f"-arch={ARCHITECTURES.get(name, 'sm_80')}", HERE / f"{name}.cu", "-o", program], check=True)
    follows = "--no-uninitialised" not in sys.argv
    wrong = 0
    for case, rules in cases(name):
        findings, run = judge(ordito, program, case, scratch / "report.json")
        if findings is None:
            print(f"{case}: no report\n{run.stderr}")
            wrong += 1
            continue
        found = {f["rule"] for f in findings}
        rules = rules if follows else rules - FOLLOWING
        worst = max((RANK[f["severity"]] for f in findings), default=0)
        # A copy has no line of a kernel.
        places = all(is_place(name, a["source"]) for f in findings for a in f["accesses"] if a["ptx_line"])
        # Each of the rules must be found and no other; the status says what the worst one was.
        if found != rules or not places or (run.returncode == 99) != (worst == 2):
            print(f"{case}: {sorted(found)}, expected {sorted(rules)}; status {run.returncode}\n{run.stderr}")
            wrong += 1
    wrong += takes_an_old_report(ordito, scratch / "old.json")
    sys.exit(1 if wrong else 0)


main()
