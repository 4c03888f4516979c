"""Triton's kernels on Ordito, against NumPy. Needs the packages triton and numpy; PyTorch, which Triton asks for memory
and streams, is done without: arrays and the current device come from the driver itself, by ctypes."""
import ctypes
import sys
import time

import numpy as np
import triton
import triton.language as tl
from triton.backends.nvidia.driver import CudaDriver, CudaLauncher, CudaUtils

CUDA = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    result = getattr(CUDA, name)(*arguments)
    assert result == 0, f"{name}: CUDA error {result}"


class Device(CudaDriver):
    """What Triton asks of PyTorch."""

    def __init__(self):
        call("cuInit", 0)
        context = ctypes.c_void_p()
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        call("cuCtxSetCurrent", context)
        self.utils = CudaUtils()
        self.launcher_cls = CudaLauncher
        self.get_current_device = lambda: 0
        self.set_current_device = lambda device: None
        self.get_current_stream = lambda device: 0
        self.get_device_capability = lambda device=0: tuple(self.attribute(number) for number in (75, 76))

    @staticmethod
    def attribute(number):
        value = ctypes.c_int()
        call("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
        return value.value


class Array:
    """NumPy's array in the memory of the device."""

    def __init__(self, host):
        self.dtype, self.shape = host.dtype, host.shape
        self.bytes = ctypes.c_size_t(host.nbytes)
        self.pointer = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(self.pointer), self.bytes)
        host = np.ascontiguousarray(host)
        call("cuMemcpyHtoD_v2", self.pointer, host.ctypes.data_as(ctypes.c_void_p), self.bytes)

    def data_ptr(self):
        return self.pointer.value

    def numpy(self):
        host = np.empty(self.shape, self.dtype)
        call("cuMemcpyDtoH_v2", host.ctypes.data_as(ctypes.c_void_p), self.pointer, self.bytes)
        return host

    def __del__(self):
        CUDA.cuMemFree_v2(self.pointer)


RANDOM = np.random.default_rng(1)


def floats(*shape, dtype=np.float32):
    return RANDOM.standard_normal(shape).astype(dtype)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


def vector_add():
    n = 98432
    x, y = floats(n), floats(n)
    out = Array(np.full(n + 7, 5, np.float32))
    add_kernel[(triton.cdiv(n, 1024),)](Array(x), Array(y), out, n, BLOCK=1024)
    np.testing.assert_array_equal(out.numpy()[:n], x + y)
    np.testing.assert_array_equal(out.numpy()[n:], 5)


@triton.jit
def one_per_thread_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at * 3, mask=at < n, other=0.0) * 2.0, mask=at < n)


def strided():
    """One element for each thread: loads and stores of a vector of one register."""
    n = 1000
    x, out = floats(3 * n), Array(np.zeros(n, np.float32))
    one_per_thread_kernel[(triton.cdiv(n, 128),)](Array(x), out, n, BLOCK=128)
    np.testing.assert_array_equal(out.numpy(), x[::3] * 2)


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    exponentials = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, exponentials / tl.sum(exponentials, axis=0), mask=at < columns)


def softmax():
    x = floats(183, 781)
    out = Array(np.zeros_like(x))
    softmax_kernel[(x.shape[0],)](Array(x), out, x.shape[1], BLOCK=1024)
    expected = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out.numpy(), expected / expected.sum(1, keepdims=True), rtol=1e-5, atol=1e-7)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        inner = k + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * K + inner[None, :], mask=(rows[:, None] < M) & (inner[None, :] < K), other=0.0)
        right = tl.load(b + inner[:, None] * N + columns[None, :], mask=(inner[:, None] < K) & (columns[None, :] < N),
                        other=0.0)
        sums = tl.dot(left, right, sums)
    tl.store(c + rows[:, None] * N + columns[None, :], sums, mask=(rows[:, None] < M) & (columns[None, :] < N))


def matmul():
    """Products on the tensor cores, of halves, with loads that run ahead (cp.async)."""
    M, N, K = 192, 160, 224
    a, b = floats(M, K, dtype=np.float16), floats(K, N, dtype=np.float16)
    c = Array(np.zeros((M, N), np.float32))
    matmul_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](Array(a), Array(b), c, M, N, K, BM=64, BN=64, BK=32,
                                                            num_stages=3)
    np.testing.assert_allclose(c.numpy(), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-2)


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(tl.rand(seed, at) > p, values / (1 - p), 0.0), mask=at < n)


