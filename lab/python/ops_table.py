"""Operations, each on the device and on the CPU: arithmetic, functions, reductions, comparisons, linear algebra."""
from torch_common import GPU, check_close, torch

a, b = torch.rand(4, 4) + 0.5, torch.rand(4, 4) + 0.5
OPERATIONS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "pow": lambda a, b: a ** b, "exp": lambda a, b: a.exp(), "log": lambda a, b: a.log(), "sin": lambda a, b: a.sin(),
    "cos": lambda a, b: a.cos(), "tanh": lambda a, b: a.tanh(), "relu": lambda a, b: (a - 1).relu(),
    "sigmoid": lambda a, b: a.sigmoid(), "sum": lambda a, b: a.sum(), "mean": lambda a, b: a.mean(0),
    "max": lambda a, b: a.max(), "min": lambda a, b: a.min(1).values, "argmax": lambda a, b: a.argmax(1),
    "matmul": lambda a, b: a @ b, "dot": lambda a, b: a[0].dot(b[0]), "transpose": lambda a, b: a.transpose(0, 1),
    "less": lambda a, b: a < b, "equal": lambda a, b: a == a, "where": lambda a, b: torch.where(a < b, a, b),
    "cumsum": lambda a, b: a.cumsum(0), "sort": lambda a, b: a.sort().values, "concatenate": lambda a, b: torch.cat([a, b]),
    "bmm": lambda a, b: torch.bmm(a[None], b[None]), "solve": lambda a, b: torch.linalg.solve(a + 4 * torch.eye(4).to(a), b),
    "inverse": lambda a, b: (a + 4 * torch.eye(4).to(a)).inverse(), "determinant": lambda a, b: a.det(),
    "norm": lambda a, b: a.norm(), "softmax": lambda a, b: a.softmax(1), "einsum": lambda a, b: torch.einsum("ij,ij->i", a, b),
    "convolution": lambda a, b: torch.nn.functional.conv2d(a[None, None], b[None, None, :2, :2]),
}
for name, operation in OPERATIONS.items():
    check_close(operation(a.to(GPU), b.to(GPU)), operation(a, b), name)
print(f"     {len(OPERATIONS)} operations")
