#!/usr/bin/env python3
"""Counts how many of CUDA's public names our headers have, and compares values and layouts with recorded ones.

    check.py names   FILE HEADER[,HEADER...] [--only VERSION] [--skip-without FILE] -- COMPILER OPTIONS...
    check.py layouts FILE HEADER[,HEADER...] -- COMPILER OPTIONS...
    check.py exports FILE LIBRARY[,LIBRARY...] [--only VERSION]

names/*.txt are lists of facts: a name, what it is (function, type, value, macro), the major versions of CUDA that have
it; a second column `-` stands before the reason for a name that we leave out. `names` compiles a program that mentions
each name on a line of its own and counts the lines that compile. layouts/*.txt hold sizes, offsets and values as the
public headers have them; `layouts` compiles an assertion for each. `exports` looks for the functions of a list among a
library's dynamic symbols.
"""
import argparse
import pathlib
import re
import subprocess
import sys
from collections import Counter


def rows(file):
    for line in pathlib.Path(file).read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split()


def compile_lines(headers, lines, compiler):
    """Compiles the lines after the headers and gives the numbers of those that do not compile."""
    includes = "".join(f"#include <{header}>\n" for header in headers.split(","))
    source = includes + '#line 1 "checked"\n' + "\n".join(lines) + "\n"
    done = subprocess.run([*compiler, "-fsyntax-only", "-ferror-limit=0", "-w", "-x", language(compiler), "-"], input=source, text=True,
                          stderr=subprocess.PIPE)
    errors = re.findall(r"^(.*?):(\d+):\d+: (?:fatal )?error: (.*)$", done.stderr, re.M)
    foreign = [error for error in errors if error[0] != "checked"]
    if foreign or (done.returncode and not errors):
        sys.exit(f"the headers do not compile: {foreign[:3] or done.stderr[:500]}")
    return {int(number): text for file, number, text in errors}


def language(compiler):
    return "cuda" if any(option.startswith("--cuda") for option in compiler) else "c++"



def check_names(file, headers, only, compiler):
    left_out = [row for row in rows(file) if row[1] == "-"]
    wanted = [row for row in rows(file) if row[1] != "-" and (not only or only in row[2].split(","))]
    lines = []
    for index, (name, kind, _) in enumerate(wanted):
        # A value may be a macro in one version and an enumerator in another.
        using = f"namespace n{index} {{ using ::{name}; }}"
        lines += [f"#ifndef {name}", "#error missing" if kind == "macro" else using, "#endif"]
    missing = {(number - 1) // 3 for number in compile_lines(headers, lines, compiler)}
    have, total = Counter(), Counter()
    for index, (name, kind, versions) in enumerate(wanted):
        for version in versions.split(","):
            total[version] += 1
            have[version] += index not in missing
    share = ", ".join(f"CUDA {version}: {have[version]} of {total[version]}" for version in sorted(total))
    print(f"{pathlib.Path(file).stem}: {len(wanted) - len(missing)} of {len(wanted)} names ({share}); left out {len(left_out)}")
    for index in sorted(missing):
        print("missing:", *wanted[index])
    return not missing


def check_layouts(file, headers, compiler):
    facts = list(rows(file))
    lines = []
    for kind, *rest in facts:
        if kind == "sizeof":
            lines.append(f"static_assert(sizeof({rest[0]}) == {rest[1]});")
        elif kind == "offsetof":
            lines.append(f"static_assert(__builtin_offsetof({rest[0]}, {rest[1]}) == {rest[2]});")
        else:
            lines.append(f"static_assert((long long)({rest[0]}) == {rest[1]});")
    wrong = compile_lines(headers, lines, compiler)
    print(f"{pathlib.Path(file).stem}: {len(facts) - len(wrong)} of {len(facts)} sizes, offsets and values")
    for number, text in sorted(wrong.items()):
        print("differs:", *facts[number - 1], "|", text)
    return not wrong


def check_exports(file, libraries, only):
    symbols = set()
    for library in libraries.split(","):
        listing = subprocess.run(["nm", "-D", "--defined-only", library], text=True, stdout=subprocess.PIPE, check=True).stdout
        symbols |= {line.split()[-1].split("@")[0] for line in listing.splitlines()}
    wanted = [name for name, kind, versions in (row[:3] for row in rows(file))
              if kind == "function" and (not only or only in versions.split(","))]
    missing = [name for name in wanted if name not in symbols]
    print(f"{pathlib.Path(file).stem}: the library has {len(wanted) - len(missing)} of {len(wanted)} functions")
    for name in missing:
        print("missing:", name)
    return not missing


def main():
    own, compiler = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, compiler = own[:at], own[at + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["names", "layouts", "exports"])
    parser.add_argument("file")
    parser.add_argument("where")
    parser.add_argument("--only")
    parser.add_argument("--skip-without")
    arguments = parser.parse_args(own)
    if arguments.skip_without and not pathlib.Path(arguments.skip_without).exists():
        print(f"skipped: there is no {arguments.skip_without}")
        return 77
    if arguments.what == "names":
        good = check_names(arguments.file, arguments.where, arguments.only, compiler)
    elif arguments.what == "layouts":
        good = check_layouts(arguments.file, arguments.where, compiler)
    else:
        good = check_exports(arguments.file, arguments.where, arguments.only)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
