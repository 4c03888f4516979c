#!/usr/bin/env python3
"""Runs Numba's own CUDA suite on Ordito and compares the failures with the list of those that are expected.

    numba_suite.py ORDITO PYTHON LIST [--part K/N] [MODULE...]

With modules named (such as cudapy.test_atomics) only these run, and with a part the K-th of N parts of them.
expected_failures.py tells of LIST.

Starting Numba takes longer than most modules do, so modules share a process. Where it dies or takes too long, those
that it had not come to get another.
"""
import argparse
import re
import subprocess
import sys
import time

import suite_modules
from expected_failures import expected, judge, tell

PACKAGE = "numba.cuda.tests"
# unittest -v: "test_name (module.Class) ... ok"; what the test prints may stand before the verdict.
BEGIN = re.compile(r"^(test\w+) \(([\w.]+)\)")
VERDICT = re.compile(r"(ok|FAIL|ERROR|expected failure|unexpected success|skipped .*)$")
SECONDS = 900
# A process of their own: half of the GPU's memory is allocated and written, of a small GPU, so that machines of 8 GB
# can do it.
ALONE = {"cudadrv.test_managed_alloc": ["--gpu", "gtx1060"]}


def modules(python: str) -> list[str]:
    """All but those for Numba's simulator, one that others compile, and one whose decorator takes its only class for the
    reason that it lacks: Numba's runner never comes back from a module without cases."""
    left_out = ("cudasim.", "doc_examples.ffi.", "cudadrv.test_cuda_libraries")
    return [m for m in suite_modules.modules(python, PACKAGE) if not m.startswith(left_out)]


def verdicts(output: str) -> dict[str, str]:
    """Of each test: what unittest says of it; "crashed" if it is the last and nothing is said."""
    found: dict[str, str] = {}
    current = None
    for line in output.splitlines():
        if begin := BEGIN.match(line):
            # Python 3.11 repeats the method's name behind the class.
            current = f"{begin[2].removeprefix(PACKAGE + '.')}"
            if not current.endswith("." + begin[1]):
                current += "." + begin[1]
            found.setdefault(current, "crashed")
        if current and (verdict := VERDICT.search(line)) and found[current] == "crashed":
            found[current] = verdict[1].split()[0]
            current = None
    return found


def is_of(case: str, module: str) -> bool:
    return case.startswith(module + ".")


def run_process(ordito: str, python: str, chosen: list[str]) -> tuple[dict[str, str], bool]:
    """What came of the cases of these modules, and whether the process came to its end."""
    command = [ordito, "run", *ALONE.get(chosen[0], []), python, "-m", "numba.runtests", "-v"]
    command += [f"{PACKAGE}.{module}" for module in chosen]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
        return verdicts(ended.stderr + ended.stdout), ended.returncode in (0, 1)
    except subprocess.TimeoutExpired as late:
        return verdicts((late.stderr or b"").decode(errors="replace")), False


def not_reached(chosen: list[str], found: dict[str, str]) -> list[str]:
    """The modules behind the last that has a case; at least the first has been tried."""
    last = max((k for k, m in enumerate(chosen) if any(is_of(case, m) for case in found)), default=0)
    return chosen[last + 1:]


def run(ordito: str, python: str, chosen: list[str]) -> dict[str, str]:
    """Of each case what came of it, "crashed" for one that ended its process and for a module without cases."""
    results: dict[str, str] = {}
    left = chosen
    while left:
        found, has_ended = run_process(ordito, python, left)
        later = [] if has_ended else not_reached(left, found)
        tried = left[:len(left) - len(later)]
        results |= found | {m: "crashed" for m in tried if not any(is_of(case, m) for case in found)}
        left = later
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("ordito", "python", "list"):
        parser.add_argument(name)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    if subprocess.run([options.python, "-c", "import numba"], capture_output=True, check=False).returncode:
        print(f"skipped: {options.python} has no Numba")
        return 77
    reasons = expected(options.list)
    chosen = suite_modules.part_of(options.modules or modules(options.python), options.part)
    together = [[module] for module in chosen if module in ALONE] + [[m for m in chosen if m not in ALONE]]
    results: dict[str, str] = {}
    for several in filter(None, together):
        begin = time.monotonic()
        found = run(options.ordito, options.python, several)
        results |= found
        tell(f"{' '.join(several)}: {time.monotonic() - begin:.0f} s", found, reasons)
    return judge("numba", results, options.list)


if __name__ == "__main__":
    sys.exit(main())
