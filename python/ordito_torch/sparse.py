"""Sparse tensors of the device. Their parts, indices and values, are tensors of its memory as others are; what PyTorch has
for them without a kernel stays its own."""
import torch

# Operators that make, take apart or copy sparse tensors: of their parts, by operators of dense tensors.
NATIVE = {f"aten::{name}" for name in (
    "_coalesced_", "_dimI", "_dimV", "_indices", "_nnz", "_sparse_coo_tensor_with_dims",
    "_sparse_coo_tensor_with_dims_and_tensors", "_values", "ccol_indices", "clone", "col_indices", "copy_",
    "copy_sparse_to_sparse_", "crow_indices", "dense_dim", "empty.memory_format", "empty_like", "indices",
    "is_coalesced", "resize_", "resize_as_sparse_", "row_indices", "sparse_dim", "sparse_resize_",
    "sparse_resize_and_clear_", "values")}


def is_sparse(tensor):
    return tensor.layout is not torch.strided


def _parts(tensor):
    """The indices of a compressed tensor, of rows or of columns first."""
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return tensor.crow_indices(), tensor.col_indices()
    return tensor.ccol_indices(), tensor.row_indices()


def with_parts(tensor, of_part):
    """A sparse tensor like this one of what of_part() makes of its indices and values."""
    if tensor.layout is torch.sparse_coo:
        return torch.ops.aten._sparse_coo_tensor_unsafe(of_part(tensor._indices()), of_part(tensor._values()), tensor.size(),
                                                        is_coalesced=tensor.is_coalesced())
    values = of_part(tensor.values())
    return torch.ops.aten._sparse_compressed_tensor_unsafe(*map(of_part, _parts(tensor)), values, tensor.size(),
                                                           dtype=values.dtype, layout=tensor.layout, device=values.device)


def empty(tensor):
    """What an operator of the CPU is to write into, in the place of this tensor."""
    if tensor.layout is torch.sparse_coo:
        return torch.sparse_coo_tensor(tensor.size(), dtype=tensor.dtype, device="cpu")
    return torch.empty(tensor.size(), dtype=tensor.dtype, layout=tensor.layout, device="cpu")


def assign(tensor, source):
    """Gives the tensor what another of the device has."""
    if tensor.layout is torch.sparse_coo:
        torch.ops.aten.copy_sparse_to_sparse_(tensor, source)
    else:
        tensor.resize_as_sparse_(source).copy_(source)
