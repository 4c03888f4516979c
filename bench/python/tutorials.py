#!/usr/bin/env python3
"""Runs one of Triton's tutorials (a folder python/tutorials of Triton's sources) without what it measures.

    ordito run PYTHON_WITH_TRITON_AND_PYTORCH tutorials.py FILE

Twice, in one process: the second time, whose seconds are told, finds the compiled kernels in the caches. What the tutorial
itself compares with PyTorch decides whether it is right. TRITON_INTERPRET=1 has Triton's interpreter run it.
"""
import contextlib
import io
import json
import os
import pathlib
import runpy
import sys
import time

import triton


def tests_of(names):
    """Flash attention leaves its comparison to pytest: here the smallest of its sizes, forwards and backwards. As pytest
    has it (PYTEST_VERSION), with one shape of blocks: the interpreter has no error for those that do not fit."""
    if "test_op" in names:
        for causal in (False, True):
            names["test_op"](Z=1, H=2, N_CTX=128, HEAD_DIM=64, causal=causal, warp_specialize=False, mode="bwd",
                             provider="triton-fp16")


def run(path):
    said = io.StringIO()
    begin = time.perf_counter()
    with contextlib.redirect_stdout(said):
        tests_of(runpy.run_path(str(path), run_name="tutorial"))
    seconds = time.perf_counter() - begin
    return seconds, said.getvalue()


def main(path):
    os.environ.setdefault("PYTEST_VERSION", "as under pytest")
    triton.testing.Mark.run = lambda *_, **__: None
    first, _ = run(path)
    second, said = run(path)
    print(said)
    # The matrix product says whether it is right, and goes on. The others assert.
    print(json.dumps({"tutorial": path.stem, "first s": first, "second s": second, "right": "❌" not in said}))
    return 1 if "❌" in said else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
