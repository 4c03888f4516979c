"""Streams: queues of copies and kernels that are in order in themselves, and events between them."""
from common import check, check_equal, cuda, np


@cuda.jit
def scale(values, factor):
    i = cuda.grid(1)
    if i < values.size:
        values[i] *= factor


n = 1 << 16
parts = [np.full(n, part + 1, np.float32) for part in range(2)]
streams = [cuda.stream() for _ in parts]
start, end = cuda.event(), cuda.event()
start.record(streams[0])
there = [cuda.to_device(part, stream=stream) for part, stream in zip(parts, streams)]
for _ in range(3):
    for values, stream in zip(there, streams):
        scale[n // 256, 256, stream](values, 2)
for part, values, stream in zip(parts, there, streams):
    values.copy_to_host(part, stream=stream)
end.record(streams[0])
for stream in streams:
    stream.synchronize()
for number, part in enumerate(parts):
    check_equal(part, 8 * (number + 1), f"stream {number}: copy, three kernels, copy")
check(start.elapsed_time(end) > 0, "time between events")
event = cuda.event()
event.record(streams[0])
event.wait(streams[1])
with streams[1].auto_synchronize():
    scale[n // 256, 256, streams[1]](there[1], 0.5)
check_equal(there[1].copy_to_host(), 8, "a stream that waits for another")
scale[n // 256, 256, cuda.default_stream()](there[0], 0.5)
cuda.default_stream().synchronize()
check_equal(there[0].copy_to_host(), 4, "the default stream")
