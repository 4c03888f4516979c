"""Functions of the device return values; types stay those of the arrays, and no number becomes a double unasked."""
from common import check, check_equal, cuda, np


@cuda.jit(device=True)
def polynomial(value):
    return value * value + value


@cuda.jit
def apply(values, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = polynomial(values[i])


values = np.linspace(-1, 1, 300)
check(values.dtype == np.float64, "Python's own numbers are doubles")
short = values.astype(np.float32)
out = np.zeros_like(short)
apply[3, 128](short, out)
check_equal(out, short * short + short, "a device function's value", 1e-6)
ptx = next(iter(apply.inspect_asm().values()))
check(".f32" in ptx and ".f64" not in ptx, "float32 is computed as float32")
apply[3, 128](values, np.zeros_like(values))
check(any(".f64" in text for text in apply.inspect_asm().values()), "float64 as float64")
