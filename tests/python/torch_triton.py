"""A kernel of Triton on PyTorch's tensors: the kernel runs as one of a GPU does, the operators beside it on the CPU."""
import sys

try:
    import torch
    import triton
    import triton.language as tl
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


@triton.jit
def scale_and_add(x, y, out, factor, n, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    tl.store(out + index, tl.load(x + index, mask=inside) * factor + tl.load(y + index, mask=inside), mask=inside)


class ScaleAndAdd(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        out = torch.empty_like(x)
        scale_and_add[(triton.cdiv(x.numel(), 256),)](x, y, out, 2.0, x.numel(), BLOCK=256)
        return out

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient, gradient


x = torch.rand(1000, device="cuda", requires_grad=True)
y = torch.rand(1000, device="cuda")
out = ScaleAndAdd.apply(x * 3, y)
out.sum().backward()
right = torch.allclose(out, 6 * x + y) and torch.equal(x.grad, torch.full_like(x, 6))
print("right" if right else "WRONG")
sys.exit(0 if right else 1)
