"""JAX on Ordito's devices.

JAX asks whether a machine has a GPU by looking for the device files of NVIDIA's kernel driver, before it asks any
library. There are none here, so that it would take the CPU without a word. JAX calls initialize() when it looks for its
plugins (entry points "jax_plugins"), which is before; `ordito run` puts this folder in Python's path.
"""
import ctypes


def _has_ordito():
    """On a real GPU this package has no business."""
    try:
        return hasattr(ctypes.CDLL("libcuda.so.1"), "orditoTellOnce")
    except OSError:
        return False


def initialize():
    try:
        from jax._src import hardware_utils
        devices = hardware_utils._NVIDIA_GPU_DEVICES
    except (ImportError, AttributeError):  # a JAX that looks in another way
        return
    if _has_ordito() and __file__ not in devices:
        devices.append(__file__)
