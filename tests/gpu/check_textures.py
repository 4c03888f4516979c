#!/usr/bin/env python3
"""What textures and surfaces answer (textures.cu), against what an H200 answered (textures.answers).

All must be equal, but for the last bits where KNOWN says so, with the reason in docs/accuracy.md.

usage: check_textures.py PATH/TO/ordito SCRATCH_FOLDER interp|jit
       check_textures.py --pack OUTPUT_OF_A_GPU        makes textures.answers of it
"""
import os
import pathlib
import re
import struct
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).parent
ANSWERS = HERE / "textures.answers"
# Names of experiments (regular expressions) and how far apart numbers may be; why, says docs/accuracy.md.
KNOWN = ((r"3d .* linear .*", 0.06), (r"2d sRGB .*", 0.006), (r".* half linear .*", 0.002))
# The direction of no length, which points at no face of a cube.
NO_DIRECTION = 36


def experiments(data):
    found, at = {}, 0
    while at < len(data):
        end = data.index(b"\n", at)
        name, _, size = data[at:end].decode().rpartition(": ")
        at = end + 1 + int(size)
        found[name] = data[end + 1:at]
    return found


def answers_of(ordito, scratch, engine):
    scratch.mkdir(parents=True, exist_ok=True)
    program, output = scratch / f"textures_{engine}", scratch / f"{engine}.out"
    subprocess.run([ordito, "nvcc", "-std=c++17", HERE / "textures.cu", "-o", program], check=True)
    subprocess.run([ordito, "run", program, output], check=True, env={**os.environ, "ORDITO_ENGINE": engine})
    return experiments(output.read_bytes())


def number(word):
    return struct.unpack("<f", word)[0]


def allowed(name):
    return max((limit for pattern, limit in KNOWN if re.fullmatch(pattern, name)), default=0)


def differences(name, ours, theirs):
    """(place, ours, the GPU's) of all words that are further apart than is allowed."""
    for at in range(0, max(len(ours), len(theirs)), 4):
        a, b = ours[at:at + 4], theirs[at:at + 4]
        if "cube" in name and at // (len(theirs) // 160) == NO_DIRECTION:
            continue
        if a != b and not (len(a) == len(b) == 4 and abs(number(a) - number(b)) <= allowed(name)):
            yield at // 4, a, b


def main():
    if sys.argv[1] == "--pack":
        ANSWERS.write_bytes(zlib.compress(pathlib.Path(sys.argv[2]).read_bytes(), 9))
        return
    ours = answers_of(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3])
    theirs = experiments(zlib.decompress(ANSWERS.read_bytes()))
    wrong = 0
    for name in sorted(set(ours) | set(theirs)):
        found = list(differences(name, ours.get(name, b""), theirs.get(name, b"")))
        wrong += bool(found)
        if found:
            place, a, b = found[0]
            numbers = f" ({number(a)} and {number(b)})" if len(a) == len(b) == 4 else ""
            print(f"{name}: {len(found)} differ; word {place} is {a[::-1].hex()}, on the GPU {b[::-1].hex()}{numbers}")
    print(f"{len(theirs)} experiments, {wrong} different")
    sys.exit(1 if wrong else 0)


main()
