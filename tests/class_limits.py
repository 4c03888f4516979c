"""No class of the compiler does too much: at most 40 member functions and 15 data members, no function above 60 lines.

class_limits.py SRC [FOLDER ...]: looks at the folders jit and simt of SRC, or at those that are named, with universal-ctags;
without it the test is skipped (status 77). What may be larger stands in EXCEPTIONS, with its reason and its size: it must
not grow.
"""

import collections
import json
import pathlib
import subprocess
import sys

MOST_FUNCTIONS, MOST_MEMBERS, MOST_LINES = 40, 15, 60
# class: (functions, data members)
EXCEPTIONS = {
    "Lower": (93, 10),  # the bodies of pure instructions, one for each row of the table; those of ptx.def not counted
    "Plan": (0, 22),  # the list of the plan's parts
}
# function: lines
LONG_FUNCTIONS = {
    "Operands::specialBase": 62,  # a table
    "LaneAccess::sparseStore": 64,  # a function of the module, instruction by instruction
}
SKIPPED = 77


def tags(files):
    command = ["ctags", "--languages=C++", "--langmap=C++:.hpp.cpp", "--kinds-C++=+p", "--fields=+KSnes",
               "--output-format=json", "-f", "-", *map(str, files)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def classes(found):
    """By class: its functions, each overload once, and its data members."""
    functions, members = collections.defaultdict(set), collections.defaultdict(set)
    for tag in found:
        if tag.get("scopeKind") not in ("class", "struct"):
            continue
        scope = tag["scope"].split("::")[-1]
        if tag["kind"] in ("prototype", "function") and tag["path"].endswith(".hpp"):
            functions[scope].add((tag["name"], tag.get("signature")))
        elif tag["kind"] == "member":
            members[scope].add(tag["name"])
    return functions, members


def complaints(found):
    functions, members = classes(found)
    for name in sorted(functions.keys() | members.keys()):
        size = len(functions[name]), len(members[name])
        most = EXCEPTIONS.get(name, (MOST_FUNCTIONS, MOST_MEMBERS))
        if size[0] > most[0] or size[1] > most[1]:
            yield f"class {name}: {size[0]} functions and {size[1]} data members, at most {most[0]} and {most[1]}"
    for tag in found:
        if tag["kind"] != "function" or "end" not in tag:
            continue
        name = "::".join([*tag.get("scope", "").split("::")[-1:], tag["name"]])
        lines = tag["end"] - tag["line"] + 1
        if lines > LONG_FUNCTIONS.get(name, MOST_LINES):
            yield f"{tag['path']}:{tag['line']}: {name} has {lines} lines, at most {LONG_FUNCTIONS.get(name, MOST_LINES)}"


def main():
    source, folders = pathlib.Path(sys.argv[1]), sys.argv[2:] or ["jit", "simt"]
    try:
        version = subprocess.run(["ctags", "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        version = ""
    if "Universal Ctags" not in version:
        print("skipped: universal-ctags is not installed")
        return SKIPPED
    files = sorted(f for folder in folders for f in (source / folder).glob("*.[ch]pp") if not f.stem.endswith("_test"))
    found = list(complaints(tags(files)))
    print("\n".join(found) or f"{len(files)} files of {', '.join(folders)} keep the limits")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
