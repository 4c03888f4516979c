"""Functions over arrays: one that takes numbers becomes one that takes arrays, with broadcasting, here and there."""
import math

from common import RANDOM, check, check_equal, np, numba

x, y = RANDOM.integers(0, 1000, 5000), RANDOM.integers(0, 1000, 5000)
SIGNATURES = ["int64(int64, int64)", "float32(float32, float32)"]
for target in ("cpu", "cuda"):

    @numba.vectorize(SIGNATURES, target=target)
    def add(a, b):
        return a + b

    check_equal(add(x, y), x + y, f"{target}: int64")
    short = x.astype(np.float32)
    check(add(short, short).dtype == np.float32, f"{target}: float32 stays what it is")
    column, row = short[:4].reshape(4, 1), short[:3].reshape(1, 3)
    check_equal(add(column, row), column + row, f"{target}: broadcasting")


@numba.vectorize(["float64(float64)"], target="cuda")
def logistic(value):
    return 1 / (1 + math.exp(-value))


values = RANDOM.standard_normal(1000)
check_equal(logistic(values), 1 / (1 + np.exp(-values)), "a function of math", 1e-12)


@numba.guvectorize(["void(float32[:], float32[:])"], "(n)->()", target="cuda")
def row_sum(row, result):
    total = 0.0
    for value in row:
        total += value
    result[0] = total


rows = RANDOM.standard_normal((64, 33)).astype(np.float32)
check_equal(row_sum(rows), rows.sum(1), "guvectorize: rows to numbers", 1e-4)
