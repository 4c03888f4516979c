"""Tensors on a device: making them, other shapes of the same storage, types, parts, and shapes that stretch."""
from torch_common import GPU, check, check_close, check_raises, torch

# Made.
check_close(torch.zeros(2, 3, device=GPU), [[0.0] * 3] * 2, "zeros")
check_close(torch.ones(2, 3, device=GPU), [[1.0] * 3] * 2, "ones")
uniform = torch.rand(100, 100, device=GPU)
check(0 <= uniform.min() and uniform.max() < 1 and abs(uniform.mean() - 0.5) < 0.02, "rand is uniform in [0, 1)")
check(torch.empty(4, 5, device=GPU).shape == (4, 5), "empty has the shape, whatever its content")
check_close(torch.tensor([[7, 7], [9, 10]], device=GPU), [[7, 7], [9, 10]], "tensor from nested lists")
check_close(torch.arange(6, device=GPU), [0, 1, 2, 3, 4, 5], "arange")
for like, value in ((torch.zeros_like, 0.0), (torch.ones_like, 1.0)):
    made = like(uniform)
    check(made.device == GPU and made.shape == uniform.shape and bool((made == value).all()), like.__name__)
check(torch.rand_like(uniform).std() > 0.2 and torch.empty_like(uniform).shape == uniform.shape, "rand_like, empty_like")

# Attributes and types.
t = torch.arange(24, device=GPU)
check((t.ndim, t.shape, t.dtype, t.device) == (1, (24,), torch.int64, GPU), "dimensions, shape, type and device")
check(torch.ones(2, 2, device=GPU).dtype == torch.float32, "float32 unless said otherwise")
check(torch.ones(2, 2, dtype=torch.int16, device=GPU).element_size() == 2, "int16 if asked for")
check((torch.ones(1, dtype=torch.int16, device=GPU) + 0.5).dtype == torch.float32, "integers and a fraction make float32")

# Other shapes of the same data.
cube = t.view(2, 3, 4)
cube[1, 2, 3] = 100
check(t[23].item() == 100 and cube.data_ptr() == t.data_ptr(), "a view shares the storage")
check(t.reshape(4, 6).data_ptr() == t.data_ptr(), "so does reshape where it can")
turned = t.view(4, 6).T
check(turned.reshape(24).data_ptr() != t.data_ptr(), "reshape copies where the order is another")
check_raises(RuntimeError, "view size is not compatible", lambda: turned.view(24), "where view refuses")
check_raises(RuntimeError, "invalid for input of size 24", lambda: t.view(5, 5), "as many elements as before")

# What lies behind: elements in a row, and steps between them for each dimension.
small = torch.arange(6, device=GPU).view(2, 3)
check([small.untyped_storage().nbytes(), small.stride(), small.T.stride()] == [48, (3, 1), (1, 3)], "a row of elements, and strides")
check(small.T.untyped_storage().data_ptr() == small.untyped_storage().data_ptr(), "turned: the same row, other strides")
flat = torch.as_strided(small.T, (6,), (1,))
check_close(flat, [0, 1, 2, 3, 4, 5], "the row, read flat through the turned tensor")
check(small[1:].storage_offset() == 3 and not small.T.is_contiguous() and small.T.contiguous().stride() == (2, 1),
      "a part begins further on; contiguous() copies to a row in order")

# Parts.
host = torch.arange(24).view(2, 3, 4)
cube = host.to(GPU)
check_close(cube[:, 0, 0], [0, 12], "[:, 0, 0] is the first element of every matrix")
for what, part in {"[1]": lambda x: x[1], "[:, 1:, ::2]": lambda x: x[:, 1:, ::2], "[..., -1]": lambda x: x[..., -1],
                   "[x > 7]": lambda x: x[x > 7], "[:, [2, 0]]": lambda x: x[:, [2, 0]]}.items():
    check_close(part(cube), part(host), f"{what} as on the CPU")
cube[0, :, 1] = -1
check_close(cube[0], [[0, -1, 2, 3], [4, -1, 6, 7], [8, -1, 10, 11]], "a column is set")

# Shapes that stretch.
column, row = torch.tensor([[1.0], [2.0], [3.0]], device=GPU), torch.tensor([[10.0, 20.0, 30.0, 40.0]], device=GPU)
check_close(column + row, [[11.0, 21, 31, 41], [12, 22, 32, 42], [13, 23, 33, 43]], "(3, 1) + (1, 4) is (3, 4)")
check((torch.ones(5, 3, 4, device=GPU) * row[0]).shape == (5, 3, 4), "missing dimensions in front are added")
check_raises(RuntimeError, "must match the size", lambda: torch.ones(3, 2, device=GPU) + torch.ones(3, device=GPU), "(3, 2) + (3)")
