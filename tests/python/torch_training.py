"""Networks trained ten steps by PyTorch on Ordito, operator by operator and by torch.compile, against the CPU."""
import sys

try:
    import torch
    import triton  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import warnings

from torch import nn
from torch._inductor import metrics

warnings.simplefilter("ignore")  # of what Dynamo does not look into: the operators for the CPU


class Block(nn.Module):
    """A layer of a transformer that reads to the left only."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.join = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.think = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2)
                   for part in self.project(self.before(x)).chunk(3, dim=2))
        seen = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.join(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.think(self.between(x))


def regression():
    x = torch.linspace(-1, 1, 64)[:, None]
    return nn.Linear(1, 1), x, 3 * x - 1, nn.MSELoss(), torch.optim.SGD


def mlp():
    x = torch.linspace(-1, 1, 64)[:, None]
    return nn.Sequential(nn.Linear(1, 13), nn.Tanh(), nn.Linear(13, 1)), x, x.square(), nn.MSELoss(), torch.optim.Adam


def convolutional():
    net = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3),
                        nn.ReLU(), nn.Flatten(), nn.Linear(8 * 16, 10))
    return net, torch.randn(8, 1, 12, 12), torch.arange(8) % 10, nn.CrossEntropyLoss(), torch.optim.SGD


def transformer():
    net = nn.Sequential(nn.Embedding(17, 16), Block(16, 2), Block(16, 2), nn.LayerNorm(16), nn.Linear(16, 17),
                        nn.Flatten(0, 1))
    text = torch.randint(17, (4, 13))
    return net, text[:, :-1], text[:, 1:].flatten(), nn.CrossEntropyLoss(), torch.optim.AdamW


def losses(program, device, compiles):
    torch.manual_seed(1)
    net, x, wanted, loss_of, optimiser_of = program()
    net, x, wanted = net.to(device), x.to(device), wanted.to(device)
    optimiser = optimiser_of(net.parameters(), lr=0.05)
    forward = torch.compile(net) if compiles else net
    found = []
    for _ in range(10):
        optimiser.zero_grad()
        loss = loss_of(forward(x), wanted)
        loss.backward()
        optimiser.step()
        found.append(loss.item())
    return torch.tensor(found)


PROGRAMS = (regression, mlp, convolutional, transformer)


def agree(got, wanted):
    return torch.allclose(got, wanted, rtol=2e-3, atol=2e-4) and got[-1] < got[0]


def main():
    wrong = 0
    for program in PROGRAMS:
        wanted = losses(program, "cpu", False)
        for compiles in (False, True):
            metrics.generated_kernel_count = 0
            got = losses(program, "cuda", compiles)
            right = agree(got, wanted)
            right &= (metrics.generated_kernel_count > 0) == compiles or program is regression
            wrong += not right
            how = f"compiled, {metrics.generated_kernel_count} kernels" if compiles else "operators"
            print("ok   " if right else "WRONG", f"{program.__name__}, {how}: {got[0]:.4f} to {got[-1]:.4f}", flush=True)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
