"""Programs of PyTorch with device="cuda", on Ordito's devices.

PyTorch's wheels hold their kernels as machine code of NVIDIA's GPUs, which Ordito does not run. Everything else of
torch.cuda works on Ordito's libraries as it is: devices, memory and its statistics, streams, events, generators, pinned
memory. So this package gives PyTorch other operators for its CUDA devices (operators.py): each calls the operator for
the CPU on the bytes of the device's memory. They give the numbers of the CPU, and no kernel of a GPU runs: there is
nothing to count, to check or to time in them. Kernels of Triton, Numba or CUDA C++ on the same tensors do run.

`ordito run` puts this folder in Python's path, and PyTorch calls load() at the end of `import torch` (its entry points
"torch.backends"); a program needs no line of it. ORDITO_TORCH=0 leaves PyTorch alone.
"""
import ctypes
import os

_NEEDS_CUDA = (b"this PyTorch was built without CUDA, so it has no device \"cuda\". PyPI's wheels for Linux on x86-64 are "
               b"built with it, and NVIDIA's packages are not needed: pip install --no-deps torch==2.13.0")


def _driver():
    """Ordito's libcuda, or None: on a real GPU this package has no business."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    return driver if hasattr(driver, "orditoTellOnce") else None


def _has_kernels_for_ordito(torch):
    """Built with PTX (TORCH_CUDA_ARCH_LIST=8.6+PTX, say), PyTorch's own kernels run."""
    return any(name.startswith("compute_") for name in torch._C._cuda_getArchFlags().split())


def _compile_extensions_for(cuda):
    """A PyTorch of CUDA 13 has other structures in its interface than one of 12 (cudaDeviceProp), so what it compiles wants
    the headers and the nvcc of its own CUDA, which is what torch.utils.cpp_extension asks of the toolkit, too."""
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        folder = os.environ.get(variable, "")
        is_ours = os.path.exists(os.path.join(folder, "lib64/ordito_library_audit.so")) and os.path.exists(folder + "13")
        if is_ours and (cuda or "").startswith("13."):
            os.environ[variable] = folder + "13"


def load():
    import torch
    driver = _driver()
    wanted = os.environ.get("ORDITO_TORCH", "")
    if driver is None or wanted == "0":
        return
    if not torch.backends.cuda.is_built():
        driver.orditoTellOnce(b"ordito_torch", _NEEDS_CUDA)
        return
    _compile_extensions_for(torch.version.cuda)
    if wanted == "1" or not _has_kernels_for_ordito(torch):
        # When the program first uses a device: those that only look at PyTorch do not pay for it.
        torch.cuda._lazy_call(lambda: _install(torch, driver))


def _install(torch, driver):
    from . import operators
    operators.install(driver)
    # What stands for cuDNN, and the fused forms of attention, are choices among kernels that the CPU's operators have no
    # equals of.
    torch._C._set_cudnn_enabled(False)  # torch.testing forbids what sets `torch.backends.cudnn.enabled`
    torch.backends.cudnn.is_available = lambda: False
    torch.backends.cudnn.version = lambda: None
    for choose in ("enable_flash_sdp", "enable_mem_efficient_sdp", "enable_cudnn_sdp"):
        getattr(torch.backends.cuda, choose)(False)
