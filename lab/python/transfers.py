"""Copies: made for NumPy's arrays before and after every kernel, and only where they are asked for otherwise."""
from common import check, check_equal, cuda, np


@cuda.jit
def double(values):
    i = cuda.grid(1)
    if i < values.size:
        values[i] *= 2


host = np.arange(100, dtype=np.float32)
double[1, 128](host)
check_equal(host, 2 * np.arange(100), "a NumPy array comes back")
there = cuda.to_device(host)
double[1, 128](there)
check_equal(host, 2 * np.arange(100), "one on the device changes only there")
check_equal(there.copy_to_host(), 4 * np.arange(100), "until it is copied")
double[1, 128](cuda.to_device(host))
empty = cuda.device_array((3, 5), np.int16)
like = cuda.device_array_like(host)
check(empty.shape == (3, 5) and empty.dtype == np.int16, "device_array(shape, dtype)")
check(like.shape == host.shape and like.dtype == host.dtype, "device_array_like(array)")
like.copy_to_device(there)
back = np.zeros_like(host)
like.copy_to_host(back)
check_equal(back, 4 * np.arange(100), "from device to device and into an array of ours")
record = np.array([(1, 2.5)], dtype=[("a", np.int32), ("b", np.float64)])
check(cuda.to_device(record).copy_to_host()[0] == record[0], "structures")
