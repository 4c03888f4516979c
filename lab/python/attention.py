"""Triton: attention without the matrix of its scores, and its gradients, by kernels that keep a block of it at a time."""
from triton_common import GPU, check, check_close, halves, tl, torch, triton

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def load_rows(base, rows, length, D: tl.constexpr):
    return tl.load(base + rows[:, None] * D + tl.arange(0, D)[None, :], mask=rows[:, None] < length, other=0.0)


@triton.jit
def store_rows(base, rows, values, length, D: tl.constexpr):
    at = base + rows[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(at, values.to(base.dtype.element_ty), mask=rows[:, None] < length)


@triton.jit
def seen(rows, keys, length, CAUSAL: tl.constexpr):
    """Which key counts for which query: those that are there and, if CAUSAL, not after it."""
    there = (keys < length)[None, :] & (rows >= 0)[:, None]
    return there & (rows[:, None] >= keys[None, :]) if CAUSAL else there


@triton.jit
def take_in(sums, total, largest, q, k, v, rows, first, last, length, scale, MASKED: tl.constexpr, CAUSAL: tl.constexpr,
            BN: tl.constexpr, D: tl.constexpr):
    """Keys from first to last: what was summed before shrinks as a larger score is found."""
    for start in range(first, last, BN):
        keys = start + tl.arange(0, BN)
        scores = tl.dot(q, tl.trans(load_rows(k, keys, length, D))) * scale
        if MASKED:
            scores = tl.where(seen(rows, keys, length, CAUSAL), scores, -float("inf"))
        now = tl.maximum(largest, tl.max(scores, 1))
        weights = tl.exp2(scores - now[:, None])
        shrink = tl.exp2(largest - now)
        total = total * shrink + tl.sum(weights, 1)
        sums = tl.dot(weights.to(tl.float16), load_rows(v, keys, length, D), sums * shrink[:, None])
        largest = now
    return sums, total, largest


@triton.jit
def forward_kernel(Q, K, V, Out, Log, length, scale, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head, begin = tl.program_id(1) * length, tl.program_id(0) * BM
    rows = begin + tl.arange(0, BM)
    q = load_rows(Q + head * D, rows, length, D)
    sums, total, largest = tl.zeros((BM, D), tl.float32), tl.zeros((BM,), tl.float32), tl.full((BM,), -float("inf"), tl.float32)
    # First the blocks of keys of which every query sees each, then those that need a mask.
    whole = begin if CAUSAL else length // BN * BN
    end = min(begin + BM, length) if CAUSAL else length
    sums, total, largest = take_in(sums, total, largest, q, K + head * D, V + head * D, rows, 0, whole, length, scale,
                                   False, CAUSAL, BN, D)
    sums, total, largest = take_in(sums, total, largest, q, K + head * D, V + head * D, rows, whole, end, length, scale,
                                   True, CAUSAL, BN, D)
    store_rows(Out + head * D, rows, sums / total[:, None], length, D)
    tl.store(Log + head + rows, largest + tl.log2(total), mask=rows < length)


@triton.jit
def keys_gradient_kernel(Q, K, V, G, Log, Delta, DK, DV, length, scale, CAUSAL: tl.constexpr, BM: tl.constexpr,
                         BN: tl.constexpr, D: tl.constexpr):
    """A block of keys, held, and the queries that see it, one block after the other: all with keys down, queries across."""
    head, begin = tl.program_id(1) * length, tl.program_id(0) * BN
    keys = begin + tl.arange(0, BN)
    k, v = load_rows(K + head * D, keys, length, D), load_rows(V + head * D, keys, length, D)
    dk, dv = tl.zeros((BN, D), tl.float32), tl.zeros((BN, D), tl.float32)
    for start in range(begin // BM * BM if CAUSAL else 0, length, BM):
        rows = start + tl.arange(0, BM)
        q, g = load_rows(Q + head * D, rows, length, D), load_rows(G + head * D, rows, length, D)
        log = tl.load(Log + head + rows, mask=rows < length, other=float("inf"))
        delta = tl.load(Delta + head + rows, mask=rows < length, other=0.0)
        weights = tl.exp2(tl.dot(k, tl.trans(q)) * (scale * LOG2_E) - log[None, :])
        weights = tl.where(tl.trans(seen(rows, keys, length, CAUSAL)), weights, 0.0)
        dv = tl.dot(weights.to(tl.float16), g, dv)
        slopes = weights * (tl.dot(v, tl.trans(g)) - delta[None, :])
        dk = tl.dot(slopes.to(tl.float16), q, dk)
    store_rows(DK + head * D, keys, dk * scale, length, D)
    store_rows(DV + head * D, keys, dv, length, D)


@triton.jit
def queries_gradient_kernel(Q, K, V, G, Log, Delta, DQ, length, scale, CAUSAL: tl.constexpr, BM: tl.constexpr,
                            BN: tl.constexpr, D: tl.constexpr):
    head, begin = tl.program_id(1) * length, tl.program_id(0) * BM
    rows = begin + tl.arange(0, BM)
    q, g = load_rows(Q + head * D, rows, length, D), load_rows(G + head * D, rows, length, D)
    log = tl.load(Log + head + rows, mask=rows < length, other=float("inf"))
    delta = tl.load(Delta + head + rows, mask=rows < length, other=0.0)
    dq = tl.zeros((BM, D), tl.float32)
    for start in range(0, min(begin + BM, length) if CAUSAL else length, BN):
        keys = start + tl.arange(0, BN)
        k, v = load_rows(K + head * D, keys, length, D), load_rows(V + head * D, keys, length, D)
        weights = tl.exp2(tl.dot(q, tl.trans(k)) * (scale * LOG2_E) - log[:, None])
        weights = tl.where(seen(rows, keys, length, CAUSAL), weights, 0.0)
        slopes = weights * (tl.dot(g, tl.trans(v)) - delta[:, None])
        dq = tl.dot(slopes.to(tl.float16), k, dq)
    store_rows(DQ + head * D, rows, dq * scale, length, D)


class Attention(torch.autograd.Function):
    """Of tensors (batch, heads, length, D), each whole in memory."""

    BLOCKS = {"BM": 64, "BN": 32}

    @staticmethod
    def grid(q, block):
        return triton.cdiv(q.shape[2], block), q.shape[0] * q.shape[1]

    @staticmethod
    def forward(ctx, q, k, v, causal):
        length, D = q.shape[2:]
        out, log = torch.empty_like(q), torch.empty(q.shape[:3], device=GPU, dtype=torch.float32)
        ctx.scale, ctx.options = D**-0.5, dict(CAUSAL=causal, D=D, **Attention.BLOCKS)
        forward_kernel[Attention.grid(q, Attention.BLOCKS["BM"])](q, k, v, out, log, length, ctx.scale * LOG2_E.value, **ctx.options)
        ctx.save_for_backward(q, k, v, out, log)
        return out

    @staticmethod
    def backward(ctx, gradient):
        q, k, v, out, log = ctx.saved_tensors
        length, gradient = q.shape[2], gradient.contiguous()
        delta = (out.float() * gradient.float()).sum(-1)
        dq, dk, dv = (torch.empty_like(x) for x in (q, k, v))
        given = (q, k, v, gradient, log, delta)
        keys_gradient_kernel[Attention.grid(q, Attention.BLOCKS["BN"])](*given, dk, dv, length, ctx.scale, **ctx.options)
        queries_gradient_kernel[Attention.grid(q, Attention.BLOCKS["BM"])](*given, dq, length, ctx.scale, **ctx.options)
        return dq, dk, dv, None


def results(attention, inputs, gradient):
    """What comes out, and the gradients of the inputs."""
    leaves = [x.detach().requires_grad_() for x in inputs]
    out = attention(*leaves)
    out.backward(gradient)
    return out, *(leaf.grad for leaf in leaves)


def compare(shape, causal):
    inputs, gradient = [halves(*shape) for _ in range(3)], halves(*shape)
    got = results(lambda q, k, v: Attention.apply(q, k, v, causal), inputs, gradient)
    plain = torch.nn.functional.scaled_dot_product_attention
    expected = results(lambda q, k, v: plain(q, k, v, is_causal=causal), [x.cpu().float() for x in inputs], gradient.cpu().float())
    for name, mine, theirs in zip(("attention", "gradient of queries", "gradient of keys", "gradient of values"), got, expected):
        check_close(mine, theirs, f"{name}, {'each query sees what is before it' if causal else 'each sees all'}, {shape}", 2e-2)


for causal in (False, True):
    compare((1, 2, 128, 64), causal)
    compare((2, 1, 150, 32), causal)  # a length that no block divides

q, k, v = (halves(1, 1, 128, 32) for _ in range(3))
out = Attention.apply(q, k, v, True)
later = k.clone()
later[:, :, 64:] = 100
check(torch.equal(Attention.apply(q, later, v, True)[:, :, :64], out[:, :, :64]), "what comes later changes nothing before")
