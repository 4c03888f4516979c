"""PyTorch with device="cuda" under ordito_torch, held against the same on the CPU: operators, layers with their
gradients, training, and what torch.cuda offers beside operators."""
import copy
import gc
import io
import sys
import tempfile

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.nn import functional as F

torch.backends.disable_global_flags()  # as PyTorch's own tests do: what is imported later sets no flags
GPU = torch.device("cuda")
failures = []


def check(condition, what):
    print(f"{'ok  ' if condition else 'FAILED'} {what}", flush=True)
    if not condition:
        failures.append(what)


def attempt(what, function):
    try:
        result = function()
        check(result is None or bool(result), what)
    except Exception as error:  # one after the other: a test of many things
        check(False, f"{what}: {type(error).__name__}: {str(error)[:300]}")


def same(got, expected, tolerance=1e-5):
    if isinstance(got, torch.Tensor):
        return got.is_cuda and got.dtype == expected.dtype and got.shape == expected.shape and \
            torch.allclose(got.cpu(), expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    if isinstance(got, (list, tuple)):
        return len(got) == len(expected) and all(same(one, other, tolerance) for one, other in zip(got, expected))
    return got == expected


def raises(kind, text, function):
    try:
        function()
    except kind as error:
        return text in str(error)
    return False


def of_both(function, *tensors):
    """The function on the GPU's copies gives what it gives on the CPU."""
    return same(function(*(tensor.to(GPU) for tensor in tensors)), function(*tensors))


torch.manual_seed(0)
A, B, VECTOR = torch.randn(6, 6), torch.randn(6, 6), torch.randn(6)
SQUARE = A @ A.T + 6 * torch.eye(6)
WHOLE = torch.randint(0, 9, (4, 5))
COMPLEX = torch.randn(4, 4, dtype=torch.complex64)
OPERATORS = {
    "arithmetic": lambda: of_both(lambda a, b: (a + b, a - 2, a * b, a / b, a ** 2, -a, a % 2, a // 0.5), A, B),
    "functions": lambda: of_both(lambda a: (a.exp(), a.abs().log(), a.sin(), a.cos(), a.tanh(), a.relu(), a.sigmoid()), A),
    "reductions": lambda: of_both(lambda a: (a.sum(), a.mean(1), a.max(), a.min(0), a.std(), a.prod(0), a.argmax(1)), A),
    "products": lambda: of_both(lambda a, b, v: (a @ b, a @ v, v.dot(v), v.outer(v), a.mv(v),
                                                 torch.einsum("ij,kj->ik", a, b), torch.addmm(a, a, b)), A, B, VECTOR),
    "comparisons": lambda: of_both(lambda a, b: (a > b, a == a, torch.where(a > 0, a, b), torch.equal(a, b)), A, B),
    "views and copies of them": lambda: of_both(lambda a: (a.T, a.T.contiguous(), a[1:4, ::2].clone(), a.flip(0),
                                                           a.view(4, 9), a.reshape(-1), a.permute(1, 0)[2:].exp()), A),
    "indexing": lambda: of_both(lambda a, w: (a[w[:, 0] % 6], a[a > 0], a[:, [1, 3]], a.gather(1, w[:, :4] % 4),
                                              a.index_select(0, w[0] % 6), w.nonzero(), w[0].bincount()),
                                A, WHOLE),
    "sorting": lambda: of_both(lambda a, w: (a.sort(), a.topk(2), a.cumsum(0), w.unique(), a.median(1), a.argsort()), A, WHOLE),
    "joining": lambda: of_both(lambda a, b: (torch.cat([a, b]), torch.stack([a, b]), a.chunk(2), torch.meshgrid(a[0], b[0], indexing="ij")), A, B),
    "linear algebra": lambda: of_both(lambda s, a: (torch.linalg.solve(s, a), torch.linalg.inv(s), torch.linalg.cholesky(s),
                                                    torch.linalg.qr(a), torch.linalg.svdvals(a), torch.linalg.det(s),
                                                    torch.linalg.eigvalsh(s), torch.linalg.norm(a)), SQUARE, A),
    "order of vectors": lambda: torch.linalg.svd(SQUARE.to(GPU)).Vh.is_contiguous() and
                                torch.linalg.eig(SQUARE.to(GPU)).eigenvectors.is_contiguous(),
    "complex numbers": lambda: of_both(lambda c: (c.conj() @ c, c.conj().clone(), c.imag + 1, c.mH.contiguous(), c.abs()), COMPLEX),
    "transforms": lambda: of_both(lambda a: (torch.fft.fft(a), torch.fft.irfft2(torch.fft.rfft2(a))), A),
    "types": lambda: of_both(lambda a: (a.half() * 2, a.bfloat16() + 1, a.double().sum(), a.int(), a.bool(), a.to(torch.uint8)), A.abs()),
    "made in place": lambda: same(torch.arange(6, device=GPU), torch.arange(6)) and same(torch.eye(3, device=GPU), torch.eye(3))
    and same(torch.full((2, 2), 7, device=GPU), torch.full((2, 2), 7)) and same(torch.tril_indices(3, 3, device=GPU), torch.tril_indices(3, 3))
    and same(torch.linspace(0, 1, 5, device=GPU), torch.linspace(0, 1, 5)) and same(torch.zeros_like(A.to(GPU)), torch.zeros_like(A)),
    "printing": lambda: repr(torch.ones(2, 2, device=GPU)) == "tensor([[1., 1.],\n        [1., 1.]], device='cuda:0')",
}


def written_in_place():
    a = A.to(GPU)
    pointer = a.data_ptr()
    a.add_(1).mul_(2)
    a[0] = 5
    a[1:3, ::2] = 7
    a[a < 0] = 0
    a.index_add_(0, torch.tensor([0], device=GPU), torch.ones(1, 6, device=GPU))
    b = (A + 1) * 2
    b[0] = 5
    b[1:3, ::2] = 7
    b[b < 0] = 0
    b[0] += 1
    return same(a, b) and a.data_ptr() == pointer


def out_arguments():
    out = torch.empty(0, device=GPU)
    result = torch.add(A.to(GPU), B.to(GPU), out=out)
    values, indices = torch.empty(6, device=GPU), torch.empty(6, dtype=torch.long, device=GPU)
    torch.max(A.to(GPU), 1, out=(values, indices))
    return result is out and same(out, A + B) and same((values, indices), tuple(A.max(1)))


def layer(module, *inputs, tolerance=1e-4):
    """Outputs and gradients of a layer and of its copy on the GPU."""
    def run(module, inputs):
        output = module(*inputs)
        output = output[0] if isinstance(output, tuple) else output
        (output * output).sum().backward()
        return [output.detach()] + [parameter.grad for parameter in module.parameters() if parameter.grad is not None]

    on_gpu = copy.deepcopy(module).to(GPU)
    return same(run(on_gpu, [tensor.to(GPU) for tensor in inputs]), run(module, inputs), tolerance)


def orders_are_expected():
    """In memory, with channels last or not: those that compiled programs expect."""
    data = torch.randn(2, 3, 8, 8, device=GPU).to(memory_format=torch.channels_last).requires_grad_()
    weight = torch.randn(4, 3, 3, 3, device=GPU).to(memory_format=torch.channels_last).requires_grad_()

    def strides(data, weight):
        result = torch.conv2d(data, weight)
        arguments = ([0], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, True, False])
        backwards = torch.ops.aten.convolution_backward(torch.ones_like(result), data, weight, *arguments)
        return [each.stride() for each in (result, *backwards[:2])]

    with FakeTensorMode() as mode:
        expected = strides(mode.from_tensor(data), mode.from_tensor(weight))
    return strides(data, weight) == expected


LAYERS = {
    "Linear": lambda: layer(nn.Linear(6, 3), A),
    "Conv2d": lambda: layer(nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, groups=8)), torch.randn(2, 3, 8, 8)),
    "order of a convolution's results": orders_are_expected,
    "ConvTranspose2d": lambda: layer(nn.ConvTranspose2d(3, 4, 3, stride=2), torch.randn(2, 3, 5, 5)),
    "BatchNorm2d": lambda: layer(nn.BatchNorm2d(3), torch.randn(4, 3, 5, 5)),
    "LayerNorm, GroupNorm": lambda: layer(nn.Sequential(nn.LayerNorm(6), nn.GroupNorm(2, 6)), A),
    "RMSNorm": lambda: layer(nn.RMSNorm(6), A),
    "LSTM": lambda: layer(nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True), torch.randn(2, 4, 6)),
    "GRU": lambda: layer(nn.GRU(6, 5), torch.randn(3, 2, 6)),
    "RNN": lambda: layer(nn.RNN(6, 5), torch.randn(3, 2, 6)),
    "LSTMCell": lambda: layer(nn.LSTMCell(6, 5), A),
    "GRUCell": lambda: layer(nn.GRUCell(6, 5), A),
    "Embedding": lambda: layer(nn.Embedding(9, 4), WHOLE),
    "MultiheadAttention": lambda: layer(nn.MultiheadAttention(6, 2), *[torch.randn(4, 2, 6)] * 3),
    "TransformerEncoder": lambda: layer(nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 2), torch.randn(2, 5, 8)),
    "scaled_dot_product_attention": lambda: of_both(lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), torch.randn(2, 2, 4, 8)),
    "ctc_loss": lambda: of_both(lambda p, t: F.ctc_loss(p.log_softmax(2), t, (5, 5), (2, 3)), torch.randn(5, 2, 4),
                                torch.tensor([[1, 2, 0], [3, 1, 2]])),
    "losses": lambda: of_both(lambda a, w: (F.cross_entropy(a[:4], w[:, 0] % 6), F.mse_loss(a, a + 1), F.nll_loss(a[:4].log_softmax(1), w[:, 0] % 6),
                                            F.binary_cross_entropy_with_logits(a, a.sigmoid()), F.huber_loss(a, a * 2)), A, WHOLE),
}


