"""Programs of tinygrad on Ordito, against NumPy. DEV=CUDA compiles C++ by NVRTC, DEV=CUDA:PTX writes PTX itself."""
import sys

import numpy as np

try:
    from tinygrad import Device, Tensor, TinyJit
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

generator = np.random.default_rng(1)
A = generator.random((48, 64), np.float32)
B = generator.random((64, 32), np.float32)
IMAGE = generator.random((1, 3, 16, 16), np.float32)
WEIGHTS = generator.random((4, 3, 3, 3), np.float32)


def convolved():
    out = np.zeros((1, 4, 14, 14), np.float32)
    for y in range(14):
        for x in range(14):
            out[0, :, y, x] = (WEIGHTS * IMAGE[0, :, y:y + 3, x:x + 3]).sum((1, 2, 3))
    return out


def softmax(a):
    e = np.exp(a - a.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def gradient():
    x = Tensor(A)
    return (x ** 3).sum().gradient(x)[0]


def compiled_once():
    step = TinyJit(lambda x: (x * 2 + 1).realize())
    return np.stack([step(Tensor([float(i)])).numpy() for i in range(4)])


def trains():
    x = Tensor(np.linspace(-1, 1, 64, dtype=np.float32)[:, None])
    y = x * x
    parameters = [Tensor(generator.normal(size=s).astype(np.float32)) for s in ((1, 16), (16,), (16, 1), (1,))]
    losses = []
    for _ in range(30):
        a, b, c, d = parameters
        loss = (((x @ a + b).tanh() @ c + d - y) ** 2).mean()
        parameters = [(p - 0.1 * g).realize() for p, g in zip(parameters, loss.gradient(*parameters))]
        losses.append(loss.item())
    return np.float32(losses[-1] < 0.5 * losses[0])


def numpy_of(value):
    return value.numpy() if isinstance(value, Tensor) else value


CHECKS = {
    "elementwise": (lambda: (Tensor(A) * 2 + 1).exp2(), lambda: np.exp2(A * 2 + 1)),
    "sums": (lambda: Tensor(A).sum(0), lambda: A.sum(0)),
    "a product of matrices": (lambda: Tensor(A) @ Tensor(B), lambda: A @ B),
    "softmax": (lambda: Tensor(A).softmax(), lambda: softmax(A)),
    "a convolution": (lambda: Tensor(IMAGE).conv2d(Tensor(WEIGHTS)), convolved),
    "halves": (lambda: (Tensor(A).half() + 1).float(), lambda: (A.astype(np.float16) + np.float16(1)).astype(np.float32)),
    "integers and shifts": (lambda: Tensor([1, 2, 3]) << 4, lambda: np.array([16, 32, 48])),
    "a gradient": (gradient, lambda: 3 * A * A),
    "compiled once, launched as a graph": (compiled_once, lambda: np.array([[1], [3], [5], [7]], np.float32)),
    "a network is trained": (trains, lambda: np.float32(1)),
}

print(f"on {Device.DEFAULT}")
if Device.DEFAULT.split(":")[0] != "CUDA":
    sys.exit("this is for DEV=CUDA and DEV=CUDA:PTX")
wrong = 0
for name, (run, wanted) in CHECKS.items():
    right = np.allclose(numpy_of(run()), wanted(), rtol=1e-3, atol=1e-3)
    wrong += not right
    print("ok   " if right else "WRONG", name, flush=True)
sys.exit(wrong != 0)
