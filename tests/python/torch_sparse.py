"""Sparse tensors of PyTorch on Ordito's devices, against the same on the CPU."""
import sys

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
import warnings

from torch import nn

warnings.simplefilter("ignore")  # that compressed tensors are new
torch.manual_seed(1)
GPU = torch.device("cuda")
A = torch.randn(6, 5) * (torch.rand(6, 5) > 0.5)
B, C, V = torch.randn(5, 4), torch.randn(6, 4), torch.randn(5)
INDICES, VALUES = torch.tensor([[0, 2, 2, 0], [1, 0, 0, 3]]), torch.tensor([1.0, 2, 3, 4])


def built(device):
    return torch.sparse_coo_tensor(INDICES.to(device), VALUES.to(device), (3, 4))


def out_of(function, *arguments, like):
    out = torch.empty(0, device=arguments[0].device) if like is None else like
    function(*arguments, out=out)
    return out


def gradients(function, *arguments):
    arguments = [argument.detach().clone().requires_grad_() for argument in arguments]
    function(*arguments).square().sum().backward()
    return [argument.grad for argument in arguments]


# Each gets the device, and what it gives there is to be what it gives on the CPU.
COO = {
    "building": built,
    "to_sparse": lambda d: A.to(d).to_sparse(),
    "to another device and back": lambda d: A.to_sparse().to(d).cpu().to(d),
    "coalesce": lambda d: built(d).coalesce(),
    "parts": lambda d: (built(d).coalesce().indices(), built(d).coalesce().values(), built(d)._nnz()),
    "to_dense": lambda d: built(d).to_dense(),
    "product with a matrix": lambda d: A.to(d).to_sparse() @ B.to(d),
    "product with a vector": lambda d: A.to(d).to_sparse() @ V.to(d),
    "addmm": lambda d: torch.addmm(C.to(d), A.to(d).to_sparse(), B.to(d), beta=0.5, alpha=2),
    "torch.sparse.mm of two": lambda d: torch.sparse.mm(A.to(d).to_sparse(), B.to(d).to_sparse()),
    "bmm": lambda d: torch.bmm(torch.stack((A, A * 2)).to(d).to_sparse(), torch.stack((B, B)).to(d)),
    "sums": lambda d: A.to(d).to_sparse() + (A > 0).float().to(d).to_sparse(),
    "sum with a matrix": lambda d: C.to(d) + (C * (C > 0)).to(d).to_sparse(),
    "differences and products": lambda d: (built(d) - built(d) * 2, built(d).coalesce() * built(d).coalesce()),
    "division": lambda d: built(d) / 4,
    "functions": lambda d: (built(d).coalesce().sin(), A.to(d).to_sparse().abs().sqrt(), built(d).coalesce().neg()),
    "in place": lambda d: (built(d).mul_(3), built(d).coalesce().sin_(), built(d).add_(built(d))),
    "added in place to a matrix": lambda d: torch.ones(3, 4, device=d).add_(built(d), alpha=2),
    "zero_": lambda d: built(d).zero_(),
    "out=": lambda d: out_of(torch.mul, built(d).coalesce(), built(d).coalesce(), like=torch.sparse_coo_tensor((3, 4), device=d)),
    "transposition": lambda d: built(d).t(),
    "sum": lambda d: (torch.sparse.sum(built(d)), torch.sparse.sum(built(d), 0), built(d).coalesce().sum()),
    "softmax": lambda d: (torch.sparse.softmax(built(d), 1), torch.sparse.log_softmax(built(d), 1)),
    "index_select": lambda d: built(d).index_select(0, torch.tensor([2, 0], device=d)),
    "cat": lambda d: torch.cat((built(d), built(d))),
    "sparse_mask": lambda d: torch.ones(3, 4, device=d).sparse_mask(built(d).coalesce()),
    "norm": lambda d: built(d).norm(),
    "clone and comparison": lambda d: built(d).clone().coalesce().isnan(),
    "gradients of a product": lambda d: gradients(lambda a, b: torch.sparse.mm(a, b), A.to(d).to_sparse(), B.to(d)),
    "gradients of to_dense": lambda d: gradients(lambda a: a.to_dense() * 2, A.to(d).to_sparse()),
}


def csr(device, layout=torch.sparse_csr):
    return A.to(device).to_sparse(layout=layout)


COMPRESSED = {
    "to_sparse_csr": csr,
    "to_sparse_csc": lambda d: csr(d, torch.sparse_csc),
    "to_sparse_bsr": lambda d: torch.eye(4, device=d).to_sparse_bsr((2, 2)),
    "building": lambda d: torch.sparse_csr_tensor(torch.tensor([0, 1, 3]).to(d), torch.tensor([1, 0, 2]).to(d), VALUES[:3].to(d), (2, 3)),
    "parts": lambda d: (csr(d).crow_indices(), csr(d).col_indices(), csr(d).values()),
    "to another device and back": lambda d: csr("cpu").to(d).cpu().to(d),
    "to_dense": lambda d: csr(d).to_dense(),
    "to COO": lambda d: csr(d).to_sparse(),
    "product with a matrix": lambda d: csr(d) @ B.to(d),
    "product with a vector": lambda d: csr(d) @ V.to(d),
    "product of two": lambda d: csr(d) @ B.to(d).to_sparse_csr(),
    "addmm": lambda d: torch.addmm(C.to(d), csr(d), B.to(d)),
    "sum of two": lambda d: csr(d) + csr(d),
    "functions": lambda d: (csr(d).sin(), csr(d).abs(), csr(d).neg()),
    "in place": lambda d: (csr(d).mul_(3), csr(d).sin_()),
    "sampled_addmm": lambda d: torch.sparse.sampled_addmm(csr(d), C.to(d), B.T.to(d).contiguous()),
}


def embedding(device, optimiser):
    """The weights after some steps with sparse gradients."""
    torch.manual_seed(3)
    net = nn.Embedding(11, 4, sparse=True).to(device)
    steps = optimiser(net.parameters(), lr=0.1)
    for k in range(5):
        steps.zero_grad()
        net(torch.tensor([k, 3, 3, 10], device=device)).square().sum().backward()
        steps.step()
    return net.weight.detach()


TRAINING = {
    "embedding by SGD": lambda d: embedding(d, torch.optim.SGD),
    "embedding by SparseAdam": lambda d: embedding(d, torch.optim.SparseAdam),
}


def agree(got, wanted):
    if isinstance(wanted, (list, tuple)):
        return len(got) == len(wanted) and all(map(agree, got, wanted))
    if not isinstance(wanted, torch.Tensor):
        return got == wanted
    if got.device.type != "cuda" or got.layout != wanted.layout or got.dtype != wanted.dtype:
        return False
    if wanted.layout is torch.sparse_coo and got.is_coalesced() != wanted.is_coalesced():
        return False
    if wanted.layout is not torch.strided:
        got, wanted = got.cpu().to_dense(), wanted.to_dense()
    return torch.allclose(got.cpu(), wanted, rtol=1e-5, atol=1e-6, equal_nan=True)


failures = 0
for group in (COO, COMPRESSED, TRAINING):
    for what, function in group.items():
        wanted = function(torch.device("cpu"))
        try:
            found = function(GPU)
            verdict = "ok" if agree(found, wanted) else f"FAILED {found} rather than {wanted}"
        except Exception as error:
            verdict = f"FAILED {error}"
        failures += verdict != "ok"
        print(f"{verdict[:900]:4} {what}", flush=True)
print(f"{failures} failed")
sys.exit(failures != 0)
