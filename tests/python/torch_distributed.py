"""PyTorch's processes that speak through NCCL: each of two has a device of its own; collective operations, messages,
and training by DistributedDataParallel, which leaves both with the same weights.

Started without a rank it starts itself twice by `torch.distributed.run`.
"""
import os
import subprocess
import sys

try:
    import torch
    import torch.distributed as dist
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

RANKS = 2


def check(what: str, got: torch.Tensor, wanted: list) -> None:
    if got.double().cpu().flatten().tolist() != [float(number) for number in wanted]:
        sys.exit(f"{what}: {got} rather than {wanted}")


def collectives(rank: int) -> None:
    def full(count: int, value: float, dtype=torch.float32) -> torch.Tensor:
        return torch.full((count,), value, device="cuda", dtype=dtype)

    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.uint8):
        summed = torch.arange(5, device="cuda").to(dtype) + rank
        dist.all_reduce(summed)
        check(f"all_reduce of {dtype}", summed, [2 * i + 1 for i in range(5)])
    greatest = full(3, rank - 5)
    dist.all_reduce(greatest, op=dist.ReduceOp.MAX)
    check("greatest", greatest, [-4] * 3)
    parts = [full(2, -1) for _ in range(RANKS)]
    dist.all_gather(parts, full(2, rank))
    check("all_gather", torch.cat(parts), [0, 0, 1, 1])
    told = full(4, rank)
    dist.broadcast(told, 1)
    check("broadcast", told, [1] * 4)
    scattered = full(2, -1)
    dist.reduce_scatter(scattered, [full(2, 10 * part + rank) for part in range(RANKS)])
    check("reduce_scatter", scattered, [20 * rank + 1] * 2)
    exchanged = full(RANKS, -1)
    dist.all_to_all_single(exchanged, full(RANKS, rank))
    check("all_to_all", exchanged, [0, 1])
    message = torch.arange(300000, device="cuda") if rank == 0 else torch.zeros(300000, device="cuda", dtype=torch.int64)
    dist.send(message, 1) if rank == 0 else dist.recv(message, 0)
    check("message", message.sum(), [300000 * 299999 // 2])


def training(rank: int) -> None:
    torch.manual_seed(rank)  # the first one's weights are everybody's
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1).cuda(), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    wanted = torch.tensor([1.0, -2.0, 3.0, 0.5], device="cuda")
    for _ in range(150):
        data = torch.randn(32, 4, device="cuda")
        loss = ((model(data).squeeze() - data @ wanted - 1) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    weights = model.module.weight.detach()
    everybodys = [torch.empty_like(weights) for _ in range(RANKS)]
    dist.all_gather(everybodys, weights)
    if not all(torch.equal(other, weights) for other in everybodys):
        sys.exit(f"weights differ: {everybodys}")
    if not torch.allclose(weights.flatten(), wanted, atol=1e-2):
        sys.exit(f"not learnt: {weights}")


if "LOCAL_RANK" not in os.environ:
    started = [sys.executable, "-B", "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={RANKS}", __file__]
    sys.exit(subprocess.run(started, env={**os.environ, "ORDITO_GPU": ",".join(["h200"] * RANKS)}).returncode)
own = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(own)
dist.init_process_group("nccl", device_id=torch.device("cuda", own))
collectives(own)
training(own)
dist.destroy_process_group()
print(f"rank {own}: ok")
