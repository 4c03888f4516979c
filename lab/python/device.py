"""Devices: which there are, moving tensors to them, and who does what: Python says what to do, the device has the data."""
from torch_common import GPU, check, check_close, check_raises, torch

check(torch.cuda.device_count() >= 1 and torch.cuda.current_device() == 0, "a device, which is the current one")
name, properties = torch.cuda.get_device_name(0), torch.cuda.get_device_properties(0)
print(f"     {name}, compute capability {properties.major}.{properties.minor}, {properties.multi_processor_count} multiprocessors")
check(properties.name == name and torch.cuda.get_device_capability(0) == (properties.major, properties.minor), "properties")
check(torch.device("cuda:0") == GPU and torch.device("cuda").index is None, "devices by name")

t = torch.tensor([1.0, 2.0])
check(t.device.type == "cpu", "a tensor is made on the CPU")
check(torch.tensor([1.0, 2.0], device="cuda").device == GPU, "or on the GPU, by device=")
there = t.to(GPU)
check(there.device == GPU and there.data_ptr() != t.data_ptr() and there.to(GPU) is there, "to() copies it there, once")
check(t.cuda().device == GPU and there.cpu().device.type == "cpu", "so do cuda() and cpu()")
check_close(there * 2 + there, t * 3, "what is computed there stays there, until it is asked for")
check_raises(RuntimeError, "same device", lambda: there + t, "tensors of two devices do not mix")
check_close(there * torch.tensor(3.0), t * 3, "but for a single number")
model = torch.nn.Linear(2, 1).to(GPU)
check(all(parameter.device == GPU for parameter in model.parameters()), "a model moves with its parameters")

# Control in Python, data on the device: one tensor of control decides at each step what becomes of the other.
before = torch.cuda.memory_allocated()
data, steps = torch.ones(1000, device=GPU), 0
while data.sum() < 1e6:
    data *= 2
    steps += 1
check(steps == 10 and data[0].item() == 1024, "a loop of Python over data of the device")
check(torch.cuda.memory_allocated() - before < 3 * 4096, "in place: no memory for each step")
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    later = data + 1
done = side.record_event()
torch.cuda.current_stream().wait_event(done)
check_close(later.sum(), 1025000.0, "streams order what is given to them; events order streams")
