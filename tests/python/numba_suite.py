#!/usr/bin/env python3
"""Runs Numba's own CUDA suite on Ordito and compares the failures with the list of those that are expected.

    numba_suite.py ORDITO PYTHON LIST [MODULES | MODULE...]

With modules named (such as cudapy.test_atomics) only these run. expected_failures.py tells of LIST.
"""
import pathlib
import re
import subprocess
import sys

import suite_modules
from expected_failures import expected, judge, tell

PACKAGE = "numba.cuda.tests"
# unittest -v: "test_name (module.Class) ... ok"; what the test prints may stand before the verdict.
BEGIN = re.compile(r"^(test\w+) \(([\w.]+)\)")
VERDICT = re.compile(r"(ok|FAIL|ERROR|expected failure|unexpected success|skipped .*)$")
SECONDS = 400
# Half of the GPU's memory is allocated and written: a small GPU, so that machines of 8 GB can do it.
OPTIONS = {"cudadrv.test_managed_alloc": ["--gpu", "gtx1060"]}


def modules(python: str) -> list[str]:
    """All but those for Numba's simulator and a module that others compile."""
    return [m for m in suite_modules.modules(python, PACKAGE) if not m.startswith(("cudasim.", "doc_examples.ffi."))]


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


def run(ordito: str, python: str, module: str) -> dict[str, str]:
    options = OPTIONS.get(module, [])
    command = [ordito, "run", *options, python, "-m", "numba.runtests", "-v", f"{PACKAGE}.{module}"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
        output = ended.stderr + ended.stdout
    except subprocess.TimeoutExpired as late:
        output = (late.stderr or b"").decode(errors="replace")
    return verdicts(output) or {module: "crashed"}


def main(ordito: str, python: str, listed: str, *chosen: str) -> int:
    reasons = expected(listed)
    if len(chosen) == 1 and pathlib.Path(chosen[0]).is_file():
        chosen = tuple(pathlib.Path(chosen[0]).read_text().split())
    results: dict[str, str] = {}
    for module in chosen or modules(python):
        found = run(ordito, python, module)
        results |= found
        tell(module, found, reasons)
    return judge("numba", results, listed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
