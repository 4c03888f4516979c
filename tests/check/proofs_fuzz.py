#!/usr/bin/env python3
"""Random kernels under `ordito check`, once with proofs and once with every block told: both must convict alike.

usage: proofs_fuzz.py ORDITO FOLDER [--seed N] [--programs N] [--kernels N]

A kernel is made of a few statements whose indices follow from blockIdx, threadIdx, loops and constants, most of them
right and some not: they go past an end, are misaligned, lie on another block's, lack a barrier, or read what nobody
wrote. What is compared is the set of rules and kernels; how often a proof held is printed, so that nobody compares
nothing.
"""
import random
import sys

import random_programs

MODES = [["--no-uninitialised"], []]
INDICES = [
    "blockIdx.x * blockDim.x + threadIdx.x",
    "blockIdx.x * blockDim.x + threadIdx.x",
    "blockIdx.x * blockDim.x + threadIdx.x",
    "threadIdx.x * gridDim.x + blockIdx.x",
    "blockIdx.x * {step} + threadIdx.x",
    "(gridDim.x - 1 - blockIdx.x) * blockDim.x + threadIdx.x",
    "(blockIdx.x * blockDim.x + threadIdx.x) / 2",
    "(blockIdx.x * blockDim.x + threadIdx.x) ^ 1",
    "((blockIdx.x << 6) | threadIdx.x)",
    "(blockIdx.x & 3) * blockDim.x + threadIdx.x",
    "(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x",
    "blockIdx.y * {pitch} + blockIdx.x * blockDim.x + threadIdx.x",
    "blockIdx.x",
    "threadIdx.x",
]


