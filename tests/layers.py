"""Reads src/LAYERS against every #include "…" of src/: an include may only go down that list or stay in its own folder.
usage: layers.py [folder of the sources]"""
import pathlib
import re
import sys


def violations(sources):
    lines = [line.split() for line in (sources / "LAYERS").read_text().splitlines() if line and line[0] != "#"]
    height = {folder: -number for number, line in enumerate(lines) for folder in line}
    for file in sorted(f for f in sources.rglob("*") if f.suffix in {".cpp", ".hpp", ".h", ".def", ".in"}):
        here = file.relative_to(sources).parts[0]
        if here not in height:
            yield f"{file}: the folder {here} is not in LAYERS"
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            included = re.match(r'\s*#\s*include\s*"([^"/]+)/', line)
            there = included and included[1]
            if there in height and there != here and height[there] >= height[here]:
                yield f"{file}:{number}: {here} must not include {there}: it is not below it in LAYERS"


if __name__ == "__main__":
    found = list(violations(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "src")))
    print("\n".join(found) or "all includes go down")
    sys.exit(bool(found))
