"""Programs of CuPy on Ordito: its own kernels, the user's, and what it takes from libraries, against NumPy and SciPy.

CuPy is built from source for it: from_source.sh.
"""
import sys

import numpy as np

try:
    import cupy as cp
    import cupyx.scipy.ndimage
    import cupyx.scipy.sparse
    import cupyx.scipy.special
    import scipy.ndimage
    import scipy.special
    from cupyx import jit
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

generator = np.random.default_rng(1)
A = generator.random((48, 48))
SYSTEM = A + 8 * np.eye(48)
X = generator.random(5000)
COUNTS = generator.integers(0, 100, 5000)


def close(got, want, tolerance=1e-9):
    return np.allclose(cp.asnumpy(got), want, rtol=tolerance, atol=tolerance)


def elementwise():
    x, y = cp.asarray(X), cp.asarray(X[::-1].copy())
    halves = cp.asarray(X.astype(np.float16))
    return (close(cp.sin(x) * y + cp.where(x > 0.5, x, -y), np.sin(X) * X[::-1] + np.where(X > 0.5, X, -X[::-1])) and
            close(halves + halves, X.astype(np.float16) * 2, 1e-3) and
            close((x + 1j * y).conj() * 2, (X - 1j * X[::-1]) * 2))


def reductions():
    x = cp.asarray(A)
    return (close(x.sum(axis=1), A.sum(axis=1)) and close(x.max(axis=0), A.max(axis=0)) and
            int(x.argmin()) == int(A.argmin()) and close(cp.std(x), A.std()) and close(cp.median(x), np.median(A)))


def indexing():
    x, some = cp.asarray(X), cp.asarray(COUNTS)
    slots = cp.zeros(100, np.int64)
    cp.add.at(slots, some, 1)
    return (close(x[some], X[COUNTS]) and close(x[x > 0.5], X[X > 0.5]) and close(x[::-3], X[::-3]) and
            close(slots, np.bincount(COUNTS, minlength=100)) and close(cp.bincount(some), np.bincount(COUNTS)))


def scans_and_sorts():
    x, some = cp.asarray(X), cp.asarray(COUNTS)
    values, counts = cp.unique(some, return_counts=True)
    want, want_counts = np.unique(COUNTS, return_counts=True)
    return (close(cp.cumsum(x), np.cumsum(X)) and close(cp.sort(x), np.sort(X)) and
            close(cp.argsort(x), np.argsort(X)) and close(values, want) and close(counts, want_counts) and
            close(cp.histogram(x, 16)[0], np.histogram(X, 16)[0]))


def own_kernels():
    add = cp.RawKernel(r"""extern "C" __global__ void add(const double* x, const double* y, double* out, int n) {
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) out[i] = x[i] + y[i];
    }""", "add")
    templates = cp.RawModule(code=r"""template <typename T> __global__ void twice(T* x, int n) {
        for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= 2;
    }""", options=("-std=c++17",), name_expressions=("twice<float>", "twice<long long>"))
    squares = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squares")
    norm = cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    x, out = cp.asarray(X), cp.empty_like(cp.asarray(X))
    add((20,), (256,), (x, x, out, X.size))
    floats, longs = cp.asarray(X.astype(np.float32)), cp.asarray(COUNTS)
    templates.get_function("twice<float>")((1,), (128,), (floats, X.size))
    templates.get_function("twice<long long>")((1,), (128,), (longs, X.size))
    return (close(out, 2 * X) and close(floats, 2 * X.astype(np.float32), 1e-6) and close(longs, 2 * COUNTS) and
            close(squares(x, 0.25), (X - 0.25) ** 2) and close(norm(x), np.linalg.norm(X)))


@cp.fuse()
def fused(x, y):
    return cp.sqrt(x * x + y * y) - cp.minimum(x, y)


@jit.rawkernel()
def block_sums(x, out, n):
    part = jit.shared_memory(cp.float64, 128)
    thread = jit.threadIdx.x
    i = jit.blockIdx.x * jit.blockDim.x + thread
    part[thread] = x[i] if i < n else 0.0
    jit.syncthreads()
    if thread == 0:
        total = cp.float64(0)
        for k in range(128):
            total += part[k]
        out[jit.blockIdx.x] = total


def compiled_python():
    x, sums = cp.asarray(X), cp.zeros(40)
    block_sums((40,), (128,), (x, sums, np.uint32(X.size)))
    return (close(fused(x, x[::-1]), np.sqrt(X * X + X[::-1] ** 2) - np.minimum(X, X[::-1])) and
            close(sums, np.pad(X, (0, 120)).reshape(40, 128).sum(axis=1)))


