"""CUDA graphs of PyTorch's operators on Ordito: nothing runs while they are captured, and each launch runs them on the
same memory. What programs make of graphs is what they make without, on the CPU.
"""
import ctypes
import gc
import sys

try:
    import torch
    import triton
    import triton.language as tl
    from ordito_torch import graphs
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from torch_training import PROGRAMS, agree, losses

GPU = torch.device("cuda")


def recorded(function):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function()
    return graph, result


def nothing_runs_before():
    a, b = torch.ones(4, device=GPU), torch.zeros(4, device=GPU)
    graph, c = recorded(lambda: b.add_(a * 2).exp())
    assert b.tolist() == [0] * 4, b
    for k in (2, 4):
        graph.replay()
        assert torch.equal(b, torch.full((4,), float(k), device=GPU)) and torch.equal(c, b.exp()), (b, c)
    a.fill_(-1)
    graph.replay()
    assert b.tolist() == [2] * 4, b


def several_results_and_out():
    a = torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]], device=GPU)
    out = torch.empty(0, device=GPU)

    def run():
        torch.matmul(a, a.T, out=out)
        return a.sort(1), a.t().contiguous(), torch.stack((a[0], a[1])), (a > 1).float().conj()

    graph, (in_order, turned, stacked, big) = recorded(run)
    a.mul_(2)
    graph.replay()
    assert in_order.values.tolist() == [[2, 4, 6], [0, 8, 10]] and in_order.indices.tolist() == [[1, 2, 0], [0, 2, 1]]
    assert out.tolist() == [[56, 52], [52, 164]] and torch.equal(turned, a.t()) and torch.equal(stacked, a)
    assert big.tolist() == [[1, 1, 1], [0, 1, 1]]


def between_kernels():
    @triton.jit
    def double(p, n, size: tl.constexpr):
        i = tl.arange(0, size)
        tl.store(p + i, tl.load(p + i, i < n) * 2, i < n)

    a = torch.arange(6.0, device=GPU)

    def run():
        b = a + 1
        double[(1,)](b, 6, size=8)
        return b - 1

    run()
    graph, c = recorded(run)
    a.add_(10)
    graph.replay()
    assert c.tolist() == [21, 23, 25, 27, 29, 31], c


def random_numbers():
    graph, numbers = recorded(lambda: torch.rand(8, device=GPU))

    def launches():
        torch.cuda.manual_seed(5)
        found = []
        for _ in range(2):
            graph.replay()
            found.append(numbers.tolist())
        return found

    one, two = launches()
    assert one != two and launches() == [one, two], (one, two)


def callables():
    torch.manual_seed(2)
    net = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))
    x = torch.randn(4, 5)
    net(x).square().sum().backward()
    wanted = [p.grad.clone() for p in net.parameters()]
    net = net.to(GPU)
    graphed = torch.cuda.make_graphed_callables(net, (x.to(GPU),))
    net.zero_grad()
    graphed(x.to(GPU)).square().sum().backward()
    for p, gradient in zip(net.parameters(), wanted, strict=True):
        assert torch.allclose(p.grad.cpu(), gradient, rtol=1e-5, atol=1e-6)


def losses_by_graph(program):
    """Three steps as they are, and seven by a graph of one."""
    torch.manual_seed(1)
    net, x, wanted, loss_of, optimiser_of = program()
    net, x, wanted = net.to(GPU), x.to(GPU), wanted.to(GPU)
    options = {} if optimiser_of is torch.optim.SGD else {"capturable": True}
    optimiser = optimiser_of(net.parameters(), lr=0.05, **options)

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(net(x), wanted)
        loss.backward()
        optimiser.step()
        return loss

    found, stream = [], torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        found += [step().item() for _ in range(3)]
    torch.cuda.current_stream().wait_stream(stream)
    graph, loss = recorded(step)
    for _ in range(7):
        graph.replay()
        found.append(loss.item())
    return torch.tensor(found)


def training():
    for program in PROGRAMS:
        wanted = losses(program, "cpu", False)
        found = losses_by_graph(program)
        assert agree(found, wanted), (program.__name__, found, wanted)


def compiled():
    x, y, before = torch.randn(32, 16), torch.randn(16, 8), len(graphs._nodes)
    forward = torch.compile(lambda x, y: torch.softmax(x @ y, 1) * 2, mode="reduce-overhead")
    for k in range(4):
        found = forward((x * k).to(GPU), y.to(GPU)).cpu()
        assert torch.allclose(found, torch.softmax(x * k @ y, 1) * 2, rtol=1e-4, atol=1e-5), k
    assert len(graphs._nodes) > before, "the compiled program makes no graph"


def shapes_that_nobody_knows():
    a = torch.ones(3, device=GPU)
    try:
        recorded(lambda: a.nonzero())
    except NotImplementedError as error:
        assert "aten::nonzero cannot be captured" in str(error), error
    else:
        raise AssertionError("nonzero was captured")


def mistakes_are_told():
    table, index = torch.ones(3, device=GPU), torch.zeros(2, dtype=torch.long, device=GPU)
    graph, _ = recorded(lambda: table[index])
    graph.replay()
    torch.cuda.synchronize()
    index.fill_(7)
    graph.replay()
    try:
        table.add(1)
    except IndexError as error:
        assert "out of bounds" in str(error), error
    else:
        raise AssertionError("no word of an index that there is not")


def nothing_is_left():
    gc.collect()
    torch.cuda.synchronize()
    before = len(graphs._nodes)
    graph, _ = recorded(lambda: torch.ones(3, device=GPU) + 1)
    assert len(graphs._nodes) > before
    graph.replay()
    torch.cuda.synchronize()
    del graph
    gc.collect()
    assert len(graphs._nodes) == before, graphs._nodes.keys()


def still_running_at_the_end():
    """Python waits for what is still in the stream, and for nothing of a graph that is never destroyed."""
    a = torch.ones(1 << 20, device=GPU)

    def run():
        for _ in range(20):
            a.exp_().log_()

    graph, _ = recorded(run)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(graph))
    graph.replay()


for test in (nothing_runs_before, several_results_and_out, between_kernels, random_numbers, callables, training, compiled,
             shapes_that_nobody_knows, mistakes_are_told, nothing_is_left, still_running_at_the_end):
    test()
    print(f"ok   {test.__name__}", flush=True)
