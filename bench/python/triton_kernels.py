"""Five kernels of Triton on Ordito's device, or with TRITON_INTERPRET=1 in Triton's interpreter.

    triton_kernels.py small|large
"""
import os
import sys

import numpy as np
import torch
import triton
import triton.language as tl

from timing import median_ms, tell

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = "cpu" if INTERPRETED else "cuda"
generator = np.random.default_rng(1)


@triton.jit
def add(a, b, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(a + at, inside) + tl.load(b + at, inside), inside)


@triton.jit
def gelu(a, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(a + at, inside)
    y = 0.7978846 * (x + 0.044715 * x * x * x)
    tl.store(out + at, x / (1 + tl.exp(-2 * y)), inside)


@triton.jit
def softmax(a, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(a + row * n + at, at < n, other=float("-inf"))
    e = tl.exp(x - tl.max(x))
    tl.store(out + row * n + at, e / tl.sum(e), at < n)


@triton.jit
def layer_norm(a, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(a + row * n + at, at < n, other=0.0)
    mean = tl.sum(x) / n
    centred = tl.where(at < n, x - mean, 0.0)
    tl.store(out + row * n + at, centred / tl.sqrt(tl.sum(centred * centred) / n + 1e-5), at < n)


@triton.jit
def multiply(a, b, out, n, TILE: tl.constexpr):
    row, column = tl.program_id(0) * TILE + tl.arange(0, TILE), tl.program_id(1) * TILE + tl.arange(0, TILE)
    total = tl.zeros((TILE, TILE), tl.float32)
    for k in range(0, n, TILE):
        at = k + tl.arange(0, TILE)
        total += tl.dot(tl.load(a + row[:, None] * n + at[None, :]), tl.load(b + at[:, None] * n + column[None, :]))
    tl.store(out + row[:, None] * n + column[None, :], total)


def numpy_softmax(a):
    e = np.exp(a - a.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def numpy_gelu(x):
    return np.float32(0.5) * x * (1 + np.tanh(np.float32(0.7978846) * (x + np.float32(0.044715) * x * x * x)))


def numpy_layer_norm(a):
    return (a - a.mean(1, keepdims=True)) / np.sqrt(a.var(1, keepdims=True) + np.float32(1e-5))


def measure(name, size, launch, inputs, reference, dtype=torch.float32):
    device = [torch.from_numpy(each).to(DEVICE) for each in inputs]
    out = torch.empty(reference(*inputs).shape, dtype=dtype, device=DEVICE)

    def run():
        launch(*device, out)
        if not INTERPRETED:
            torch.cuda.synchronize()

    run()
    right = np.allclose(out.cpu().numpy(), reference(*inputs), rtol=1e-3, atol=1e-3)
    tell(name, size, median_ms(run), median_ms(lambda: reference(*inputs)), right)


def main(scale):
    n, rows, width, m = (1 << 22, 4096, 1024, 512) if scale == "large" else (1 << 16, 64, 1024, 64)
    vector = generator.random(n, np.float32)
    table = generator.random((rows, width), np.float32)
    halves = generator.random((m, m), np.float32).astype(np.float16)
    blocks = (triton.cdiv(n, 1024),)
    measure("add", f"{n} floats", lambda a, b, c: add[blocks](a, b, c, n, 1024), [vector, vector], np.add)
    measure("GELU", f"{n} floats", lambda a, c: gelu[blocks](a, c, n, 1024), [vector], numpy_gelu)
    measure("softmax", f"{rows} x {width}", lambda a, c: softmax[(rows,)](a, c, width, 1024), [table], numpy_softmax)
    measure("layer norm", f"{rows} x {width}", lambda a, c: layer_norm[(rows,)](a, c, width, 1024), [table],
            numpy_layer_norm)
    measure("product of halves", f"{m} x {m}", lambda a, b, c: multiply[(m // 32, m // 32)](a, b, c, m, 32),
            [halves, halves], lambda a, b: a.astype(np.float32) @ b.astype(np.float32))


main(sys.argv[1])
