"""What the programs of PyTorch share: PyTorch itself with a device, or a word about what is missing (status 77: skipped)."""
import sys

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}; docs/python.md says how PyTorch is installed")
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: this PyTorch has no CUDA, or the program does not run under `ordito run`")
    sys.exit(77)

torch.manual_seed(1)
GPU = torch.device("cuda:0")


def check(condition, what):
    print(f"{'ok  ' if condition else 'FAILED'} {what}")
    if not condition:
        sys.exit(1)


def check_close(got, expected, what, tolerance=1e-5):
    expected = torch.as_tensor(expected)
    got = torch.as_tensor(got).detach().cpu()
    check(got.shape == expected.shape and torch.allclose(got.double(), expected.double(), rtol=tolerance, atol=tolerance), what)


def check_raises(kind, text, function, what):
    try:
        function()
    except kind as error:
        check(text in str(error), f"{what}: {str(error).splitlines()[0][:100]}")
    else:
        check(False, what)
