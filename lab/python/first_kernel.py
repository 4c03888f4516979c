"""A kernel in Python: compiled at the first call with arguments of new types, launched by kernel[blocks, threads]."""
from common import check, check_equal, cuda, np, numba


@cuda.jit
def add(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@numba.jit(nopython=True)
def total(values):
    result = 0.0
    for value in values:
        result += value
    return result


n = 1000
a = np.arange(n, dtype=np.float32)
out = np.zeros_like(a)
check(len(add.overloads) == 0, "nothing is compiled before the first call")
add[(n + 127) // 128, 128](a, 2 * a, out)
check_equal(out, 3 * a, "add[blocks, threads](a, b, out)")
check(len(add.overloads) == 1, "compiled once")
add[4, 256, 0, 0](a, a, out)
check_equal(out, 2 * a, "with a stream and bytes of shared memory")
check(len(add.overloads) == 1, "and not again for the same types")
wide = np.zeros(n, np.float64)
add[8, 128](a.astype(np.float64), a, wide)
check_equal(wide, 2 * a, "other types")
check(len(add.overloads) == 2, "are compiled on their own")
check(callable(add) and add.py_func.__name__ == "add", "a decorator makes an object that keeps the function")
check(total(a) == a.astype(np.float64).sum(), "the same source on the CPU: @jit")
