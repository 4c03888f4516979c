#!/usr/bin/env python3
"""What textures and surfaces answer (textures.cu, mipmaps.cu), against what an H200 answered (*.answers).

All must be equal, but for the last bits where KNOWN says so, with the reason in docs/accuracy.md.

usage: check_textures.py textures|mipmaps PATH/TO/ordito SCRATCH_FOLDER interp|jit
       check_textures.py textures|mipmaps --pack OUTPUT_OF_A_GPU        makes the answers of it
"""
import os
import pathlib
import re
import struct
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).parent
# Names of experiments (regular expressions) and how far apart numbers may be; why, says docs/accuracy.md.
KNOWN = {
    "textures": ((r"3d .* linear .*", 0.06), (r"2d sRGB .*", 0.006), (r".* half linear .*", 0.002)),
    "mipmaps": ((r"3d .* linear .*", 0.06), (r".* numbers .* gradient", 1 / 128), (r".* both linear .*", 0.04),
                (r".* half .*linear .*", 0.002)),
}
POINTS = {"textures": 160, "mipmaps": 512}
# The direction of no length, which points at no face of a cube.
NO_DIRECTION = {"textures": 36, "mipmaps": None}
# Gradients of cube maps are refused (docs/accuracy.md).
REFUSED = re.compile(r"cube .* gradient")


def experiments(data):
    found, at = {}, 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, _, size = data[at:end].decode().rpartition(": ")
        at = end + 1 + int(size)
        found[name] = data[end + 1:at]
    return found


def answers_of(which, ordito, scratch, engine):
    scratch.mkdir(parents=True, exist_ok=True)
    program, output = scratch / f"{which}_{engine}", scratch / f"{which}_{engine}.out"
    subprocess.run([ordito, "nvcc", "-std=c++17", HERE / f"{which}.cu", "-o", program], check=True)
    subprocess.run([ordito, "run", program, output], check=True, env={**os.environ, "ORDITO_ENGINE": engine})
    return experiments(output.read_bytes())


def number(word):
    return struct.unpack("<f", word)[0]


def allowed(which, name):
    return max((limit for pattern, limit in KNOWN[which] if re.fullmatch(pattern, name)), default=0)


def differences(which, name, ours, theirs):
    """(place, ours, the GPU's) of all words that are further apart than is allowed."""
    for at in range(0, max(len(ours), len(theirs)), 4):
        a, b = ours[at:at + 4], theirs[at:at + 4]
        if "cube" in name and at // (len(theirs) // POINTS[which]) == NO_DIRECTION[which]:
            continue
        if a != b and not (len(a) == len(b) == 4 and abs(number(a) - number(b)) <= allowed(which, name)):
            yield at // 4, a, b


def main():
    which = sys.argv[1]
    recorded = HERE / f"{which}.answers"
    if sys.argv[2] == "--pack":
        recorded.write_bytes(zlib.compress(pathlib.Path(sys.argv[3]).read_bytes(), 9))
        return
    ours = answers_of(which, sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4])
    theirs = experiments(zlib.decompress(recorded.read_bytes()))
    wrong = 0
    for name in sorted(set(ours) | set(theirs)):
        if which == "mipmaps" and REFUSED.fullmatch(name):
            continue
        found = list(differences(which, name, ours.get(name, b""), theirs.get(name, b"")))
        wrong += bool(found)
        if found:
            place, a, b = found[0]
            numbers = f" ({number(a)} and {number(b)})" if len(a) == len(b) == 4 else ""
            print(f"{name}: {len(found)} differ; word {place} is {a[::-1].hex()}, on the GPU {b[::-1].hex()}{numbers}")
    print(f"{len(theirs)} experiments, {wrong} different")
    sys.exit(1 if wrong else 0)


main()