def dropout():
    n, p = 10000, 0.5
    x, first, again, other = floats(n) + 10, *(Array(np.zeros(n, np.float32)) for _ in range(3))
    for out, seed in ((first, 123), (again, 123), (other, 512)):
        dropout_kernel[(triton.cdiv(n, 1024),)](Array(x), out, n, p, seed, BLOCK=1024)
    kept = first.numpy() != 0
    np.testing.assert_allclose(first.numpy()[kept], x[kept] / (1 - p), rtol=1e-6)
    assert abs(kept.mean() - (1 - p)) < 0.02, kept.mean()
    np.testing.assert_array_equal(first.numpy(), again.numpy())
    assert (first.numpy() != other.numpy()).any()


@triton.jit
def layer_norm_kernel(x, out, weight, bias, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row * columns + at, mask=inside, other=0.0)
    mean = tl.sum(values, axis=0) / columns
    apart = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(apart * apart, axis=0) / columns + eps)
    result = apart * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
    tl.store(out + row * columns + at, result, mask=inside)


def layer_norm():
    x, weight, bias = floats(64, 700), floats(700), floats(700)
    out = Array(np.zeros_like(x))
    layer_norm_kernel[(x.shape[0],)](Array(x), out, Array(weight), Array(bias), x.shape[1], 1e-5, BLOCK=1024)
    apart = x - x.mean(1, keepdims=True)
    expected = apart / np.sqrt((apart**2).mean(1, keepdims=True) + 1e-5) * weight + bias
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-4, atol=1e-4)


@triton.jit
def attention_kernel(Q, K, V, Out, scale, LENGTH, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    base = tl.program_id(1) * LENGTH * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    inner = tl.arange(0, D)
    q = tl.load(Q + base + rows[:, None] * D + inner[None, :])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    for start in range(0, tl.program_id(0) * BM + BM, BN):
        keys = start + tl.arange(0, BN)
        k = tl.load(K + base + keys[None, :] * D + inner[:, None])
        scores = tl.dot(q, k) * scale
        scores = tl.where(rows[:, None] >= keys[None, :], scores, -1.0e6)
        now = tl.maximum(largest, tl.max(scores, 1))
        p = tl.exp2((scores - now[:, None]) * 1.44269504)
        correction = tl.exp2((largest - now) * 1.44269504)
        total = total * correction + tl.sum(p, 1)
        v = tl.load(V + base + keys[:, None] * D + inner[None, :])
        sums = tl.dot(p.to(tl.float16), v, sums * correction[:, None])
        largest = now
    tl.store(Out + base + rows[:, None] * D + inner[None, :], sums / total[:, None])


def flash_attention():
    """Causal attention of two heads without the matrix of scores."""
    heads, length, d = 2, 128, 64
    q, k, v = (floats(heads, length, d, dtype=np.float16) for _ in range(3))
    out = Array(np.zeros((heads, length, d), np.float32))
    attention_kernel[(length // 64, heads)](Array(q), Array(k), Array(v), out, 0.125, length, BM=64, BN=32, D=d)
    scores = q.astype(np.float32) @ k.astype(np.float32).transpose(0, 2, 1) * 0.125
    scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(2, keepdims=True))
    expected = weights / weights.sum(2, keepdims=True) @ v.astype(np.float32)
    np.testing.assert_allclose(out.numpy(), expected, rtol=1e-2, atol=1e-2)


def main():
    triton.runtime.driver.set_active(Device())
    failed = 0
    for kernel in (vector_add, strided, softmax, matmul, dropout, layer_norm, flash_attention):
        start = time.perf_counter()
        try:
            kernel()
            verdict = "ok"
        except Exception as error:  # the others are still of interest
            verdict = f"FAILED: {type(error).__name__}: {error}"
            failed += 1
        print(f"{kernel.__name__:16} {time.perf_counter() - start:6.2f} s  {verdict}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
