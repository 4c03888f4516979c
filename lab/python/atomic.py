"""Atomic sums: many threads, one place, nothing lost."""
from common import RANDOM, check_equal, cuda, np


@cuda.jit
def histogram(values, bins):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(bins, values[i], 1)


@cuda.jit
def sum_all(values, out):
    i = cuda.grid(1)
    if i < values.size:
        cuda.atomic.add(out, 0, values[i])


values = RANDOM.integers(0, 20, 10000)
bins = np.zeros(20, np.int32)
histogram[40, 256](values, bins)
check_equal(bins, np.bincount(values, minlength=20), "a histogram")
for kind in (np.int32, np.float32, np.float64):
    out = np.zeros(1, kind)
    sum_all[40, 256](values.astype(kind), out)
    check_equal(out[0], values.sum(), f"a sum of {kind.__name__}: whole numbers, so exact in any order")
