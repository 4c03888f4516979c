#!/usr/bin/env python3
"""Mutations of correct kernels under `ordito check`: what the interpreter convicts, compiled code and proofs convict.

usage: mutations_fuzz.py ORDITO FOLDER [--seed N] [--programs N] [--kernels N] [--jobs N]

Each kernel of mutations.py gets a random size and one mutation; one in sixteen gets none and must be clean. The oracle
runs every block in the interpreter with all rules. It is compared with the default (all rules, with proofs) and with
compiled code (--no-uninitialised), which must have the same findings at the same lines, but for the rules that follow
values.
"""
import collections
import concurrent.futures
import random
import sys

import mutations
import random_programs

FOLLOWING = {"memory.uninitialised", "memory.uninitialised_copy", "sync.inactive_lane"}
RUNS = {"oracle": ([], {"ORDITO_ENGINE": "interp", "ORDITO_CHECK_PROOFS": "0"}), "all rules": ([], {}),
        "compiled": (["--no-uninitialised"], {"ORDITO_ENGINE": "jit"})}


class Kernel:
    def __init__(self, rng, number):
        self.name, self.what = f"k{number}", rng.choice(list(mutations.KERNELS))
        block, grid = rng.choice([32, 64, 128]), rng.choice([2, 3, 5, 8, 72])
        sizes = {"block": block, "grid": grid, "n": block * grid, "value": rng.randrange(2, 9),
                 "fill": rng.randrange(2)}
        self.sizes = sizes
        body = mutations.Marked(mutations.KERNELS[self.what].format(**sizes))
        host = mutations.Marked(mutations.HOST.format(**sizes))
        places = [(kind, body, m) for kind in mutations.KINDS for m in body.places(kind)]
        places += [("Z", host, m) for m in host.places("Z")]
        kind = rng.choice(sorted({p[0] for p in places}))  # as many of each kind
        self.kind, where, mark = rng.choice([p for p in places if p[0] == kind])
        shift = rng.choice(mutations.SHIFTS)
        if rng.random() < 1 / 16:
            self.kind, where = None, None
        self.body = body.plain(mark, shift) if where is body else body.plain()
        self.host = host.plain(mark) if where is host else host.plain()

    def text(self):
        return f"__global__ void {self.name}(const int* in, int* out, int* words, int* zeros) {{  // {self.what}, " \
            f"{mutations.KINDS.get(self.kind, 'right')}{self.body}\n}}\n"

    def launch(self):
        size = f"{self.sizes['n']} * 4"
        return f"""  {{
    int *in, *out, *words, *zeros;
    cudaMalloc(&in, {size}), cudaMalloc(&out, {size}), cudaMalloc(&words, {size}), cudaMalloc(&zeros, 128);
    cudaMemset(zeros, 0, 128);
    {self.host}
    {self.name}<<<{self.sizes['grid']}, {self.sizes['block']}>>>(in, out, words, zeros);
    cudaDeviceSynchronize();
  }}
"""


def check(ordito, executable, run):
    found = collections.defaultdict(set)
    for rule, kernel, lines in random_programs.check(ordito, executable, *RUNS[run])[0]:
        found[kernel].add((rule, lines))
    return found


def compare(kernel, source, found):
    """Prints what the runs disagree on; is there something?"""
    wrong = False
    oracle = found["oracle"][kernel.name]
    line = source.split(f" {kernel.name}(")[0].count("\n") + 1
    for run, wanted in (("all rules", oracle), ("compiled", {f for f in oracle if f[0] not in FOLLOWING})):
        if (has := found[run][kernel.name]) != wanted:
            wrong = True
            print(f"{kernel.name} ({kernel.what}, {kernel.kind}) in line {line}, {run}: lacks {sorted(wanted - has)}, "
                  f"has besides {sorted(has - wanted)}", flush=True)
    if kernel.kind is None and oracle:
        wrong = True
        print(f"{kernel.name} ({kernel.what}) in line {line} is right and convicted of {sorted(oracle)}", flush=True)
    return wrong


def judge(options, seed):
    """The kernels of one program, what each run has found, and how many it disagrees on."""
    rng = random.Random(seed)
    kernels = [Kernel(rng, k) for k in range(options.kernels)]
    source = options.folder / f"mutations{seed}.cu"
    text = random_programs.program(kernels)
    executable = random_programs.build(options.ordito, source, text)
    found = {run: check(options.ordito, executable, run) for run in RUNS}
    different = [k for k in kernels if compare(k, text, found)]
    if different:
        print(f"{len(different)} kernels of {source}", flush=True)
    else:
        executable.unlink()
    return kernels, found, len(different)


def main():
    options = random_programs.options(programs=1, kernels=32)
    made, convicted, wrong = collections.Counter(), collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        seeds = range(options.seed, options.seed + options.programs)
        for kernels, found, different in pool.map(lambda seed: judge(options, seed), seeds):
            wrong += different
            for k in kernels:
                made[k.kind] += 1
                for run in RUNS:
                    convicted[k.kind, run] += bool(found[run][k.name])
    for kind, name in [*mutations.KINDS.items(), (None, "right")]:
        print(f"{name}: {made[kind]} kernels, convicted by " +
              ", ".join(f"{run} {convicted[kind, run]}" for run in RUNS))
    print(f"{options.programs} programs, {made.total() - made[None]} mutations, {wrong} kernels judged differently")
    sys.exit(1 if wrong or not convicted.total() else 0)


if __name__ == "__main__":
    main()
