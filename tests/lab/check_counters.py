#!/usr/bin/env python3
"""Our counters against a real GPU's.

h200_counters.json holds what NVIDIA's profiler counted on an H200 for every variant of the lab's programs, built by nvcc
(tests/gpu/lab_record.sh). Requests and sectors of global memory must be equal; wavefronts of shared memory within 2 %,
since the GPU adds a few passes, other ones in each run. Where nvcc makes other code of the source, or the GPU counts
otherwise, lab/differences.json says so; a difference that has gone must be taken out of it. Of the ladder of
reductions divergent branches are compared, too. Instruction counts are a compiler's choice and are not compared.

The matrix report's study is checked against the bank rule, at its published size too: all nine numbers.

usage: check_counters.py PATH/TO/ordito [--differences]    --differences prints those of all programs, and checks nothing
"""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
BRANCHES = "smsp__sass_branch_targets.sum"
DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
STORE_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
STORE_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
SHARED_READS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
SHARED_WRITES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
READ_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
WRITE_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
TOLERANCE = {REQUESTS: 0, SECTORS: 0, STORE_REQUESTS: 0, STORE_SECTORS: 0, SHARED_READS: 0.02, SHARED_WRITES: 0.02}
# The unrolled rungs have one branch more in nvcc's code; what they must not have is a divergent one.
SAME_BRANCHES = ("neighbored", "neighbored_less", "interleaved", "unroll2", "unroll4", "unroll8")
NO_DIVERGENCE = ("unroll8_warp", "unroll8_full", "template", "template_smem")

failures = []


def lab(ordito, program, size, *options):
    command = [ordito, "lab", "run", program, "--size", str(size), "--rounds", "1", "--json", *options]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with status {result.returncode}:\n{result.stderr}")
    return {variant["name"]: variant for variant in json.loads(result.stdout)["variants"]}


def expect(what, ours, theirs):
    if ours != theirs:
        failures.append(f"{what}: {ours}, expected {theirs}")


def recorded_sums(recorded):
    """The sums over each variant's launches."""
    sums = {}
    for launch in recorded["launches"]:
        of_variant = sums.setdefault(launch["variant"], {})
        for metric, value in launch["metrics"].items():
            if metric.endswith(".sum"):
                of_variant[metric] = of_variant.get(metric, 0) + value
    return sums


def differences(variants, recorded):
    """(variant, metric, ours, theirs) where they differ by more than the tolerance. Variants that are younger than the
    recording are left out."""
    for name, theirs in recorded_sums(recorded).items():
        for metric, tolerance in TOLERANCE.items():
            ours = variants[name]["metrics"].get(metric) if name in variants else None
            if ours is not None and abs(ours - theirs[metric]) > tolerance * theirs[metric]:
                yield name, metric, ours, theirs[metric]


def compare(variants, recorded, known):
    """`known` maps a variant's metric to why it differs."""
    program = recorded["program"]
    found = set()
    for name, metric, ours, theirs in differences(variants, recorded):
        found.add(f"{name} {metric}")
        if f"{name} {metric}" not in known:
            failures.append(f"{program} {name} {metric}: {ours}, the GPU {theirs}")
    for gone in set(known) - found:
        failures.append(f"{program} {gone} is as on the GPU now: take it out of lab/differences.json")


def check_ladder(variants, recorded):
    theirs = recorded_sums(recorded)
    for name in SAME_BRANCHES:
        for metric in (BRANCHES, DIVERGENT):
            expect(f"reduction {name} {metric}", variants[name]["metrics"].get(metric), theirs[name][metric])
    for name in NO_DIVERGENCE:
        expect(f"reduction {name} {DIVERGENT}", variants[name]["metrics"].get(DIVERGENT), 0)
    halves, neighbours = (variants[f"smem_{name}"]["metrics"][DIVERGENT] for name in ("interleaved", "neighbored"))
    if not halves < neighbours:
        failures.append(f"smem_interleaved has {halves} divergent branches, smem_neighbored {neighbours}")


def check_products(variants, n):
    """What the courses say of their products: requests of each element's thread, and how rows, tiles and a transposed copy
    change what is loaded."""

    def count(name, metric):
        return variants[name]["metrics"].get(metric)

    warps = n * n // 32
    expect("naive_32 requests: 2N loads for each thread", count("naive_32", REQUESTS), 2 * n * warps)
    for tile in (8, 16, 32):
        expect(f"tiled_{tile} requests are {tile} times fewer", count(f"tiled_{tile}", REQUESTS) * tile, 2 * n * warps)
    for name, flops_per_byte in (("naive_32", 0.25), ("tiled_8", 2), ("tiled_16", 4), ("tiled_32", 8)):
        requested = 32 * 4 * count(name, REQUESTS)  # every lane asks for 4 bytes
        expect(f"{name}: operations for each byte that is asked for", 2 * n**3 / requested, flops_per_byte)
    for better, worse in (("columns", "rows"), ("rows_transposed", "rows")):
        if not count(better, SECTORS) < count(worse, SECTORS):
            failures.append(f"{better} loads {count(better, SECTORS)} sectors, {worse} {count(worse, SECTORS)}")


def check_study(ordito, n):
    """A warp of a block narrower than the tile covers 4, 2 or 1 rows of it, which meet in the same banks."""
    warps = n * n // 32
    for side in (8, 16, 32):
        rows = max(1, 32 // side)
        steps = n // 32
        metrics = lab(ordito, "matmul", n, "--variant", f"study_{side}")[f"study_{side}"]["metrics"]
        expect(f"study_{side} shared reads", metrics.get(SHARED_READS), warps * n * (rows + 1))
        expect(f"study_{side} shared writes", metrics.get(SHARED_WRITES), warps * steps * 2 * rows)
        conflicts = metrics.get(READ_CONFLICTS, 0) + metrics.get(WRITE_CONFLICTS, 0)
        expect(f"study_{side} conflicts", conflicts, warps * (n + 2 * steps) * (rows - 1))


def main():
    ordito = sys.argv[1]
    recording = json.loads((HERE / "h200_counters.json").read_text())
    known = json.loads((HERE.parent.parent / "lab" / "differences.json").read_text())
    why = {program: {f"{variant} {metric}" for entry in entries for variant in entry["variants"]
                     for metric in entry["metrics"]} for program, entries in known["programs"].items()}
    for run in recording["runs"]:
        program = run["program"]
        variants = lab(ordito, program, run["size"], "--all", "--gpu", "h200")
        if "--differences" in sys.argv[2:]:
            for difference in differences(variants, run):
                print(program, *difference)
            continue
        compare(variants, run, why.get(program, set()))
        if program == "reduction":
            check_ladder(variants, run)
        elif program == "matmul":
            check_products(variants, run["size"])
    if "--differences" in sys.argv[2:]:
        return
    check_study(ordito, 2048)
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


main()
