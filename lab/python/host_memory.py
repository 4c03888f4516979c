"""Memory of the host that the device reaches: pinned, mapped, managed; and memory that is freed later."""
from common import check, check_equal, cuda, np


@cuda.jit
def increment(values):
    i = cuda.grid(1)
    if i < values.size:
        values[i] += 1


plain = np.zeros(64, np.int32)
with cuda.pinned(plain):
    stream = cuda.stream()
    there = cuda.to_device(plain, stream=stream)
    increment[1, 64, stream](there)
    there.copy_to_host(plain, stream=stream)
    stream.synchronize()
check_equal(plain, 1, "pinned(array): copies in a stream")
page_locked = cuda.pinned_array(64, np.int32)
page_locked[:] = 5
check(cuda.pinned_array_like(plain).shape == plain.shape, "pinned_array_like")
increment[1, 64](page_locked)
check_equal(page_locked, 6, "pinned_array")
with cuda.mapped(plain) as view:
    increment[1, 64](view)
    cuda.synchronize()
check_equal(plain, 2, "mapped(array): the device writes the host's memory")
managed = cuda.managed_array(64, np.int32)
managed[:] = 1
increment[1, 64](managed)
cuda.synchronize()
check_equal(managed, 2, "managed_array")

context = cuda.current_context()
kept = cuda.device_array(1 << 20, np.int8)
with cuda.defer_cleanup():
    before = context.get_memory_info().free
    del kept
    context.memory_manager.deallocations.clear()
    check(context.get_memory_info().free == before, "defer_cleanup: nothing is freed inside")
context.memory_manager.deallocations.clear()
check(context.get_memory_info().free > before, "but behind it")
