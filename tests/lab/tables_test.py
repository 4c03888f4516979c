#!/usr/bin/env python3
"""What the table of a program must show by counts alone, at the size of the published figures.

usage: tables_test.py PATH/TO/ordito PROGRAM
"""
import json
import subprocess
import sys

INSTRUCTIONS = "smsp__inst_executed.sum"
failures = []


def table(ordito, program, *options):
    command = [ordito, "lab", "run", program, "--rounds", "1", "--json", *options]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with status {result.returncode}:\n{result.stderr}")
    return {row["variant"]: row for row in json.loads(result.stdout)["table"]}


def expect(what, right):
    if not right:
        failures.append(what)


def published(row, *keys):
    for key in keys:
        expect(f"{row['variant']}: a published {key}", row.get(f"published {key}") is not None)


def nested(rows):
    """2^22 elements in blocks of 512 are 8192 parts, which are halved 8 times until two elements are left."""
    children = {name: row["children"] for name, row in rows.items()}
    for name in ("by_block_tail", "by_block", "no_barrier"):
        expect(f"{name} has 8 children for each of 8192 blocks, not {children[name]}", children[name] == 8 * 8192)
    for name in ("by_grid", "no_tail"):
        expect(f"{name} has 8 children, not {children[name]}", children[name] == 8)
    expect("neighbored launches nothing", children["neighbored"] is None)
    for name in ("neighbored", "by_block_tail", "by_block", "by_grid"):
        published(rows[name], INSTRUCTIONS, "no_eligible", "stall_barrier", "total_ms", "speedup")
        expect(f"{name}: its speed-up over the CPU and over the rung before", rows[name]["speedup"] > 0 and rows[name]["step"] > 0)


CHECKS = {"nested": (nested, ["--all"])}


def main():
    ordito, program = sys.argv[1:3]
    check, options = CHECKS[program]
    check(table(ordito, program, *options))
    print("\n".join(failures) or f"{program}: as it must be")
    sys.exit(1 if failures else 0)


main()
