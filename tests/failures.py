"""The ends of what failed tests printed, from CTest's results as JUnit XML: what is looked for first in a long log.

usage: failures.py RESULTS.xml [LINES]
"""

import sys
import xml.etree.ElementTree as xml


def failures(results, lines):
    """Yields (name, last lines) of each test that failed."""
    for test in xml.parse(results).iter("testcase"):
        if test.get("status") != "fail":
            continue
        said = (test.findtext("system-out") or "").rstrip().splitlines()
        yield test.get("name"), said[-lines:]


def main():
    lines = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    for name, said in failures(sys.argv[1], lines):
        print(f"\n{name} failed; its last lines:")
        for line in said:
            print(f"  {line[:400]}")


if __name__ == "__main__":
    main()
