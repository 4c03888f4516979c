"""What the programs of Triton share: Triton beside PyTorch, or a word about what is missing (status 77: skipped)."""
import sys

from torch_common import GPU, check, check_close, torch

try:
    import triton
    import triton.language as tl
except ImportError as missing:
    print(f"skipped: {missing}; docs/python.md says how Triton is installed")
    sys.exit(77)


def halves(*shape):
    return torch.randn(shape, device=GPU, dtype=torch.float16)
