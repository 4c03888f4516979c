#!/usr/bin/env python3
"""The table of docs/libraries.md: what of a library there is, by its table of names.

    functions.py include/tables/cublas.table

A function is listed once for all its types and forms: `{SDCZ}gemm` stands for cublasSgemm, cublasDgemm ..., each also with
sizes of 64 bits (`_64`) where CUDA has that.
"""
import re
import sys


def base(name: str) -> str:
    """The name without version and size of its sizes."""
    return name.removesuffix("_64").removesuffix("_v2")


# What the letters of the types stand in front of, where a letter less would be another function.
NAMES = (("", "(Sc|Dz|S|D)(nrm2|asum)"), ("", "(Cs|Zd)(scal|rot)"), ("I", "([sdcz])(am\\w+)"),
         ("Xt", "([SDCZ])((?:gemm|hemm|her|spmm|symm|syr|trmm|trsm)\\w*)"),
         ("", "([SDCZH])((?!etS|etV|reate|estroy|hutdown|wap[A-Z]|cal[A-Z]|opy[A-Z]|ot[A-Z]|otc[A-Z])[a-z]\\w*)"))


def split(name: str) -> tuple[str, str]:
    """The letters of the types, and what is computed: ("S", "gemm")."""
    plain = name.removeprefix("cublas")
    for prefix, pattern in NAMES:
        match = re.match(f"{prefix}{pattern}$", plain)
        if match and not re.match("Set|Get|Free|Init|Copy|Rot|Uint", plain):
            return match[1], prefix + match[2]
    return "", plain


def grouped(names: list[str]) -> list[str]:
    """Names of one function together: `{SD}dot`."""
    types: dict[str, list[str]] = {}
    for name in dict.fromkeys(base(name) for name in names):
        letters, function = split(name)
        types.setdefault(function, []).append(letters)
    return [f"{{{','.join(t)}}}{f}" if t != [""] else f for f, t in types.items()]


def rows(path: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"call": [], "legacy": [], "refuse": [], "stub": []}
    header = ""
    for line in open(path):
        words = line.split()
        if words and words[0] == "header":
            header = words[1]
        if words and words[0] in ("call", "refuse"):
            name = re.search(r"(\w+)\(", line)[1]
            found["legacy" if header == "cublas.h" and words[0] == "call" else words[0]].append(name)
        if words and words[0] == "stub":
            found["stub"].append(words[1])
    return found


def main(path: str) -> None:
    found = rows(path)
    print("| | exported names | functions |\n|---|--:|---|")
    for title, kinds in (("work", ["call"]), ("without a handle (`cublas.h`)", ["legacy"]), ("refused", ["refuse", "stub"])):
        names = [name for kind in kinds for name in found[kind]]
        print(f"| {title} | {len(names)} | {' '.join(f'`{g}`' for g in grouped(names))} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
