"""No class of the compiler does too much: at most 40 member functions and 15 data members, no function above 60 lines.

class_limits.py SRC [FOLDER ...]: looks at the folders ir, simt and jit of SRC, or at those that are named, with
universal-ctags; without it the test is skipped (status 77). A class that declares functions by including a chapter of
the instruction table has as many more. A table may be longer: it stands in TABLES, with its size, and must not grow.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

MOST_FUNCTIONS, MOST_MEMBERS, MOST_LINES = 40, 15, 60
# function: lines
TABLES = {
    "Operands::specialBase": 62,  # a row for each special register
}
SKIPPED = 77


def tags(files):
    command = ["ctags", "--languages=C++", "--langmap=C++:.hpp.cpp", "--kinds-C++=+p", "--fields=+KSnes",
               "--output-format=json", "-f", "-", *map(str, files)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def rows(source, path, first, last):
    """How many pure rows the class in these lines of a file includes."""
    lines = pathlib.Path(path).read_text().splitlines()[first - 1:last]
    tables = re.findall(r'#include "(isa/ptx/\w+\.def)"', "\n".join(lines))
    return sum(len(re.findall(r"^PTX\(.*, Pure, ", (source / table).read_text(), re.M)) for table in tables)


def classes(found, source):
    """By class: its name, the number of its functions, each overload once, and that of its data members."""
    names, included = {}, {}
    functions, members = collections.defaultdict(set), collections.defaultdict(set)
    for tag in found:  # two files may have a class of the same name that only they see
        if tag["kind"] in ("class", "struct"):
            key = tag["path"], "::".join(filter(None, [tag.get("scope"), tag["name"]]))
            names[key] = tag["name"]
            included[key] = rows(source, tag["path"], tag["line"], tag.get("end", tag["line"]))
    for tag in found:
        key = tag["path"], tag.get("scope")
        if key in names and tag["kind"] in ("prototype", "function"):
            functions[key].add((tag["name"], tag.get("signature")))
        elif key in names and tag["kind"] == "member":
            members[key].add(tag["name"])
    for key, name in names.items():
        yield name, len(functions[key]) + included[key], len(members[key])


def complaints(found, source):
    for name, functions, members in classes(found, source):
        if functions > MOST_FUNCTIONS or members > MOST_MEMBERS:
            yield (f"class {name}: {functions} functions and {members} data members, "
                   f"at most {MOST_FUNCTIONS} and {MOST_MEMBERS}")
    for tag in found:
        if tag["kind"] != "function" or "end" not in tag:
            continue
        name = "::".join([*tag.get("scope", "").split("::")[-1:], tag["name"]])
        lines = tag["end"] - tag["line"] + 1
        if lines > TABLES.get(name, MOST_LINES):
            yield f"{tag['path']}:{tag['line']}: {name} has {lines} lines, at most {TABLES.get(name, MOST_LINES)}"


def main():
    source, folders = pathlib.Path(sys.argv[1]), sys.argv[2:] or ["ir", "simt", "jit"]
    try:
        version = subprocess.run(["ctags", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        version = ""
    if "Universal Ctags" not in version:
        print("skipped: universal-ctags is not installed")
        return SKIPPED
    files = sorted(f for folder in folders for f in (source / folder).glob("*.[ch]pp") if not f.stem.endswith("_test"))
    found = list(complaints(tags(files), source))
    print("\n".join(found) or f"{len(files)} files of {', '.join(folders)} keep the limits")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
