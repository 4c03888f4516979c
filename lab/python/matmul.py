"""Triton: products of matrices on the tensor cores, with blocks in an order that caches like, tuned, and what follows fused in."""
from triton_common import GPU, check, check_close, halves, tl, torch, triton


@triton.jit
def place(programs_down, programs_across, GROUP: tl.constexpr):
    """The block of this program: column after column of a band of GROUP rows of blocks, which share what they read."""
    program = tl.program_id(0)
    band = program // (GROUP * programs_across)
    height = min(programs_down - band * GROUP, GROUP)
    within = program - band * GROUP * programs_across
    return band * GROUP + within % height, within // height


@triton.jit
def leak(x):
    return tl.where(x >= 0, x, 0.01 * x)


SHAPES = [triton.Config({"BM": 64, "BN": 64, "BK": 32, "GROUP": 4}, num_warps=4, num_stages=3),
          triton.Config({"BM": 32, "BN": 64, "BK": 64, "GROUP": 4}, num_warps=2, num_stages=2)]


@triton.autotune(configs=SHAPES, key=["M", "N", "K"])
@triton.jit
def product_kernel(a, b, out, M, N, K, a_row, a_column, b_row, b_column, out_row, out_column, LEAKY: tl.constexpr,
                   BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    down, across = place(tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    rows = down * BM + tl.arange(0, BM)[:, None]
    columns = across * BN + tl.arange(0, BN)[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        of_a, of_b = k + tl.arange(0, BK)[None, :], k + tl.arange(0, BK)[:, None]
        left = tl.load(a + rows * a_row + of_a * a_column, mask=(rows < M) & (of_a < K), other=0.0)
        right = tl.load(b + of_b * b_row + columns * b_column, mask=(of_b < K) & (columns < N), other=0.0)
        sums = tl.dot(left, right, sums)
    if LEAKY:
        sums = leak(sums)
    tl.store(out + rows * out_row + columns * out_column, sums.to(out.dtype.element_ty), mask=(rows < M) & (columns < N))


def product(a, b, leaky=False):
    (M, K), N = a.shape, b.shape[1]
    out = torch.empty((M, N), device=GPU, dtype=torch.float16)
    product_kernel[lambda tuned: (triton.cdiv(M, tuned["BM"]) * triton.cdiv(N, tuned["BN"]),)](
        a, b, out, M, N, K, *a.stride(), *b.stride(), *out.stride(), LEAKY=leaky)
    return out


def on_cpu(a, b):
    return a.cpu().float() @ b.cpu().float()


a, b = halves(192, 128), halves(128, 256)
check_close(product(a, b), on_cpu(a, b), "a product of halves, summed in floats", 1e-2)
check(product_kernel.best_config in SHAPES, f"the faster of two shapes was taken: {product_kernel.best_config}")
check_close(product(a, b, leaky=True), torch.nn.functional.leaky_relu(on_cpu(a, b)), "an activation fused into it", 1e-2)

a, b = halves(77, 50), halves(50, 131)
check_close(product(a, b), on_cpu(a, b), "edges that no block divides", 1e-2)
a, b = halves(50, 77).T, halves(131, 50).T
check_close(product(a, b), on_cpu(a, b), "transposed views, by their strides", 1e-2)

a, b = (x.to(torch.float8_e5m2) for x in (halves(128, 64), halves(64, 128)))
check_close(product(a, b), on_cpu(a, b), "a product of floats of 8 bits", 1e-2)
