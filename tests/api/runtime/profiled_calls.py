#!/usr/bin/env python3
"""What `ordito profile` says of library calls: how often, how long, and what the library says of its work.

    profiled_calls.py ORDITO CUFFT-PROGRAM CAPTURED-RANDOM-PROGRAM
"""
import json
import math
import subprocess
import sys


def profile(ordito: str, program: str, *options: str) -> str:
    return subprocess.run([ordito, "profile", *options, program], check=True, capture_output=True, text=True).stdout


def calls(ordito: str, program: str) -> dict[str, dict]:
    text = profile(ordito, program, "--json")
    return {call["name"]: call for call in json.loads(text[text.index("{"):])["library_calls"]}


def main(ordito: str, cufft: str, random: str) -> None:
    transforms = calls(ordito, cufft)
    for name in ("cufftExecR2C", "cufftExecC2R"):
        call = transforms[name]
        assert call["count"] == 1 and call["wall_ns"] > 0, call
        assert math.isclose(call["operations"], 2.5 * 48 * math.log2(48)), call
        assert call["bytes"] == (48 + 2 * 25) * 4, call
    # Three calls, and three launches of a graph with one.
    generated = calls(ordito, random)["curandGenerateUniform"]
    assert generated["count"] == 6 and generated["operations"] == 0, generated
    table = profile(ordito, cufft)
    assert "Calls of libraries" in table and "cufftExecR2C" in table and "GFLOP/s" in table, table


if __name__ == "__main__":
    main(*sys.argv[1:])