def layer_norm_of_halves():
    """The gradients of weight and bias are sums over a thousand rows: a GPU adds in single precision and rounds once."""
    gradient = 0.1 * torch.randn(1151, 256)

    def run(device, kind):
        values, weight, bias = (torch.linspace(low, 1, 1151 * 256)[:count].reshape(shape).half().to(device, kind).requires_grad_()
                                for low, count, shape in ((-2, 1151 * 256, (1151, 256)), (0.5, 256, (256,)), (-1, 256, (256,))))
        result = F.layer_norm(values, (256,), weight, bias)
        result.backward(gradient.half().to(device, kind))
        return [result.detach(), *(leaf.grad for leaf in (values, weight, bias))]

    return all(torch.allclose(got.cpu().double(), expected, rtol=2e-3, atol=2e-3)
               for got, expected in zip(run(GPU, torch.half), run("cpu", torch.double)))


def trained(device, make, steps=10):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 1)).to(device)
    optimizer = make(model.parameters())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = F.mse_loss(model(A.to(device)), VECTOR.to(device)[:, None])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def optimizer(make):
    got, expected = trained(GPU, make), trained("cpu", make)
    return got[-1] < got[0] and all(abs(a - b) < 1e-4 for a, b in zip(got, expected))


OPTIMIZERS = {
    "SGD with momentum": lambda: optimizer(lambda p: torch.optim.SGD(p, 0.05, momentum=0.9)),
    "Adam": lambda: optimizer(lambda p: torch.optim.Adam(p, 0.01)),
    "AdamW, fused": lambda: optimizer(lambda p: torch.optim.AdamW(p, 0.01, fused=True)),
    "RMSprop": lambda: optimizer(lambda p: torch.optim.RMSprop(p, 0.01)),
}


