"""Five kernels of Numba, on the device that is there: Ordito's, or with NUMBA_ENABLE_CUDASIM=1 Numba's simulator.

    numba_kernels.py small|large
"""
import math
import sys
import warnings

import numpy as np
from numba import cuda, float32

from timing import median_ms, tell

warnings.simplefilter("ignore")
TILE = 16
generator = np.random.default_rng(1)


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def gelu(a, out):
    i = cuda.grid(1)
    if i < out.size:
        x = a[i]
        out[i] = float32(0.5) * x * (float32(1) + math.tanh(float32(0.7978846) * (x + float32(0.044715) * x * x * x)))


@cuda.jit
def multiply(a, b, out):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    column, row = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(0, a.shape[1], TILE):
        left[row, column] = a[y, k + column]
        right[row, column] = b[k + row, x]
        cuda.syncthreads()
        for i in range(TILE):
            total += left[row, i] * right[i, column]
        cuda.syncthreads()
    out[y, x] = total


@cuda.jit
def histogram(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, values[i], 1)


@cuda.jit
def sums(a, out):
    part = cuda.shared.array(256, float32)
    row, lane = cuda.blockIdx.x, cuda.threadIdx.x
    total = float32(0)
    for i in range(lane, a.shape[1], 256):
        total += a[row, i]
    part[lane] = total
    cuda.syncthreads()
    step = 128
    while step > 0:
        if lane < step:
            part[lane] += part[lane + step]
        cuda.syncthreads()
        step //= 2
    if lane == 0:
        out[row] = part[0]


def numpy_gelu(x):
    return np.float32(0.5) * x * (1 + np.tanh(np.float32(0.7978846) * (x + np.float32(0.044715) * x * x * x)))


def measure(name, size, kernel, grid, block, inputs, out, reference, tolerance=1e-4):
    device = [cuda.to_device(each) for each in inputs]
    result = cuda.to_device(out)

    def run():
        kernel[grid, block](*device, result)
        cuda.synchronize()

    run()
    right = np.allclose(result.copy_to_host(), reference(*inputs), rtol=tolerance, atol=tolerance)
    tell(name, size, median_ms(run), median_ms(lambda: reference(*inputs)), right)


def main(scale):
    n, m = (1 << 22, 512) if scale == "large" else (1 << 12, 32)
    vector = generator.random(n, np.float32)
    matrix = generator.random((m, m), np.float32)
    blocks = (n + 255) // 256
    measure("add", f"{n} floats", add, blocks, 256, [vector, vector], np.zeros_like(vector), np.add)
    measure("GELU", f"{n} floats", gelu, blocks, 256, [vector], np.zeros_like(vector), numpy_gelu)
    measure("matrix product, tiled", f"{m} x {m}", multiply, (m // TILE, m // TILE), (TILE, TILE), [matrix, matrix],
            np.zeros_like(matrix), np.matmul, 1e-3)
    values = generator.integers(0, 256, n).astype(np.int32)
    measure("histogram, atomics", f"{n} values", histogram, blocks, 256, [values], np.zeros(256, np.int32),
            lambda v: np.bincount(v, minlength=256))
    rows = vector.reshape(-1, 1024)
    measure("sums of rows", f"{rows.shape[0]} x 1024", sums, rows.shape[0], 256, [rows], np.zeros(rows.shape[0], np.float32),
            lambda a: a.sum(1), 1e-3)


main(sys.argv[1])
