"""Programs of JAX on Ordito: what XLA compiles, and what it takes from libraries, against NumPy."""
import sys

import numpy as np

try:
    import jax
    import jax_plugins.xla_cuda13  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import jax.numpy as jnp

generator = np.random.default_rng(1)
A = generator.random((64, 64), np.float32)
SYSTEM = A + 8 * np.eye(64, dtype=np.float32)
X = generator.random(4096, np.float32)
IMAGES = generator.random((2, 3, 12, 11), np.float32)
FILTERS = generator.random((4, 3, 3, 3), np.float32)


def step(parameters, x, y):
    """One step of gradient descent for a network of two layers."""
    def loss(p):
        hidden = jnp.tanh(x @ p[0] + p[1])
        return ((hidden @ p[2] + p[3] - y) ** 2).mean()
    value, gradients = jax.value_and_grad(loss)(parameters)
    return value, [p - 0.1 * g for p, g in zip(parameters, gradients)]


def trains():
    x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    y = x * x
    parameters = [generator.normal(size=s).astype(np.float32) for s in ((1, 16), (16,), (16, 1), (1,))]
    losses = []
    run = jax.jit(step)
    for _ in range(50):
        value, parameters = run(parameters, x, y)
        losses.append(float(value))
    return losses[-1] < 0.2 * losses[0] and np.isfinite(losses).all()


def convolution(x, w, stride, dilation):
    """Images (N, C, H, W) and filters (O, C, H, W), without padding."""
    (rows, columns), out = w.shape[2:], []
    height, width = ((n - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(x.shape[2:], w.shape[2:]))
    for i in range(rows):
        for j in range(columns):
            part = x[:, :, i * dilation:, j * dilation:][:, :, ::stride, ::stride][:, :, :height, :width]
            out.append(np.einsum("nchw,oc->nohw", part, w[:, :, i, j]))
    return np.sum(out, axis=0)


def convolves():
    def of_device(x, w, stride, dilation):
        return jax.lax.conv_general_dilated(x, w, (stride, stride), "VALID", rhs_dilation=(dilation, dilation))
    return all(close(of_device(IMAGES, FILTERS, *how), convolution(IMAGES, FILTERS, *how), 1e-3)
               for how in ((1, 1), (2, 1), (1, 2)))


def convolution_has_gradients():
    """A sum of products is linear in each: the gradient times a factor is the sum itself."""
    def total(x, w):
        return jax.lax.conv(x, w, (1, 1), "VALID").sum()
    value, (of_images, of_filters) = jax.jit(jax.value_and_grad(total, (0, 1)))(IMAGES, FILTERS)
    return all(close((np.asarray(g) * factor).sum(), value, 1e-3) for g, factor in ((of_images, IMAGES), (of_filters, FILTERS)))


def close(got, wanted, tolerance=1e-4):
    return np.allclose(np.asarray(got), wanted, rtol=tolerance, atol=tolerance)


CHECKS = {
    "the device is a GPU": lambda: jax.devices()[0].platform == "gpu",
    "elementwise, compiled": lambda: close(jax.jit(lambda x: jnp.sin(x) * 2 + jnp.exp(-x))(A), np.sin(A) * 2 + np.exp(-A)),
    "sums, means, extremes": lambda: close(jnp.stack([X.sum() / 4096, jnp.mean(X), jnp.max(X), jnp.min(X)]),
                                           [X.mean(), X.mean(), X.max(), X.min()]),
    "a product of matrices": lambda: close(jnp.dot(A, A, precision="highest"), A @ A, 1e-3),
    "a product is cuBLAS's": lambda: "__cublas" in jax.jit(jnp.dot).lower(A, A).compile().as_text(),
    "products side by side": lambda: close(jax.vmap(jnp.dot)(A, A), (A * A).sum(1), 1e-3),
    "a gradient": lambda: close(jax.grad(lambda x: (x ** 3).sum())(A), 3 * A * A),
    "a loop": lambda: close(jax.lax.fori_loop(0, 10, lambda i, x: x * 1.5 + i, jnp.ones(4)),
                            [np.sum([i * 1.5 ** (9 - i) for i in range(10)]) + 1.5 ** 10] * 4),
    "random numbers": lambda: abs(float(jax.random.uniform(jax.random.PRNGKey(0), (10000,)).mean()) - 0.5) < 0.02,
    "sorting": lambda: (np.asarray(jnp.sort(A, axis=1)) == np.sort(A, axis=1)).all(),
    "running sums": lambda: close(jnp.cumsum(X), np.cumsum(X, dtype=np.float64), 1e-2),
    "gather and scatter": lambda: close(jnp.zeros(64).at[jnp.arange(256) % 64].add(1.0), np.full(64, 4.0)),
    "a Fourier transform, by cuFFT": lambda: close(jnp.fft.fft(X[:512]), np.fft.fft(X[:512]), 1e-2),
    "a system of equations, by cuSOLVER": lambda: close(jnp.linalg.solve(SYSTEM, A[:, 0]), np.linalg.solve(SYSTEM, A[:, 0])),
    "convolutions": convolves,
    "gradients of a convolution": convolution_has_gradients,
    "a network is trained": trains,
}

wrong = 0
for name, check in CHECKS.items():
    try:
        verdict = "ok   " if check() else "WRONG"
    except Exception as error:  # noqa: BLE001: whatever it is, the others are tried
        verdict = "ERROR"
        print(str(error).splitlines()[0][:200])
    wrong += verdict != "ok   "
    print(verdict, name, flush=True)
sys.exit(wrong != 0)
