"""What a function over arrays gains when it is compiled as one: no arrays in between, vectors of the processor, time, and
the device by one word."""
import re
import time
import tracemalloc

from common import RANDOM, check, check_equal, np, numba

COUNT = 1 << 20
x, y, z = (RANDOM.random(COUNT, np.float32) for _ in range(3))


def by_numpy(a, b, c):
    return a * b + c * c


def compiled(target):
    return numba.vectorize(["float32(float32, float32, float32)"], target=target)(by_numpy)


def most_memory(function, out):
    """Bytes of arrays that the call makes beside those that it is given."""
    tracemalloc.start()
    out[:] = function(x, y, z) if function is by_numpy else function(x, y, z, out=out)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def seconds(function):
    begin = time.perf_counter()
    function(x, y, z)
    return time.perf_counter() - begin


expected = by_numpy(x, y, z)
here, there = compiled("cpu"), compiled("cuda")
out = np.zeros_like(x)
check(most_memory(by_numpy, out) >= 2 * x.nbytes, "NumPy makes an array for each operation")
check(most_memory(here, out) < x.nbytes // 10, "one function over arrays makes none")
check_equal(out, expected, "with the same result", 1e-6)


@numba.njit("void(float32[::1], float32[::1], float32[::1], float32[::1])")
def loop(a, b, c, result):
    for i in range(result.size):
        result[i] = a[i] * b[i] + c[i] * c[i]


assembly = next(iter(loop.inspect_asm().values()))
check(re.search(r"\bv?(mul|fmadd\d+)ps\b", assembly), "its loop multiplies vectors of the processor (SIMD)")


def by_interpreter(a, b, c):
    return [p * q + r * r for p, q, r in zip(a.tolist(), b.tolist(), c.tolist())]


here(x, y, z)
python, vector = seconds(by_interpreter), min(seconds(here) for _ in range(5))
check(vector < python, f"{python / vector:.0f} times faster than Python's loop over {COUNT} numbers")
check_equal(there(x, y, z), expected, "and on the device by another target", 1e-6)
