"""The operators of CUDA devices: views of the device's bytes as tensors of the CPU, the CPU's operator on these, and its
results copied into memory of the device.

Ordito's device memory is memory of the process (docs/architecture.md), so a view costs no copy, and operators that write
into their arguments write the device's memory. Below autograd: gradients, autocast and the rest above are PyTorch's own.
"""
import ctypes
import warnings

import torch

from . import fused, graphs, sparse

# What PyTorch's own code for CUDA does without a kernel. (Operators that give a view of their argument stay too.)
_NATIVE = {"aten::empty.memory_format", "aten::empty_strided", "aten::_efficientzerotensor", "aten::_local_scalar_dense",
           "aten::record_stream", "aten::resize_", "aten::set_", "aten::set_.source_Storage",
           "aten::set_.source_Storage_storage_offset", "aten::set_.source_Tensor", "aten::is_set_to"}

# Operators without a kernel of CUDA's of their own, below which PyTorch would choose among kernels for CUDA.
_CHOOSERS = ("aten::convolution", "aten::convolution_backward")

# These take tensors of both sides, or tell themselves.
_MIXED = {"copy_", "index", "index_put_", "index_put", "_index_put_impl_", "_unsafe_index", "_foreach_copy_",
          "_use_cudnn_ctc_loss", "_use_miopen_ctc_loss"}

_TOLD = (b"operators of this program's tensors run on the CPU, by PyTorch's own operators: its wheel has no PTX. Their "
         b"numbers are the CPU's, and nothing of them is counted, checked or timed")

_driver = None


def cpu_view(tensor):
    """The tensor's bytes as a tensor of the CPU, for as long as the tensor lives."""
    storage = tensor.untyped_storage()
    bytes_ = torch._C._construct_storage_from_data_pointer(storage.data_ptr(), _CPU, storage.nbytes())
    view = torch.empty(0, dtype=tensor.dtype, device=_CPU)
    view.set_(bytes_, tensor.storage_offset(), tensor.size(), tensor.stride())
    if tensor.is_conj():
        view = torch._conj(view)
    return torch._neg_view(view) if tensor.is_neg() else view


def like_on_device(result, device):
    """A tensor of the device with the shape and the order in memory of the CPU's, or of one without content."""
    if not torch.ops.aten.is_non_overlapping_and_dense.default(result):
        result = result.contiguous()
    return torch.empty_strided(result.size(), result.stride(), dtype=result.dtype, device=device)


def to_device(result, device):
    """A tensor of the device with what the CPU's has."""
    if sparse.is_sparse(result):
        return sparse.with_parts(result, lambda part: to_device(part, device))
    made = like_on_device(result, device)
    cpu_view(made).copy_(result)
    return made


def stream_of(device):
    return ctypes.c_void_p(torch._C._cuda_getCurrentRawStream(device.index))


def wait_for_stream(device):
    """What is before it in the program's stream (copies, other kernels) must have run."""
    if _driver.cuStreamSynchronize(stream_of(device)) != 0:
        torch.cuda.current_stream(device).synchronize()  # it raises what PyTorch makes of the error
    graphs.raise_failure()


_CPU = torch.device("cpu")


class _Arguments:
    """The arguments of a call as the CPU's operator gets them, and whose view each tensor is."""

    def __init__(self, operator):
        self.operator = operator
        self.device = None
        self.generator = None
        self.owners = {}  # id of a view -> (the view, its tensor)
        self.outs = []  # (a tensor to be given the result's shape and content, what the CPU writes)
        self.cpu = None

    def lower(self, value):
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (list, tuple)):
            return [self.lower(item) for item in value]
        if isinstance(value, torch.device) and value.type == "cuda":
            self._note_device(torch.device("cuda", torch.cuda.current_device()) if value.index is None else value)
            return _CPU
        if isinstance(value, torch.Generator):
            self.generator = value
            return None
        return value

    def lower_out(self, tensor):
        """Results may have another shape than what they are to be written into, which the device's memory is then made for."""
        self._note_device(tensor.device)
        made = sparse.empty(tensor) if sparse.is_sparse(tensor) else torch.empty(0, dtype=tensor.dtype, device=_CPU)
        self.outs.append((tensor, made))
        self.owners[id(made)] = (made, tensor)
        return made

    def _tensor(self, tensor):
        if tensor.device.type != "cuda":
            if tensor.dim() > 0:
                self.cpu = tensor
            return tensor
        self._note_device(tensor.device)
        view = sparse.with_parts(tensor, cpu_view) if sparse.is_sparse(tensor) else cpu_view(tensor)
        self.owners[id(view)] = (view, tensor)
        return view

    def _note_device(self, device):
        if self.device is None:
            self.device = device
        elif self.device != device:
            self._refuse(self.device, device)

    def check_devices(self):
        if self.cpu is not None and self.operator.mixed is False:
            self._refuse(self.device, self.cpu.device)

    def _refuse(self, one, other):
        if not self.operator.mixed:
            raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                               f"{one} and {other}! (when checking {self.operator})")