def mixed_precision():
    torch.manual_seed(1)
    model, scaler = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)).cuda(), torch.amp.GradScaler("cuda")
    optimizer_ = torch.optim.SGD(model.parameters(), 0.05)
    losses = []
    for _ in range(10):
        optimizer_.zero_grad()
        with torch.autocast("cuda", torch.float16):
            output = model(A.cuda())
            loss = F.mse_loss(output.float(), VECTOR.cuda()[:, None])
        scaler.scale(loss).backward()
        scaler.step(optimizer_)
        scaler.update()
        losses.append(loss.item())
    return output.dtype == torch.float16 and losses[-1] < losses[0]


def generators():
    torch.cuda.manual_seed(5)
    state, cpu_state = torch.cuda.get_rng_state(), torch.get_rng_state()
    first = torch.randn(100, device=GPU)
    dropped = F.dropout(first, 0.5)
    torch.cuda.set_rng_state(state)
    again = torch.randn(100, device=GPU)
    own = torch.Generator("cuda").manual_seed(7)
    one = torch.rand(5, device=GPU, generator=own)
    other = torch.rand(5, device=GPU, generator=own)
    repeated = torch.rand(5, device=GPU, generator=torch.Generator("cuda").manual_seed(7))
    return torch.equal(first, again) and torch.equal(dropped, F.dropout(again, 0.5)) and not torch.equal(one, other) and \
        torch.equal(one, repeated) and torch.equal(cpu_state, torch.get_rng_state()) and \
        torch.randperm(9, device=GPU).sort()[0].equal(torch.arange(9, device=GPU)) and abs(torch.randn(10000, device=GPU).std().item() - 1) < 0.05


