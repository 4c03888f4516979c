#!/usr/bin/env python3
"""Every function of the runtime returns a cudaError_t, but those that turn an error into words and one that only fills a
structure. A launch is no function, and returns nothing.

usage: returns_test.py CUDA_RUNTIME_API_H
"""
import pathlib
import re
import sys

OTHERS = {"cudaGetErrorName", "cudaGetErrorString", "cudaCreateChannelDesc"}
LEAST = 180  # functions that the header has, so that a pattern that finds none is no success

text = re.sub(r"//[^\n]*|/\*.*?\*/", "", pathlib.Path(sys.argv[1]).read_text(), flags=re.S)
declared = re.findall(r"^([A-Za-z_][\w\s\*]*?)\b(cuda[A-Z]\w*)\(", text, re.M)
functions = {name: returned.split() for returned, name in declared if returned.split()[0] not in ("return", "#define")}
wrong = [f"{name} returns {' '.join(returned)}" for name, returned in functions.items()
         if ("cudaError_t" in returned) == (name in OTHERS)]
wrong += [f"{name} is not declared" for name in OTHERS - functions.keys()]
if len(functions) < LEAST:
    wrong.append(f"only {len(functions)} functions were found")
print("\n".join(wrong) or f"{len(functions)} functions, of which {len(OTHERS)} return something else")
sys.exit(bool(wrong))
