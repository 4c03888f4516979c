"""Operators that PyTorch has for CUDA devices only, in terms of others: cells of recurrent networks and root mean square
normalisation. And those that differ from the CPU's: layer normalisation, which adds up halves in single precision, and
the order of matrices in memory. Arguments and results are tensors of the CPU."""
import torch


def _sum(*gates):
    total = None
    for gate in gates:
        if gate is not None:
            total = gate if total is None else total + gate
    return total


def _or_zeros(gradient, like):
    return torch.zeros_like(like) if gradient is None else gradient


def lstm_cell(input_gates, hidden_gates, cell, input_bias=None, hidden_bias=None):
    """The workspace keeps what the gates came to, for the gradient."""
    in_, forget, new, out = _sum(input_gates, hidden_gates, input_bias, hidden_bias).chunk(4, 1)
    in_, forget, new, out = in_.sigmoid(), forget.sigmoid(), new.tanh(), out.sigmoid()
    next_cell = forget * cell + in_ * new
    return out * next_cell.tanh(), next_cell, torch.cat((in_, forget, new, out), 1)


def lstm_cell_backward(grad_hidden, grad_cell, cell, next_cell, workspace, has_bias):
    if grad_hidden is None and grad_cell is None:
        return None, None, None
    in_, forget, new, out = workspace.chunk(4, 1)
    grad_hidden = _or_zeros(grad_hidden, next_cell)
    squashed = next_cell.tanh()
    grad_cell = _or_zeros(grad_cell, next_cell) + grad_hidden * out * (1 - squashed * squashed)
    gates = torch.cat((grad_cell * new * in_ * (1 - in_), grad_cell * cell * forget * (1 - forget),
                       grad_cell * in_ * (1 - new * new), grad_hidden * squashed * out * (1 - out)), 1)
    return gates, grad_cell * forget, gates.sum(0) if has_bias else None


def gru_cell(input_gates, hidden_gates, hidden, input_bias=None, hidden_bias=None):
    in_reset, in_update, in_new = _sum(input_gates, input_bias).chunk(3, 1)
    reset, update, new = _sum(hidden_gates, hidden_bias).chunk(3, 1)
    of_hidden = new
    reset, update = (in_reset + reset).sigmoid(), (in_update + update).sigmoid()
    new = (in_new + reset * of_hidden).tanh()
    return new + update * (hidden - new), torch.cat((reset, update, new, hidden, of_hidden), 1)


def gru_cell_backward(grad_hidden, workspace, has_bias):
    reset, update, new, hidden, of_hidden = workspace.chunk(5, 1)
    grad_new = grad_hidden * (1 - update) * (1 - new * new)
    grad_update = grad_hidden * (hidden - new) * update * (1 - update)
    grad_reset = grad_new * of_hidden * reset * (1 - reset)
    in_gates = torch.cat((grad_reset, grad_update, grad_new), 1)
    hidden_gates = torch.cat((grad_reset, grad_update, grad_new * reset), 1)
    biases = (in_gates.sum(0), hidden_gates.sum(0)) if has_bias else (None, None)
    return in_gates, hidden_gates, grad_hidden * update, *biases


def rms_norm_backward(gradient, values, normalized_shape, scale, weight, output_mask):
    """values * scale has a mean square of one over the last dimensions."""
    last = tuple(range(-len(normalized_shape), 0))
    first = tuple(range(values.dim() - len(normalized_shape)))
    normal = values * scale
    weighted = gradient if weight is None else gradient * weight
    grad_values = (weighted - normal * (weighted * normal).mean(last, keepdim=True)) * scale
    grad_weight = None
    if weight is not None and output_mask[1]:
        grad_weight = (gradient * normal).sum(first) if first else gradient * normal
    return grad_values.to(values.dtype) if output_mask[0] else None, grad_weight


def _is_half(values):
    return values.dtype in (torch.float16, torch.bfloat16)


def _single(values):
    return None if values is None else values.float()


def layer_norm(values, normalized_shape, weight, bias, eps):
    """The means and scales of halves are single, as those of a GPU's kernel."""
    operator = torch.ops.aten.native_layer_norm.default
    if not _is_half(values):
        return operator(values, normalized_shape, weight, bias, eps)
    result, mean, scale = operator(_single(values), normalized_shape, _single(weight), _single(bias), eps)
    return result.to(values.dtype), mean, scale


def layer_norm_backward(gradient, values, normalized_shape, mean, scale, weight, bias, output_mask):
    operator = torch.ops.aten.native_layer_norm_backward.default
    if not _is_half(values):
        return operator(gradient, values, normalized_shape, mean, scale, weight, bias, output_mask)
    gradients = operator(_single(gradient), _single(values), normalized_shape, _single(mean), _single(scale),
                         _single(weight), _single(bias), output_mask)
    return tuple(None if made is None else made.to(like.dtype)
                 for made, like in zip(gradients, (values, weight, bias)))


def singular_values(values, *arguments, **options):
    """On a GPU the right vectors lie in memory row by row; compiled programs count on it."""
    left, singular, right = torch.ops.aten._linalg_svd.default(values, *arguments, **options)
    return left, singular, right.contiguous()


def eigenvectors(values):
    """In memory row by row, as those of singular values."""
    found, vectors = torch.ops.aten.linalg_eig.default(values)
    return found, vectors.contiguous()


def not_to_use(*_, **__):
    """PyTorch asks whether to take a library's kernel in the place of an operator that the CPU has, too."""
    return False


FUNCTIONS = {
    "aten::_linalg_svd": singular_values,
    "aten::linalg_eig": eigenvectors,
    "aten::_use_cudnn_ctc_loss": not_to_use,
    "aten::_use_cudnn_ctc_loss.Tensor": not_to_use,
    "aten::_use_miopen_ctc_loss": not_to_use,
    "aten::_use_miopen_ctc_loss.Tensor": not_to_use,
    "aten::native_layer_norm": layer_norm,
    "aten::native_layer_norm_backward": layer_norm_backward,
    "aten::_thnn_fused_lstm_cell": lstm_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": lstm_cell_backward,
    "aten::_thnn_fused_gru_cell": gru_cell,
    "aten::_thnn_fused_gru_cell_backward": gru_cell_backward,
    "aten::_fused_rms_norm_backward": rms_norm_backward,
}
