#!/usr/bin/env python3
"""What modelled caches say of walks.cu, on GPUs of several generations, against numbers derived by hand.

usage: caches_test.py PATH/TO/ordito SCRATCH_FOLDER
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
failed = []


def expect(what, got, wanted):
    if got != wanted:
        failed.append(f"{what}: {got}, expected {wanted}")


def launches(ordito, program, gpu, *options):
    command = [ordito, "profile", "--caches", "--json", "--gpu", gpu, *options, program]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    report = json.loads(text[text.index("{"):])
    return [launch | {"name": launch["kernel"].split("(")[0]} for launch in report["launches"]]


def path(launch, key):
    return launch[key]["sectors"], launch[key]["hits"]


def hopper(ordito, program):
    first, again, read_only, sectors, large, update, same, lanes, add, fill, mapped, changed = launches(ordito, program, "h200")
    # 128 sectors twice: the second time they are there. L1 begins empty in each launch, L2 does not.
    expect("L1 of a walk", path(first, "l1"), (256, 128))
    expect("L2 of a walk", path(first, "l2_reads"), (128, 0))
    expect("memory of a walk", first["dram_read_bytes"], 4096)
    expect("L1 again", path(again, "l1"), (256, 128))
    expect("L2 again", path(again, "l2_reads"), (128, 128))
    expect("memory again", again["dram_read_bytes"], 0)
    expect("read-only loads", path(read_only, "read_only"), (256, 128))
    expect("read-only loads ask L1 for nothing else", path(read_only, "l1"), (0, 0))
    expect("words of a sector", path(sectors, "l1"), (256, 224))
    # 512 KiB are more than 256, and what was used longest ago has left; L2 has the first 4 KiB and the sectors.
    expect("more than L1 holds", path(large, "l1"), (32768, 0))
    expect("but not more than L2", path(large, "l2_reads"), (32768, 16384 + 128 + 32))
    # From Volta on L1 keeps what a store has written.
    expect("a word that was stored is still in L1", path(update, "l1"), (8, 4))
    expect("stores go to L2", path(update, "l2_writes"), (4, 4))
    # Two sectors hold the ten words; a warp that reads one word asks once, one that reads 32 asks 32 times.
    expect("the same constant for all lanes", path(same, "constant"), (10, 8))
    expect("its requests", same["constant"]["requests"], 10)
    expect("a constant for each lane", path(lanes, "constant"), (32, 28))
    expect("its requests", lanes["constant"]["requests"], 1)
    expect("an atomic is L2's", (path(add, "l1"), path(add, "l2_reads"), path(add, "l2_writes")), ((0, 0), (1, 1), (1, 1)))
    expect("sectors of stores", fill["store_sectors"], 49152)
    expect("nothing is written back while L2 has room", fill["dram_written_bytes"], 0)


    # Pinned memory of the host: 128 bytes come over the link once, L1 has them for the other two passes.
    expect("read over the link", (mapped["host_read_bytes"], mapped["dram_read_bytes"], path(mapped, "l1")), (128, 0, (12, 8)))
    expect("written over the link", (changed["host_read_bytes"], changed["host_written_bytes"]), (128, 128))
    expect("and nothing else is", large["host_read_bytes"] + fill["host_written_bytes"], 0)


def switched_off(ordito, program):
    first = launches(ordito, program, "h200", "--l1", "off")[0]
    expect("L1 is passed", (path(first, "l1"), first["uncached_sectors"]), ((0, 0), 256))
    expect("and L2 asked twice", path(first, "l2_reads"), (256, 128))


def kepler(ordito, program):
    first, _, read_only, *_ = launches(ordito, program, "k40c")
    expect("Kepler's global loads pass L1", (path(first, "l1"), first["uncached_sectors"]), ((0, 0), 256))
    expect("Kepler's read-only cache", path(read_only, "read_only"), (256, 128))
    first = launches(ordito, program, "k40c", "--l1", "on")[0]
    # A miss brings 128 bytes: one miss for each of 32 lines, and four sectors of L2.
    expect("L1 that fills lines", path(first, "l1"), (256, 224))
    expect("by 128 bytes", path(first, "l2_reads"), (128, 0))


def older(ordito, program):
    fermi = launches(ordito, program, "c2070")
    expect("Fermi has no read-only path", (path(fermi[2], "read_only"), path(fermi[2], "l1")), ((0, 0), (256, 224)))
    expect("Fermi's L1 drops what is stored", path(fermi[5], "l1"), (8, 6))  # 1 of 4 misses, twice: a line of four
    # 1.5 MiB are twice what L2 holds: the first half, and what the launches before have written, has left.
    expect("written back", fermi[9]["dram_written_bytes"], 786432)
    pascal = launches(ordito, program, "p100")
    expect("Pascal's L1 drops what is stored", path(pascal[5], "l1"), (8, 0))
    expect("L2 has it", path(pascal[5], "l2_reads")[1] >= 4, True)
    tesla = launches(ordito, program, "gtx280")[0]
    expect("a GTX 280 has neither cache", (path(tesla, "l1"), path(tesla, "l2_reads"), tesla["dram_read_bytes"]),
           ((0, 0), (256, 0), 8192))


def table(ordito, program):
    done = subprocess.run([ordito, "profile", "--caches", program], capture_output=True, text=True)
    expect("the table", ("a model of the caches of a NVIDIA GeForce RTX 3090" in done.stdout, done.returncode), (True, 0))


def main():
    ordito, scratch = sys.argv[1], pathlib.Path(sys.argv[2])
    scratch.mkdir(parents=True, exist_ok=True)
    program = scratch / "walks"
    subprocess.run([ordito, "nvcc", HERE / "walks.cu", "-o", program], check=True)
    for part in (hopper, switched_off, kepler, older, table):
        part(ordito, program)
    print("\n".join(failed) or "all as derived")
    sys.exit(1 if failed else 0)


main()
