"""Shared memory: of a fixed shape, and of a size that the launch gives; and the barrier between its readers."""
from common import RANDOM, check_equal, cuda, np, numba

TILE = 16


@cuda.jit
def reverse(values):
    tile = cuda.shared.array(128, numba.int32)
    i = cuda.threadIdx.x
    tile[i] = values[cuda.grid(1)]
    cuda.syncthreads()
    values[cuda.grid(1)] = tile[127 - i]


@cuda.jit
def multiply(a, b, c):
    left = cuda.shared.array((TILE, TILE), numba.float32)
    right = cuda.shared.array((TILE, TILE), numba.float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = numba.float32(0)
    for start in range(0, a.shape[1], TILE):
        left[ty, tx] = a[y, start + tx]
        right[ty, tx] = b[start + ty, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[ty, k] * right[k, tx]
        cuda.syncthreads()
    c[y, x] = total


@cuda.jit
def aliased(out):
    as_float = cuda.shared.array(0, numba.float32)
    as_int = cuda.shared.array(0, numba.int32)
    behind = cuda.shared.array(0, numba.int32)[1:]
    if cuda.threadIdx.x == 0:
        as_float[0] = 1.0
        behind[0] = 7
    cuda.syncthreads()
    out[0], out[1] = as_int[0], as_int[1]


values = np.arange(256, dtype=np.int32)
reverse[2, 128](values)
check_equal(values, np.concatenate([np.arange(127, -1, -1), np.arange(255, 127, -1)]), "blocks reverse their parts")
a, b = RANDOM.standard_normal((64, 32)).astype(np.float32), RANDOM.standard_normal((32, 48)).astype(np.float32)
c = np.zeros((64, 48), np.float32)
multiply[(3, 4), (TILE, TILE)](a, b, c)
check_equal(c, a @ b, "a product of matrices by tiles", 1e-4)
out = np.zeros(2, np.int32)
aliased[1, 32, 0, 128](out)
check_equal(out, [0x3F800000, 7], "dynamic arrays alias one memory; a slice keeps two apart")