def checkpointed():
    model = nn.Sequential(nn.Linear(6, 6), nn.Dropout(0.5), nn.Linear(6, 6)).cuda()
    torch.utils.checkpoint.checkpoint(model, A.cuda().requires_grad_(), use_reentrant=False).sum().backward()
    return all(parameter.grad is not None for parameter in model.parameters())


def saved():
    model = nn.Linear(6, 3).cuda()
    with tempfile.TemporaryFile() as file:
        torch.save(model.state_dict(), file)
        file.seek(0)
        state = torch.load(file)
        file.seek(0)
        on_cpu = torch.load(file, map_location="cpu")
    buffer = io.BytesIO()
    torch.save(A.cuda(), buffer)
    buffer.seek(0)
    return state["weight"].is_cuda and torch.equal(state["weight"], model.weight) and not on_cpu["weight"].is_cuda and \
        same(torch.load(buffer), A)


def loaded():
    data = torch.utils.data.TensorDataset(torch.arange(10.0), torch.arange(10))
    loader = torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True, num_workers=1)
    sums = [(x.is_pinned(), (x.to(GPU, non_blocking=True) + y.to(GPU, non_blocking=True)).sum().item()) for x, y in loader]
    return all(pinned for pinned, _ in sums) and sum(value for _, value in sums) == 90


def streams():
    side, start, end = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    with torch.cuda.stream(side):
        a = A.pin_memory().to(GPU, non_blocking=True)
        b = a * 2
        end.record(side)
    torch.cuda.current_stream().wait_stream(side)
    c = b + 1
    torch.cuda.synchronize()
    return same(c, A * 2 + 1) and end.query() and start.elapsed_time(end) >= 0


def memory():
    gc.collect()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    a = torch.zeros(1 << 20, device=GPU)
    during = torch.cuda.memory_allocated()
    del a
    free, total = torch.cuda.mem_get_info()
    return during - before == 4 << 20 and torch.cuda.memory_allocated() == before and \
        torch.cuda.max_memory_allocated() >= during and 0 < free <= total and "Allocated memory" in torch.cuda.memory_summary()


def subclassed():
    class Doubling(torch.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    value = torch.ones(3, device=GPU, requires_grad=True)
    Doubling.apply(value).sum().backward()
    hessian = torch.autograd.functional.hessian(lambda x: (x ** 3).sum(), torch.tensor([2.0], device=GPU))
    return same(value.grad, torch.full((3,), 2.0)) and hessian.item() == 12 and \
        same(torch.func.vmap(torch.func.grad(lambda x: (x * x).sum()))(A.to(GPU)), 2 * A)


AROUND = {
    "available": lambda: torch.cuda.is_available() and torch.cuda.device_count() >= 1 and torch.cuda.current_device() == 0,
    "properties": lambda: torch.cuda.get_device_name(0) == torch.cuda.get_device_properties(0).name and
    torch.cuda.get_device_capability() == (torch.cuda.get_device_properties(0).major, torch.cuda.get_device_properties(0).minor),
    "written in place": written_in_place,
    "out= arguments": out_arguments,
    "autograd's own functions, second derivatives, vmap": subclassed,
    "layer normalisation of halves": layer_norm_of_halves,
    "mixed precision": mixed_precision,
    "generators": generators,
    "checkpointing": checkpointed,
    "saving and loading": saved,
    "DataLoader with pinned memory and a worker": loaded,
    "streams and events": streams,
    "memory's statistics": memory,
    "devices are not mixed": lambda: raises(RuntimeError, "same device", lambda: A.to(GPU) + B) and same(A.to(GPU) * torch.tensor(2.0), A * 2),
    "shapes that do not fit": lambda: raises(RuntimeError, "must match", lambda: A.to(GPU) + torch.ones(5, device=GPU)),
    "default device": lambda: default_device(),
}


def default_device():
    with torch.device("cuda"):
        return same(torch.ones(3) + torch.arange(3), torch.ones(3, device="cpu") + torch.arange(3, device="cpu"))


REFUSED = {
    "operators without an equal are refused by name": lambda: raises(
        NotImplementedError, "aten::_cudnn_init_dropout_state", lambda: torch._cudnn_init_dropout_state(0.5, True, 0, dtype=torch.uint8, device=GPU)),
}

for group in (OPERATORS, LAYERS, OPTIMIZERS, AROUND, REFUSED):
    for what, function in group.items():
        attempt(what, function)
print(f"{len(failures)} failed")
sys.exit(1 if failures else 0)
