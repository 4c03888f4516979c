"""Another way from Python: CUDA C++ as text, compiled by nvcc when the program runs (PyCUDA), on arrays like NumPy's."""
import sys

try:
    import numpy as np
    import pycuda.autoinit
    from pycuda import driver, gpuarray
    from pycuda.compiler import SourceModule
    from pycuda.elementwise import ElementwiseKernel
    from pycuda.reduction import ReductionKernel
except ImportError as missing:
    print(f"skipped: {missing}; docs/python.md says how PyCUDA is built")
    sys.exit(77)


def check_equal(got, expected, what, tolerance=0.0):
    right = np.allclose(got, expected, rtol=tolerance, atol=tolerance)
    print(f"{'ok  ' if right else 'FAILED'} {what}")
    if not right:
        sys.exit(1)


COUNT = 1000
generator = np.random.default_rng(1)
x, y = generator.random(COUNT, np.float32), generator.random(COUNT, np.float32)

module = SourceModule("""
__constant__ float offset;

__global__ void saxpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i] + offset;
}
""")
saxpy = module.get_function("saxpy")
driver.memcpy_htod(module.get_global("offset")[0], np.float32(1))
result = y.copy()
saxpy(np.int32(COUNT), np.float32(2), driver.In(x), driver.InOut(result), block=(128, 1, 1), grid=((COUNT + 127) // 128, 1))
check_equal(result, 2 * x + y + 1, "a kernel as text, on arrays of NumPy", 1e-6)

stream, begin, end = driver.Stream(), driver.Event(), driver.Event()
there = gpuarray.to_gpu_async(y, stream=stream)
begin.record(stream)
saxpy(np.int32(COUNT), np.float32(2), gpuarray.to_gpu(x), there, block=(128, 1, 1), grid=(8, 1), stream=stream)
end.record(stream)
end.synchronize()
check_equal(there.get(), result, "in a stream, on arrays of the device")
check_equal(begin.time_till(end) >= 0, True, "between two events")

doubled = ElementwiseKernel("float *out, const float *in", "out[i] = 2 * in[i]", "doubled")
out = gpuarray.empty_like(there)
doubled(out, there)
check_equal(out.get(), 2 * result, "an expression for each element")
dot = ReductionKernel(np.float32, neutral="0", reduce_expr="a + b", map_expr="x[i] * y[i]",
                      arguments="const float *x, const float *y")
check_equal(dot(gpuarray.to_gpu(x), gpuarray.to_gpu(y)).get(), np.dot(x, y), "a sum over all of them", 1e-5)
check_equal((gpuarray.to_gpu(x) * 3 + 1).get(), x * 3 + 1, "operators", 1e-6)
