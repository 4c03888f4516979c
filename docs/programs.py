#!/usr/bin/env python3
"""Makes the counted parts of docs/programs.md from docs/programs.tsv, a row for every outside program that was tried.

The page says in marked places what this script makes of the table: `programs.py --fix` writes them, `programs.py` alone
compares and ends with 1 if the page is not what the table says. Shares are never written by hand.
"""
import collections
import csv
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER / "programs.md"
NVCC = "nvcc 13 builds"
RESULTS = ["right", "wrong", "does not build", "too long", "no verdict", "neither builds"]
ROUNDS = {"listed": "our own list, mended as it grew", "sample": "drawn at random", "more": "more of the same pool"}


def table():
    with open(FOLDER / "programs.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        assert row["result"] in RESULTS and row["round"] in ROUNDS, row
    return rows


def share(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "0 of 0"


def right(rows, column="result"):
    """Right, of the programs that ran to their end and gave a verdict."""
    counted = collections.Counter(row[column] for row in rows)
    return share(counted["right"], counted["right"] + counted["wrong"])


def built(rows, column="result"):
    """Built, of the programs that nvcc 13 builds and that were given to `ordito nvcc`."""
    known = [row for row in rows if row[NVCC] == "yes" and row[column] != "not run"]
    return share(sum(row[column] != "does not build" for row in known), len(known))


def shares(rows):
    lines = ["| programs | tried | right, of those with a verdict | built, of those that nvcc 13 builds |", "|---|--:|--:|--:|"]
    for name, text in ROUNDS.items():
        some = [row for row in rows if row["round"] == name]
        if name == "sample":
            lines.append(f"| {text}, first try | {len(some)} | {right(some, 'first result')} | {built(some, 'first result')} |")
            lines.append(f"| the same, now | {len(some)} | {right(some)} | {built(some)} |")
        else:
            lines.append(f"| {text} | {len(some)} | {right(some)} | {'not recorded' if name == 'listed' else built(some)} |")
    lines.append(f"| **all** | **{len(rows)}** | **{right(rows)}** | **{built(rows)}** |")
    return lines


def results(rows):
    lines = ["| | " + " | ".join(RESULTS) + " |", "|---|" + "--:|" * len(RESULTS)]
    for name, text in ROUNDS.items():
        counted = collections.Counter(row["result"] for row in rows if row["round"] == name)
        lines.append(f"| {text} | " + " | ".join(str(counted[result]) for result in RESULTS) + " |")
    counted = collections.Counter(row["result"] for row in rows)
    lines.append("| **all** | " + " | ".join(f"**{counted[result]}**" for result in RESULTS) + " |")
    kinds = collections.Counter(row["verdict"] for row in rows if row["result"] == "right")
    lines += ["", f"Of the {counted['right']} right ones {kinds['own']} say so themselves; {kinds['same output']} give no verdict but print what they",
              "print on the real GPU, or what sums made apart from them give."]
    return lines


def suites(rows):
    lines = ["| suite | source | tried | " + " | ".join(RESULTS) + " |", "|---|---|" + "--:|" * (1 + len(RESULTS))]
    groups = {}
    for row in rows:
        groups.setdefault((row["suite"], row["source"]), []).append(row["result"])
    small = [key for key, found in groups.items() if len(found) < 8]
    for key, found in groups.items():
        if key not in small:
            lines.append(f"| {key[0].split('/')[-1]} | {key[1]} | {len(found)} | " + " | ".join(str(found.count(r)) for r in RESULTS) + " |")
    found = sum((groups[key] for key in small), [])
    lines.append(f"| {len(small)} small ones | in the table | {len(found)} | " + " | ".join(str(found.count(r)) for r in RESULTS) + " |")
    return lines


def failures(rows):
    lines = ["| suite | program | command line | result | reason |", "|---|---|---|---|---|"]
    for row in rows:
        if row["result"] in ("wrong", "does not build"):
            command = f"`{row['command']}`" if row["command"] else ""
            program = row["program"] if len(row["program"]) < 70 else "…" + row["program"][-66:]
            lines.append(f"| {row['suite'].split('/')[-1]} | {program} | {command} | {row['result']} | {row['reason']} |".replace("  |", " |"))
    return lines


def first_tries(rows):
    """Why programs of the sample and after it failed when they were run for the first time."""
    causes = collections.Counter()
    for row in rows:
        if row["round"] != "listed" and row["first result"] in ("wrong", "does not build"):
            causes[row["first reason"]] += 1
    lines = ["| programs | cause |", "|--:|---|"]
    return lines + [f"| {count} | {cause} |" for cause, count in causes.most_common()]


PARTS = {"shares": shares, "results": results, "suites": suites, "failures": failures, "first tries": first_tries}


def made(page, rows):
    for name, make in PARTS.items():
        begin, end = f"<!-- {name}, made by programs.py -->\n", f"<!-- end of {name} -->"
        assert page.count(begin) == 1 and page.count(end) == 1, f"the page has no place for '{name}'"
        head, rest = page.split(begin)
        page = head + begin + "\n".join(make(rows)) + "\n" + end + rest.split(end)[1]
    return page


def main():
    page = PAGE.read_text(encoding="utf-8")
    wanted = made(page, table())
    if "--fix" in sys.argv[1:]:
        PAGE.write_text(wanted, encoding="utf-8")
    elif page != wanted:
        print("docs/programs.md is not what docs/programs.tsv says; write it anew with: docs/programs.py --fix")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
