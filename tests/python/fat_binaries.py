#!/usr/bin/env python3
"""Lists what the fat binaries in a program's or a library's file hold: how many pieces of PTX and of machine code, for which
architecture. An entry tells that without being unpacked.

    fat_binaries.py FILE...
"""
import collections
import mmap
import struct
import sys

MAGIC = struct.pack("<I", 0xBA55ED50)
HEADER = struct.Struct("<4xHHQ")  # version, bytes of this header, bytes of the entries
ENTRY = struct.Struct("<HHIQ")  # kind, version, bytes of this header, bytes of the content
ARCHITECTURE = 28  # where it is in an entry's header
KINDS = {1: "PTX", 2: "machine code"}


def entries(data, start):
    """Kind, architecture and bytes of each entry of the fat binary, and where it ends."""
    version, header, size = HEADER.unpack_from(data, start)
    if version != 1 or header != HEADER.size:
        return None
    found, at, end = [], start + header, start + header + size
    while at < end:
        kind, _, header, size = ENTRY.unpack_from(data, at)
        found.append((KINDS.get(kind, f"kind {kind}"), *struct.unpack_from("<I", data, at + ARCHITECTURE), size))
        at += header + size
    return found, end


def count(path):
    pieces, sizes, at, binaries = collections.Counter(), collections.Counter(), 0, 0
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        while (at := data.find(MAGIC, at)) >= 0:
            read = entries(data, at)
            if read is None:
                at += len(MAGIC)
                continue
            binaries += 1
            for kind, architecture, size in read[0]:
                pieces[kind, architecture] += 1
                sizes[kind, architecture] += size
            at = read[1]
    return binaries, pieces, sizes


for path in sys.argv[1:]:
    binaries, pieces, sizes = count(path)
    print(f"{path}: {binaries} fat binaries")
    for kind, architecture in sorted(pieces):
        print(f"  {kind} for {architecture}: {pieces[kind, architecture]} pieces, {sizes[kind, architecture]} bytes")