class _OnCpu:
    """An operator of CUDA devices. Called with what PyTorch's dispatcher hands over."""

    def __init__(self, name, function=None):
        base, _, overload = name.removeprefix("aten::").partition(".")
        self.name = name
        self.mixed = base in _MIXED
        self.operator = getattr(getattr(torch.ops.aten, base), overload or "default")
        self.packet = getattr(torch.ops.aten, base)
        self.function = function
        self.tensors = [index for index, argument in enumerate(self.operator._schema.arguments)
                        if isinstance(argument.type, torch.TensorType)]
        self.random = torch.Tag.nondeterministic_seeded in self.operator.tags
        self.outs = {argument.name for argument in self.operator._schema.arguments if argument.is_out}

    def __str__(self):
        return self.name

    def is_view(self):
        return any(result.alias_info is not None and not result.alias_info.is_write
                   for result in self.operator._schema.returns)

    def __call__(self, *args, **kwargs):
        arguments = _Arguments(self)
        args = [arguments.lower(value) for value in args]
        kwargs = {name: self._lower_named(arguments, name, value) for name, value in kwargs.items()}
        arguments.check_devices()
        if arguments.device is None:
            arguments.device = torch.device("cuda", torch.cuda.current_device())
        _driver.orditoTellOnce(b"ordito_torch", _TOLD)
        function = self._function(args)
        if graphs.is_captured(_driver, stream_of(arguments.device)):
            return self._capture(arguments, function, args, kwargs)
        wait_for_stream(arguments.device)
        result = self._run(arguments, function, args, kwargs)
        for tensor, written in arguments.outs:
            self._write_out(tensor, written, arguments.device)
        for view, tensor in arguments.owners.values():
            # What an operator did to it may have given it other parts.
            if sparse.is_sparse(tensor) and view is result:
                sparse.assign(tensor, to_device(view, arguments.device))
        return self._raise_result(result, arguments.owners, lambda item: to_device(item, arguments.device))

    @staticmethod
    def _write_out(tensor, written, device):
        if sparse.is_sparse(tensor):
            sparse.assign(tensor, to_device(written, device))
            return
        if tensor.size() != written.size():
            tensor.resize_(written.size())
        cpu_view(tensor).copy_(written)

    def _capture(self, arguments, function, args, kwargs):
        """A node of a CUDA graph in the place of the call. It knows the memory, as a GPU's does, and keeps no tensor of it."""
        if any(sparse.is_sparse(tensor) for _, tensor in arguments.owners.values()):
            raise NotImplementedError(f"ordito_torch: {self.name} of a sparse tensor cannot be captured in a CUDA graph")
        shapes = graphs.Shapes()
        try:
            result = function(*shapes.of(args), **shapes.of(kwargs))
        except NotImplementedError as error:
            raise NotImplementedError(f"ordito_torch: {self.name} cannot be captured in a CUDA graph: PyTorch does not tell "
                                      "the shape of its result before it has run") from error
        copies = []  # (an own tensor of the CPU's operator, where its content goes)
        for tensor, written in arguments.outs:
            if tensor.size() != shapes.of(written).size():
                tensor.resize_(shapes.of(written).size())
            copies.append((written, cpu_view(tensor)))
        owners = {id(shapes.of(view)): (shapes.of(view), tensor) for view, tensor in arguments.owners.values()}
        places = {}

        def make(item):
            made = like_on_device(item, arguments.device)
            places[id(item)] = cpu_view(made)
            return made

        raised = self._raise_result(result, owners, make)
        places = [places.get(id(item)) for item in graphs.tensors(result)]
        arguments.owners.clear()
        arguments.outs.clear()

        def run():
            found = self._run(arguments, function, args, kwargs)
            for source, place in (*copies, *zip(graphs.tensors(found), places)):
                if place is not None:
                    place.copy_(source)

        graphs.add_node(_driver, arguments.device, stream_of(arguments.device), run)
        return raised

    def _lower_named(self, arguments, name, value):
        if name in self.outs:
            return [arguments.lower_out(item) for item in value] if isinstance(value, (list, tuple)) else arguments.lower_out(value)
        return arguments.lower(value)

    def _function(self, args):
        """A number in a tensor's place came through a form of the operator that takes numbers: the CPU has it too."""
        if self.function:
            return self.function
        of_numbers = any(isinstance(args[index], (bool, int, float, complex)) for index in self.tensors if index < len(args))
        return self.packet if of_numbers else self.operator

    def _run(self, arguments, function, args, kwargs):
        try:
            if self.random:
                with _Randomness(arguments):
                    return function(*args, **kwargs)
            return function(*args, **kwargs)
        except NotImplementedError as error:
            raise NotImplementedError(f"ordito_torch: PyTorch has no {self.name} for the CPU, which would run in place of "
                                      "the GPU's kernel") from error

    def _raise_result(self, result, owners, make):
        """The operator's result as tensors of the device: those whose views it gives back, or what make() makes of them."""
        if isinstance(result, torch.Tensor):
            view_and_tensor = owners.get(id(result))
            return view_and_tensor[1] if view_and_tensor else make(result)
        if isinstance(result, (list, tuple)):
            kind = type(result) if type(result) in (list, tuple) else tuple
            return kind(self._raise_result(item, owners, make) for item in result)
        return result


