#!/usr/bin/env python3
"""Our counters against a real GPU's.

h200_counters.json holds what NVIDIA's profiler counted for the lab's programs on an H200. Branches, load requests, sectors
and wavefronts follow from the source and must be equal; instruction counts are a compiler's choice and are not compared. The
matrix report's study is checked against the bank rule instead, since nvcc widens its shared loads.

usage: check_counters.py PATH/TO/ordito
"""
import json
import pathlib
import subprocess
import sys

BRANCHES = "smsp__sass_branch_targets.sum"
DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
SHARED_READS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
SHARED_WRITES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"
READ_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
WRITE_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"

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


def recorded_variants(variants, recorded):
    """Each recorded launch with its variant: by name where the recording has it, else by kernel, in order. Variants that
    are younger than the recording are left out."""
    left = [v for v in variants.values() if v["launch_count"] > 0]
    for launch in recorded["launches"]:
        kernel = launch["kernel"].split("<")[0]
        same = [v for v in left if launch.get("variant", v["name"]) == v["name"] and kernel.startswith(v["kernel"])]
        if not same:
            failures.append(f"{recorded['program']}: no variant launches {launch['kernel']}")
            continue
        if same[0]["launch_count"] == 1:
            left.remove(same[0])
            yield same[0], launch


def compare(ordito, recorded, metrics):
    variants = lab(ordito, recorded["program"], recorded["size"])
    for variant, launch in recorded_variants(variants, recorded):
        for metric in metrics(variant["name"]):
            expect(f"{recorded['program']} {variant['name']} {metric}", variant["metrics"].get(metric),
                   launch["metrics"][metric])


def reduction_metrics(name):
    if name in ("shuffle", "single_pass"):  # their grids depend on the number of multiprocessors
        return []
    # The unrolled variants have one branch more in nvcc's code; what they must not have is a divergent one.
    exact = ["neighbored", "neighbored_less", "interleaved", "unroll2", "unroll4", "unroll8"]
    return [DIVERGENT, REQUESTS, SECTORS] + ([BRANCHES] if name in exact else [])


def transpose_metrics(_name):
    return [REQUESTS, SECTORS, SHARED_READS, SHARED_WRITES, READ_CONFLICTS]


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


def check_products(ordito, n):
    """What the courses say of their products: requests of each element's thread, and how rows, tiles and a transposed copy
    change what is loaded."""
    variants = lab(ordito, "matmul", n, "--all")

    def count(name, metric):
        return variants[name]["metrics"].get(metric)

    warps = n * n // 32
    expect("naive_32 requests: 2N loads for each thread", count("naive_32", REQUESTS), 2 * n * warps)
    for tile in (8, 16, 32):
        expect(f"tiled_{tile} requests are {tile} times fewer", count(f"tiled_{tile}", REQUESTS) * tile, 2 * n * warps)
    for better, worse in (("columns", "rows"), ("rows_transposed", "rows")):
        if not count(better, SECTORS) < count(worse, SECTORS):
            failures.append(f"{better} loads {count(better, SECTORS)} sectors, {worse} {count(worse, SECTORS)}")


def check_shared_reductions(ordito):
    variants = lab(ordito, "reduction", 65536, "--all")
    halves, neighbours = (variants[f"smem_{name}"]["metrics"][DIVERGENT] for name in ("interleaved", "neighbored"))
    if not halves < neighbours:
        failures.append(f"smem_interleaved has {halves} divergent branches, smem_neighbored {neighbours}")


def main():
    ordito = sys.argv[1]
    recorded = json.loads((pathlib.Path(__file__).parent / "h200_counters.json").read_text())
    for run in recorded["runs"]:
        if run["program"] == "reduction":
            compare(ordito, run, reduction_metrics)
        elif run["program"] == "transpose":
            compare(ordito, run, transpose_metrics)
    check_study(ordito, 256)
    check_products(ordito, 256)
    check_shared_reductions(ordito)
    check_study(ordito, 2048)  # the published size: all nine numbers of the report
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


main()