def products():
    a, halves = cp.asarray(A), cp.asarray(A.astype(np.float16))
    return (close(a @ a.T, A @ A.T) and close(cp.einsum("ij,kj->ik", a, a), A @ A.T) and
            close(halves @ halves, A @ A, 1e-2) and close(cp.tensordot(a, a, 2), np.tensordot(A, A, 2)))


def linear_algebra():
    a, values = cp.asarray(SYSTEM), cp.linalg.eigvalsh(cp.asarray(SYSTEM + SYSTEM.T))
    q, r = cp.linalg.qr(a)
    return (close(cp.linalg.solve(a, a[0]), np.linalg.solve(SYSTEM, SYSTEM[0])) and
            close(cp.linalg.inv(a), np.linalg.inv(SYSTEM)) and close(q @ r, SYSTEM) and
            close(cp.linalg.svd(a, compute_uv=False), np.linalg.svd(SYSTEM, compute_uv=False)) and
            close(values, np.linalg.eigvalsh(SYSTEM + SYSTEM.T)) and
            close(cp.linalg.cholesky(a @ a.T), np.linalg.cholesky(SYSTEM @ SYSTEM.T)))


def transforms():
    x = cp.asarray(A)
    return (close(cp.fft.fft2(x), np.fft.fft2(A)) and close(cp.fft.irfft(cp.fft.rfft(x)), A) and
            close(cp.fft.fftn(x.astype(np.complex64)), np.fft.fftn(A), 1e-3))


def sparse_matrices():
    mask = np.where(A > 0.7, A, 0)
    m = cupyx.scipy.sparse.csr_matrix(cp.asarray(mask))
    return (m.nnz == np.count_nonzero(mask) and close(m @ cp.asarray(A), mask @ A) and
            close((m @ m).toarray(), mask @ mask) and close(m.T.tocsr().toarray(), mask.T) and
            close(m.tocoo().sum(axis=0).ravel(), mask.sum(axis=0)))


def random_numbers():
    cp.random.seed(7)
    old, new = cp.random.normal(size=20000), cp.random.default_rng(7).standard_normal(20000)
    again = cp.random.default_rng(7).standard_normal(20000)
    return (all(abs(float(x.mean())) < 0.05 and abs(float(x.std()) - 1) < 0.05 for x in (old, new)) and
            bool((new == again).all()) and 0 <= int(cp.random.randint(0, 10, 100).min()))


def images():
    image = cp.asarray(A)
    return (close(cupyx.scipy.ndimage.gaussian_filter(image, 2), scipy.ndimage.gaussian_filter(A, 2)) and
            close(cupyx.scipy.ndimage.label(image > 0.7)[0], scipy.ndimage.label(A > 0.7)[0]))


def special_functions():
    x = cp.asarray(X)
    return (close(cupyx.scipy.special.erf(x), scipy.special.erf(X)) and
            close(cupyx.scipy.special.gammaln(x), scipy.special.gammaln(X)) and
            close(cupyx.scipy.special.j0(x), scipy.special.j0(X)))


def streams_and_memory():
    stream, begin, end = cp.cuda.Stream(non_blocking=True), cp.cuda.Event(), cp.cuda.Event()
    pinned = np.frombuffer(cp.cuda.alloc_pinned_memory(X.nbytes), X.dtype, X.size)
    pinned[:] = X
    with stream:
        begin.record()
        x = cp.empty(X.size)
        x.set(pinned, stream=stream)
        x *= 3
        end.record()
    stream.synchronize()
    used = cp.get_default_memory_pool().used_bytes()
    return close(x, 3 * X) and cp.cuda.get_elapsed_time(begin, end) >= 0 and used >= X.nbytes


PROGRAMS = [elementwise, reductions, indexing, scans_and_sorts, own_kernels, compiled_python, products, linear_algebra,
            transforms, sparse_matrices, random_numbers, images, special_functions, streams_and_memory]


def main():
    wrong = 0
    for program in PROGRAMS:
        try:
            verdict = "right" if program() else "WRONG"
        except Exception as problem:  # pylint: disable=broad-except
            verdict = f"WRONG: {type(problem).__name__}: {problem}"
        wrong += verdict != "right"
        print(f"{program.__name__}: {verdict}", flush=True)
    sys.exit(wrong != 0)


main()
