"""cuda.core on Ordito: compiling and launching, memory of graphs, conditions, what graphs keep alive, managed memory."""
import gc
import threading
import time
import weakref

import numpy as np
from cuda.core import (Device, DeviceMemoryResource, GraphMemoryResource, Host, LaunchConfig, ManagedMemoryResource,
                       ManagedMemoryResourceOptions, Program, ProgramOptions, launch)
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core.graph import ChildGraphNode, GraphDefinition, HostCallbackNode
from cuda.core.utils import discard_prefetch_batch, prefetch_batch

device = Device()
device.set_current()
stream = device.create_stream()
SOURCE = """
extern "C" __global__ void add_one(int* to, size_t n) {
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] += 1;
}
"""
kernel = Program(SOURCE, "c++", ProgramOptions(std="c++17", arch=f"sm_{device.arch}")).compile("cubin").get_kernel(
    "add_one")
config = LaunchConfig(grid=2, block=64)


def ints(buffer):
    return np.from_dlpack(buffer).view(np.int32)


def refused(call):
    try:
        call()
    except CUDAError as error:
        return str(error)
    raise AssertionError("this should have been refused")


def until(condition):
    for _ in range(500):
        gc.collect()
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("this should have ended by now")


def syntax():
    options = ProgramOptions(arch=f"sm_{device.arch}", fdevice_syntax_only=True)
    assert b".entry" not in bytes(Program(SOURCE, "c++", options).compile("ptx").code)


def memory_of_graphs():
    """A graph allocates, works and frees; another allocates nothing; what they hold is counted."""
    resource, out = GraphMemoryResource(device), DeviceMemoryResource(device).allocate(4096, stream=stream)
    out.fill(0, stream=stream)
    builder = device.create_graph_builder().begin_building("relaxed")
    inner = resource.allocate(4096, stream=builder)
    inner.copy_from(out, stream=builder)
    for _ in range(3):
        launch(builder, config, kernel, inner, np.uint64(1024))
    out.copy_from(inner, stream=builder)
    inner.close()
    graph = builder.end_building().complete()
    for _ in range(2):
        graph.upload(stream)
        graph.launch(stream)
    stream.sync()
    assert resource.attributes.used_mem_current > 0 and resource.attributes.used_mem_high > 0
    host = ManagedMemoryResource().allocate(4096, stream=stream)
    host.copy_from(out, stream=stream)
    stream.sync()
    assert (ints(host) == 6).all()
    resource.trim()
    assert resource.attributes.used_mem_current == 0
    builder = device.create_graph_builder().begin_building("relaxed")
    nothing = resource.allocate(0, stream=builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert nothing.size == 0


def conditions():
    one, other = GraphDefinition(), GraphDefinition()
    condition = one.create_condition(default_value=0)
    assert "INVALID_VALUE" in refused(lambda: other.if_then(condition))
    one.if_then(condition).then.empty()
    graph = one.instantiate()
    graph.launch(stream)
    stream.sync()


def embedded_graphs():
    """What a graph inside of another refers to ends with the node, or with a node of its own."""
    for whole in (True, False):
        def callback():
            pass

        seen = weakref.ref(callback)
        child, parent = GraphDefinition(), GraphDefinition()
        child.callback(callback)
        node = parent.embed(child)
        del child, callback
        gc.collect()
        assert seen() is not None
        assert isinstance(next(iter(parent.nodes())), ChildGraphNode)
        inner = node.child_graph
        if whole:
            node.destroy()
            assert int(inner.handle) == 0
        else:
            next(n for n in inner.nodes() if isinstance(n, HostCallbackNode)).destroy()
        del node, inner
        until(lambda: seen() is None)


def running_graphs():
    """A launch keeps what its graph refers to until it is done, when the graph and its instance are gone."""
    began, go = threading.Event(), threading.Event()

    def callback():
        began.set()
        go.wait(10)

    seen = weakref.ref(callback)
    definition = GraphDefinition()
    definition.callback(callback)
    graph = definition.instantiate()
    graph.launch(stream)
    del callback, definition
    assert began.wait(10)
    graph.close()
    gc.collect()
    assert seen() is not None
    go.set()
    stream.sync()
    del graph
    until(lambda: seen() is None)


def managed_memory():
    resource = ManagedMemoryResource(ManagedMemoryResourceOptions(preferred_location=0, preferred_location_type="device"))
    first, second = (resource.allocate(4096, stream=stream) for _ in range(2))
    assert first.is_managed and first.preferred_location == device
    prefetch_batch(stream, [first, second], [Host(), device])
    discard_prefetch_batch(stream, [first, second], device)
    first.fill(0, stream=stream)
    launch(stream, config, kernel, first, np.uint64(1024))
    stream.sync()
    assert (ints(first) == 1).all()
    first.close()
    second.close()
    stream.sync()


def main():
    for part in (syntax, memory_of_graphs, conditions, embedded_graphs, running_graphs, managed_memory):
        part()
        print(f"{part.__name__.replace('_', ' ')}: right")


main()
