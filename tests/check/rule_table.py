#!/usr/bin/env python3
"""How many wrong cases each of the checker's rules convicts, and how many right ones look like them: the table of docs/check.md.

A rule that only ever convicts would convict everything, so six of each are asked for.

usage: rule_table.py             prints the table
       rule_table.py --page F    status 1 if the page F has another one, or if a rule has too few cases
"""
import pathlib
import re
import sys

from cases import count
from page_table import show

LEAST = 6


def rules():
    """Their names, from the checker's own table of them."""
    source = (pathlib.Path(__file__).parents[2] / "src" / "check" / "finding.cpp").read_text()
    return re.findall(r'^    \{"(\w+\.\w+)", Severity::', source, re.MULTILINE)


def main():
    counts = {rule: count(rule) for rule in rules()}
    few = {rule: both for rule, both in counts.items() if min(both) < LEAST}
    if few or not counts:
        sys.exit(f"rules with fewer than {LEAST} wrong or right cases in cases.py: {few}")
    show("rule_table.py", ["| rule | wrong | right |", "|---|---|---|",
                           *(f"| {rule} | {wrong} | {right} |" for rule, (wrong, right) in counts.items())])


main()
