"""torch.compile on Ordito: what Inductor fuses becomes kernels of Triton, which run on the device; against the CPU's
operators. Products of matrices and convolutions stay PyTorch's operators.
"""
import sys

try:
    import torch
    import triton  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from torch._dynamo.convert_frame import input_codes
from torch._inductor import metrics

torch.manual_seed(1)
X, Y = torch.randn(64, 128), torch.randn(64, 128)


def chain(x, y):
    return torch.relu(x * 2 + y).sum(1)


def softmax(x, y):
    return torch.softmax(x * y, 1)


def layer_norm(x, y):
    return torch.nn.functional.layer_norm(x + y, (128,)) * torch.sigmoid(y)


def gather(x, y):
    return torch.where(x > 0, x[:, torch.arange(127, -1, -1, device=x.device)], y).cumsum(1)


def halves(x, y):
    return (x.half() * y.half()).float().amax(0)


def in_two_parts(x, y):
    scaled = x.sin() * y
    torch._dynamo.graph_break()
    return scaled.nonzero().sum() + scaled.exp()


def gradient(x, y):
    x = x.detach().requires_grad_()
    return torch.autograd.grad((torch.tanh(x) * y).pow(2).mean(), x)[0]


def train(device, compile_step):
    """The losses of ten steps of a small network."""
    torch.manual_seed(2)
    net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.LayerNorm(32), torch.nn.Linear(32, 1)).to(device)
    inputs = torch.linspace(-1, 1, 512).reshape(64, 8).to(device)
    wanted = inputs.square().sum(1, keepdim=True)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
    forward = torch.compile(net) if compile_step else net
    losses = []
    for _ in range(10):
        optimiser.zero_grad()
        loss = (forward(inputs) - wanted).square().mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return torch.tensor(losses)


wrong = 0


def tell(name, got, wanted):
    global wrong
    kernels, metrics.generated_kernel_count = metrics.generated_kernel_count, 0
    right = torch.allclose(got.cpu(), wanted, rtol=1e-3, atol=1e-3) and kernels > 0
    wrong += not right
    print("ok   " if right else "WRONG", name, f"({kernels} kernels)", flush=True)


for program in (chain, softmax, layer_norm, gather, halves, in_two_parts, gradient):
    metrics.generated_kernel_count = 0
    tell(program.__name__, torch.compile(program)(X.cuda(), Y.cuda()), program(X, Y))
tell("ten steps of training", train("cuda", True), train("cpu", False))
# Operators for the CPU are no part of the program.
compiled = {code.co_filename for code in (seen() for seen in input_codes.seen) if code}
of_operators = {name for name in compiled if "ordito_torch" in name}
print("WRONG compiled, too:" if of_operators else "ok    nothing else is compiled", *of_operators)
sys.exit(wrong != 0 or bool(of_operators))