class _Randomness:
    """The CPU's generator, seeded for one operator by the device's generator, whose offset moves on as on a GPU.

    So the device's seed and state (torch.cuda.manual_seed, get_rng_state) decide its numbers, and the CPU's own go on as
    if nothing had been. The numbers are not a GPU's.
    """
    PER_OPERATOR = 4  # offsets are multiples of it

    def __init__(self, arguments):
        self.generator = arguments.generator or torch.cuda.default_generators[arguments.device.index]

    def __enter__(self):
        self.state = torch.default_generator.get_state()
        offset = self.generator.get_offset()
        torch.default_generator.manual_seed((self.generator.initial_seed() + offset * 0x9E3779B97F4A7C15) % 2**64)
        self.generator.set_offset(offset + self.PER_OPERATOR)

    def __exit__(self, *_):
        torch.default_generator.set_state(self.state)


class _Copy(_OnCpu):
    """Copies of bytes stay what they are for the driver, in the program's stream; others go through views."""

    def __call__(self, to, source, non_blocking=False):
        if to.dtype == source.dtype and to.size() == source.size() and to.is_contiguous() and source.is_contiguous() and \
                to.is_conj() == source.is_conj() and to.is_neg() == source.is_neg():
            return self.operator.redispatch(torch._C.DispatchKeySet(torch._C.DispatchKey.CPU), to, source, non_blocking)
        return super().__call__(to, source, False)


class _Convolution(_OnCpu):
    """Its results lie in memory in the order that a GPU's have, channels last or not: compiled programs count on it."""

    def __call__(self, *args, **kwargs):
        given = dict(zip((argument.name for argument in self.operator._schema.arguments), args)) | kwargs
        order = self._order(given)
        result = super().__call__(*args, **kwargs)
        if isinstance(result, torch.Tensor):
            return self._in_order(result, order)
        return tuple(self._in_order(each, order) for each in result)

    @staticmethod
    def _order(given):
        data, weight = given["input"], given["weight"]
        if weight.dim() < 4:
            return torch.contiguous_format
        named = {name: given[name] for name in ("bias", "bias_sizes", "stride", "padding", "dilation", "transposed",
                                                "output_padding", "groups") if name in given}
        backend = torch._C._select_conv_backend(data, weight, **{"bias": None} | named)
        return torch._C._conv_determine_backend_memory_format(data, weight, backend)

    @staticmethod
    def _in_order(result, order):
        return result if result is None or result.dim() < 4 else result.contiguous(memory_format=order)


def _keep_uncompiled(*functions):
    """torch.compile's hook sees every frame of a program. It would compile these, and what they call, as well."""
    frames = torch._C._dynamo.eval_frame
    skip = frames._FrameAction.SKIP
    for function in functions:
        frames.set_code_exec_strategy(function.__code__, frames._FrameExecStrategy(skip, skip))


def install(driver):
    """Puts the operators in the place of PyTorch's own for CUDA devices."""
    global _driver
    _driver = driver
    _keep_uncompiled(_OnCpu.__call__, _Copy.__call__, _Convolution.__call__)
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there were others before is meant
        _register(library)
    install.library = library  # operators live as long as it does


def _register(library):
    names = torch._C._dispatch_get_registrations_for_dispatch_key("CUDA")
    for name in sorted(names):
        if name.startswith("aten::") and name not in _NATIVE and name not in _CHOOSERS:
            operator = _OnCpu(name, fused.FUNCTIONS.get(name))
            if not operator.is_view():
                library.impl(name, operator, "CUDA")
    for key in ("SparseCUDA", "SparseCsrCUDA"):
        for name in sorted(torch._C._dispatch_get_registrations_for_dispatch_key(key)):
            if name.startswith("aten::") and name not in sparse.NATIVE:
                library.impl(name, _OnCpu(name), key)
    library.impl("aten::copy_", _Copy("aten::copy_"), "CUDA")
    for name in _CHOOSERS:
        library.impl(name, _Convolution(name), "CUDA")