class Kernel:
    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.is_careful = rng.random() < 0.5  # it makes few mistakes
        self.block = rng.choice([32, 64, 64, 128])
        self.grid = (rng.choice([2, 3, 7, 16]), rng.choice([1, 1, 1, 3]))
        self.n = self.grid[0] * self.grid[1] * self.block - rng.choice([0, 0, 0, 1, 17])
        self.length = self.grid[0] * self.grid[1] * self.block + rng.choice([0, 0, 8, 8 if self.is_careful else -1])

    def index(self):
        if self.is_careful and self.rng.random() < 0.9:
            return INDICES[self.rng.choice([0, 3, 5, 10])] if self.grid[1] == 1 else INDICES[10]
        step = self.block + self.rng.choice([0, 0, 0, 4, -1])
        pitch = self.grid[0] * self.block + self.rng.choice([0, 0, -2])
        text = self.rng.choice(INDICES).format(step=step, pitch=pitch)
        return text if self.rng.random() < 0.85 else f"{text} + {self.rng.choice([1, 2, -1])}"

    def guarded(self, body):
        kind = self.rng.randrange(10)
        if kind < 5 or (self.is_careful and kind in (6, 8, 9)):
            return f"if (i < n) {{ {body} }}"
        if kind < 6:
            return f"if (i >= 1 && i + 1 < n) {{ {body} }}"
        if kind < 7:
            return f"if (in[threadIdx.x] > 3) {{ {body} }}"
        if kind < 8:
            return f"if (blockIdx.x != 1) {{ {body} }}"
        if kind < 9:
            choice = self.rng.choice(["max(i, other)", "min(i, other)", "max(min(i, other), blockIdx.y)"])
            other = f"blockIdx.y * {self.rng.choice([1, 64, self.n // 2])} + blockIdx.x * {self.rng.choice([0, 1, 64])}"
            return f"{{ unsigned other = {other}; if ({choice} < n) {{ {body} }} }}"
        return body

    def statement(self):
        rng = self.rng
        kind = rng.randrange(12)
        if kind >= 9:
            return self.loaded()
        if kind < 3:
            return self.guarded(f"out[i] = in[{rng.choice(['i', 'i', 'i', self.index()])}] + {rng.randrange(9)};")
        if kind == 3:
            return self.guarded("out[i] += in[i];")
        if kind == 4:
            return self.guarded(f"atomicAdd(&out[{rng.choice(['0', 'i', 'threadIdx.x', self.index()])}], 1);")
        if kind == 5:
            barrier = rng.choice(["__syncthreads();", "__syncthreads();", "__syncthreads();", ""])
            other = rng.choice(["blockDim.x - 1 - threadIdx.x", "threadIdx.x ^ 1", "0"])
            fill = rng.choice(["i < n ? in[i] : 0", "int(i)", "in[threadIdx.x]"])
            first = rng.choice(["", "", "", "if (threadIdx.x != 5) "])
            return f"{first}part[threadIdx.x] = {fill}; {barrier} " + self.guarded(f"out[i] = part[{other}];") + \
                " __syncthreads();"
        if kind == 6:
            limit = rng.choice(["4", "n / (gridDim.x * blockDim.x)", "blockIdx.x"])
            return f"for (unsigned k = 0; k < {limit}; ++k) sum += in[{rng.choice(['k', 'i', 'k * 2 + threadIdx.x'])}];"
        if kind == 7:
            stride = rng.choice(["gridDim.x * blockDim.x", "gridDim.x * blockDim.x", "blockDim.x"])
            return f"for (unsigned k = i; k < n; k += {stride}) out[k] = in[k] * 2;"
        return "for (unsigned s = blockDim.x / 2; s > 0; s /= 2) { if (threadIdx.x < s) part[threadIdx.x] += " \
               "part[threadIdx.x + s]; __syncthreads(); }" if rng.random() < 0.5 else \
               self.guarded("reinterpret_cast<int2*>(out)[i / 2] = int2{1, 2};")

    def loaded(self):
        """Loaded data decides where it goes, and in a loop how often."""
        rng = self.rng
        index = rng.choice(["in[i] & 15", "in[i] & 15", "in[i] & 31", "in[i] + i", "(in[i] >> 20) + i", "-in[i]"])
        kind = rng.randrange(7)
        if kind == 0:
            return self.guarded(f"sum += in[{index}];")
        if kind >= 5:
            return self.covered()
        if kind == 1:
            fill, end = rng.choice([("__syncthreads();", "__syncthreads();"), ("__syncthreads();", ""), ("", "")])
            return f"part[threadIdx.x] = 0; {fill} " + self.guarded(f"atomicAdd(&part[{index}], 1);") + \
                f" {end} sum += part[threadIdx.x];"
        if kind == 2:
            return self.guarded(f"atomicAdd(&out[{index}], 1);")
        if kind == 3:
            return self.guarded(f"for (int k = 0; k < (in[i] & 7); ++k) sum += in[k{rng.choice(['', ' * 1000'])}];")
        return self.guarded(f"out[{index}] = 3;")

    def covered(self):
        """Data has one block or all store where each has loaded before."""
        rng = self.rng
        other = rng.choice(["threadIdx.x ^ 1", "threadIdx.x ^ 1", "blockDim.x - 1 - threadIdx.x", "threadIdx.x & ~1"])
        who = rng.choice(["", "", "if (threadIdx.x & 1) "])
        loads = rng.choice(["__syncthreads();", "__syncthreads();", ""])
        meet = rng.choice(["", "", "__syncthreads();", "__syncwarp();"])
        condition = rng.choice(["in[0] + blockIdx.x == 4", "in[0] + blockIdx.x == 1", "a > b", "in[i & 31] == 0"])
        place, end = rng.choice(["threadIdx.x", "other"]), rng.choice(["__syncthreads();", "__syncthreads();", ""])
        return f"{loads} {who}{{ unsigned other = {other}; int a = part[threadIdx.x], b = part[other]; " \
               f"{meet if not who else ''} if ({condition}) part[{place}] = a + b; else sum += a - b; }} " \
               f"{end} sum += part[{rng.choice(['threadIdx.x', 'threadIdx.x', '0'])}];"

    def text(self):
        rng = self.rng
        body = "\n  ".join(self.statement() for _ in range(rng.choice([1, 1, 2, 3])))
        return f"""__global__ void {self.name}(const int* in, int* out, unsigned n) {{
  __shared__ int part[256];
  unsigned i = {self.index()};
  int sum = 0;
  {"part[threadIdx.x] = 1; __syncthreads();" if rng.random() < 0.6 else ""}
  {body}
  {"if (i < n) out[i] = sum;" if rng.random() < 0.5 else "if (sum == 12345) out[0] = 1;"}
}}
"""

    def launch(self):
        """Arrays of the kernel's own; `in` is initialised mostly, `out` sometimes."""
        known = self.length if self.is_careful or self.rng.random() < 0.7 else self.length // 2
        fills = "cudaMemset(out, 0, length * 4);" if self.is_careful or self.rng.random() < 0.5 else ""
        return f"""  {{
    const size_t length = {self.length};
    int *in, *out;
    cudaMalloc(&in, length * 4), cudaMalloc(&out, length * 4);
    cudaMemset(in, {self.rng.randrange(2)}, {known} * 4);
    {fills}
    {self.name}<<<dim3({self.grid[0]}, {self.grid[1]}), {self.block}>>>(in, out, {self.n});
    cudaDeviceSynchronize();
  }}
"""


def kernels(seed, count):
    rng = random.Random(seed)
    return [Kernel(rng, f"k{k}") for k in range(count)]


def main():
    options = random_programs.options(programs=2, kernels=16)
    wrong, proved, told, convicted = 0, 0, 0, 0
    for seed in range(options.seed, options.seed + options.programs):
        source = options.folder / f"fuzz{seed}.cu"
        program = random_programs.program(kernels(seed, options.kernels))
        executable = random_programs.build(options.ordito, source, program)
        for mode in MODES:
            with_proofs, blocks = random_programs.check(options.ordito, executable, mode, {"ORDITO_CHECK_PROOFS": "1"})
            without, _ = random_programs.check(options.ordito, executable, mode, {"ORDITO_CHECK_PROOFS": "0"})
            proved, told = proved + blocks["proved"], told + blocks["told"]
            convicted += len(without)
            if with_proofs == without or blocks["unheard"]:  # a flood of findings ends the listening, only with proofs
                continue
            wrong += 1
            print(f"{source} {' '.join(mode)}: only without proofs {sorted(without - with_proofs)}, "
                  f"only with {sorted(with_proofs - without)}")
    print(f"{options.programs} programs: {proved} blocks proved, {told} told, {convicted} findings, {wrong} differences")
    sys.exit(1 if wrong or not proved or not convicted else 0)


if __name__ == "__main__":
    main()
