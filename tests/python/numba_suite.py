#!/usr/bin/env python3
"""Runs Numba's own CUDA suite on Ordito and compares the failures with the list of those that are expected.

    numba_suite.py ORDITO PYTHON LIST [MODULES | MODULE...]

LIST has a line `TEST  REASON` for each case that fails, with the reason; `#` opens a comment. A case that fails and is
not listed is an error, and so is a listed one that passes: the list can only shrink. With modules named (such as
cudapy.test_atomics) only these run.
"""
import collections
import pathlib
import re
import subprocess
import sys

PACKAGE = "numba.cuda.tests"
# unittest -v: "test_name (module.Class) ... ok"; what the test prints may stand before the verdict.
BEGIN = re.compile(r"^(test\w+) \(([\w.]+)\)")
VERDICT = re.compile(r"(ok|FAIL|ERROR|expected failure|unexpected success|skipped .*)$")
SECONDS = 400
# Half of the GPU's memory is allocated and written: a small GPU, so that machines of 8 GB can do it.
OPTIONS = {"cudadrv.test_managed_alloc": ["--gpu", "gtx1060"]}


def modules(python: str) -> list[str]:
    """Every test module of the package."""
    folder = subprocess.run([python, "-c", f"import {PACKAGE} as p; print(list(p.__path__)[0])"], capture_output=True,
                            text=True, check=True).stdout.strip()
    root = pathlib.Path(folder)
    return sorted(".".join(path.relative_to(root).with_suffix("").parts) for path in root.rglob("test_*.py")
                  if "cudasim" not in path.parts and "doc_examples/ffi" not in str(path))


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


def expected(path: str) -> dict[str, str]:
    lines = (line.split("#")[0].strip() for line in pathlib.Path(path).read_text().splitlines())
    return dict(line.split(None, 1) for line in lines if line)


def main(ordito: str, python: str, listed: str, *chosen: str) -> int:
    reasons = expected(listed)
    if len(chosen) == 1 and pathlib.Path(chosen[0]).is_file():
        chosen = tuple(pathlib.Path(chosen[0]).read_text().split())
    results: dict[str, str] = {}
    for module in chosen or modules(python):
        found = run(ordito, python, module)
        results |= found
        print(f"{module}: {dict(collections.Counter(found.values()))}", flush=True)
        for test in sorted(found.keys() - reasons.keys()):
            if found[test] not in ("ok", "expected", "skipped"):
                print(f"  not listed: {test} {found[test]}", flush=True)
    passed = {test for test, verdict in results.items() if verdict in ("ok", "expected")}
    skipped = {test for test, verdict in results.items() if verdict == "skipped"}
    failed = set(results) - passed - skipped
    print(f"numba: {len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    for kind, count in collections.Counter(reasons[test] for test in failed if test in reasons).most_common():
        print(f"  {count} expected: {kind}")
    for test in sorted(failed - set(reasons)):
        print(f"FAILED and not listed: {test} {results[test]}")
    for test in sorted(passed & set(reasons)):
        print(f"passes, so {listed} must not list it: {test}")
    return 1 if failed - set(reasons) or passed & set(reasons) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
