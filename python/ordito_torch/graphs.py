"""Operators in CUDA graphs. Nothing runs while a stream is captured: the shapes of an operator's results come from
PyTorch's tensors without content ("meta"), and a node of the host runs the operator on the same memory whenever the graph
is launched.
"""
import atexit
import contextlib
import ctypes
import itertools

import torch

_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_CPU, _META = torch.device("cpu"), torch.device("meta")
_INVALID_CONTEXT = 201  # CUDA_ERROR_INVALID_CONTEXT
_NO_DESTRUCTOR_SYNC = 1  # CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
_MOVE = 1  # CU_GRAPH_USER_OBJECT_MOVE

_nodes = {}  # number -> what a node runs, for as long as a graph has it
_numbers = itertools.count(1)
_failures = []
_devices = set()  # of the graphs


@_CALLBACK
def _run(number):
    try:
        with torch.inference_mode():  # what was captured may be tensors of inference, which nothing outside of it may write
            _nodes[number]()
    except Exception as error:  # nobody is there to catch it: raise_failure does it later
        _failures.append(error)


@_CALLBACK
def _forget(number):
    _nodes.pop(number, None)


def raise_failure():
    """Raises what an operator of a graph raised, where the program next waits for one."""
    if _failures:
        raise _failures.pop()


def is_captured(driver, stream):
    status = ctypes.c_int(0)
    if driver.cuStreamIsCapturing(stream, ctypes.byref(status)) == _INVALID_CONTEXT:
        torch._C._cuda_isCurrentStreamCapturing()  # a new thread, such as one for gradients: PyTorch gives it a context
        driver.cuStreamIsCapturing(stream, ctypes.byref(status))
    return status.value != 0


@atexit.register
def _finish():
    """No graph runs any longer when Python ends."""
    for device in _devices:
        with contextlib.suppress(RuntimeError):
            torch.cuda.synchronize(device)


def add_node(driver, device, stream, run):
    """A node of the graph that the device's stream is captured into calls run() each time; the graph keeps what that
    needs."""
    _devices.add(device)
    status, identity, graph, user_object = ctypes.c_int(), ctypes.c_uint64(), ctypes.c_void_p(), ctypes.c_void_p()
    number = ctypes.c_void_p(next(_numbers))
    _nodes[number.value] = run
    calls = (("cuStreamGetCaptureInfo_v2", stream, ctypes.byref(status), ctypes.byref(identity), ctypes.byref(graph),
              None, None),
             ("cuUserObjectCreate", ctypes.byref(user_object), number, _forget, 1, _NO_DESTRUCTOR_SYNC),
             ("cuGraphRetainUserObject", graph, user_object, 1, _MOVE),
             ("cuLaunchHostFunc", stream, _run, number))
    for name, *arguments in calls:
        if error := getattr(driver, name)(*arguments):
            raise RuntimeError(f"ordito_torch: {name} gives error {error} while an operator is captured in a CUDA graph")


def tensors(result):
    """Those of an operator's result, one after the other."""
    if isinstance(result, torch.Tensor):
        yield result
    elif isinstance(result, (list, tuple)):
        for item in result:
            yield from tensors(item)


class Shapes:
    """Tensors without content in the place of arguments."""

    def __init__(self):
        self._made = {}  # id of a tensor -> (the tensor, the one without content)

    def of(self, value):
        if isinstance(value, torch.Tensor):
            if id(value) not in self._made:
                self._made[id(value)] = value, self._without_content(value)
            return self._made[id(value)][1]
        if isinstance(value, dict):
            return {name: self.of(item) for name, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.of(item) for item in value]
        return _META if isinstance(value, torch.device) and value == _CPU else value

    @staticmethod
    def _without_content(tensor):
        made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=_META)
        if tensor.is_conj():
            made = torch._conj(made)
        return torch._neg_view(made) if tensor.is_neg() else made
