"""Libraries that PyTorch's wheels want loaded and that Ordito has no more of than names: each call refuses by name."""
import ctypes
import os
import sys
import tempfile

CALLS = {"libcublasLt.so.13": ("cublasLtMatmul", 15), "libcudnn.so.9": ("cudnnCreate", 3000),
         "libcufile.so.0": ("cuFileRead", -1), "libcusparseLt.so.0": ("cusparseLtInit", 10),
         "libnccl.so.2": ("ncclAllReduce", 5), "libnvshmem_host.so.3": ("nvshmem_init", 1)}


def told(call):
    """What the call answers, and what it writes to stderr."""
    with tempfile.TemporaryFile() as file:
        before = os.dup(2)
        os.dup2(file.fileno(), 2)
        answer = call()
        os.dup2(before, 2)
        file.seek(0)
        return answer, file.read().decode()


for library, (name, refusal) in CALLS.items():
    function = getattr(ctypes.CDLL(library), name)
    function.restype = ctypes.c_ssize_t
    answer, text = told(function)
    again, silence = told(function)
    print(library, name, answer, text.strip())
    if answer != refusal or again != refusal or f"{name} is not supported" not in text or silence:
        sys.exit(f"{library}: {name} does not refuse once and by name")
nccl = ctypes.CDLL("libnccl.so.2")
nccl.ncclGetErrorString.restype = ctypes.c_char_p
if nccl.ncclGetErrorString(5) != b"not supported by Ordito":
    sys.exit("ncclGetErrorString is to answer with a text")
