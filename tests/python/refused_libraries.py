"""Libraries that PyTorch's wheels and XLA want loaded, and that Ordito has little more of than names: each call refuses
by name. The handles of two of them can be made and ended once."""
import ctypes
import os
import sys
import tempfile

CALLS = {"libcudnn.so.9": ("cudnnMultiHeadAttnForward", 3000),
         "libcufile.so.0": ("cuFileRead", -1), "libcusparseLt.so.0": ("cusparseLtInit", 10),
         "libnccl.so.2": ("ncclCommSuspend", 5), "libnvshmem_host.so.3": ("nvshmem_init", 1)}


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
for library, prefix in (("libcudnn.so.9", "cudnn"), ("libcublasLt.so.13", "cublasLt")):
    handles = ctypes.CDLL(library)
    create, destroy = getattr(handles, prefix + "Create"), getattr(handles, prefix + "Destroy")
    handle = ctypes.c_void_p()
    made = create(ctypes.byref(handle)), handle.value, destroy(handle), destroy(handle), create(None)
    if made[0] != 0 or not made[1] or made[2] != 0 or made[3] == 0 or made[4] == 0:
        sys.exit(f"{library}: a handle is made and ended once: {made}")
cudnn = ctypes.CDLL("libcudnn.so.9")
handle, stream = ctypes.c_void_p(), ctypes.c_void_p()
cudnn.cudnnCreate(ctypes.byref(handle))
if cudnn.cudnnSetStream(handle, ctypes.c_void_p(2)) or cudnn.cudnnGetStream(handle, ctypes.byref(stream)) or stream.value != 2:
    sys.exit("cuDNN's handle does not keep its stream")
cudnn.cudnnGetVersion.restype = ctypes.c_size_t
if cudnn.cudnnGetVersion() // 10000 != 9:
    sys.exit("cuDNN's version")
