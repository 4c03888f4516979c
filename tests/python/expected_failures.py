"""Lists of cases of a framework's own suite that fail on Ordito, each with its reason, and the judgement of a run by one.

A list has a line `TEST  REASON` for each such case, two spaces or more between them; a line that begins with `#` is a
comment. A case that fails and is not listed is an error, and so is a listed one that passes: a list can only shrink.
"""
import collections
import pathlib
import re

PASSED = ("ok", "expected", "passed")


def expected(path: str) -> dict[str, str]:
    """The reason of each listed case."""
    lines = (line.strip() for line in pathlib.Path(path).read_text().splitlines())
    return dict(re.split(r"\s{2,}", line, maxsplit=1) for line in lines if line and line[0] != "#")


def has_failed(verdict: str) -> bool:
    return verdict not in (*PASSED, "skipped")


def tell(part: str, results: dict[str, str], reasons: dict[str, str]) -> None:
    """Prints what came of a part of a suite as soon as it has ended."""
    kinds = collections.Counter("failed" if has_failed(verdict) else verdict for verdict in results.values())
    print(f"{part}: {dict(kinds)}", flush=True)
    for test in sorted(results.keys() - reasons.keys()):
        if has_failed(results[test]):
            print(f"  not listed: {test}  {results[test]}", flush=True)


def judge(suite: str, results: dict[str, str], listed: str) -> int:
    """Prints what came of the cases, by name one of PASSED, "skipped" or anything else; the exit status."""
    reasons = expected(listed)
    passed = {test for test, verdict in results.items() if verdict in PASSED}
    failed = {test for test, verdict in results.items() if has_failed(verdict)}
    skipped = len(results) - len(passed) - len(failed)
    print(f"{suite}: {len(passed)} passed, {len(failed)} failed, {skipped} skipped")
    for kind, count in collections.Counter(reasons[test] for test in failed if test in reasons).most_common():
        print(f"  {count} expected: {kind}")
    for test in sorted(failed - set(reasons)):
        print(f"FAILED and not listed: {test}  {results[test]}")
    for test in sorted(passed & set(reasons)):
        print(f"passes, so {listed} must not list it: {test}")
    return 1 if not passed or failed - set(reasons) or passed & set(reasons) else 0
