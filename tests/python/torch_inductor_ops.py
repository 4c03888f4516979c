"""PyTorch's own table of operators by torch.compile (Inductor, Triton) on a CUDA device, each sample against the same
operator on the CPU without it.

    torch_inductor_ops.py [--seed N] [--ops N] [--seconds N] [--only NAME]

takes N operators of the table by chance, and of each its first sample of tensors of floats that have elements. What
`empty` gives is not compared. Inductor's own tests are in PyTorch's repository only; the table is in the wheel."""
import argparse
import collections
import random
import time
import traceback

import torch
import torch._dynamo
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_leaves, tree_map


def on(device, value):
    return tree_map(lambda x: x.detach().to(device) if isinstance(x, torch.Tensor) else x, value)


def first_sample(op):
    for sample in op.sample_inputs("cpu", torch.float32, requires_grad=False):
        tensors = [leaf for leaf in tree_leaves(sample.input) if isinstance(leaf, torch.Tensor)]
        if tensors and all(tensor.numel() > 0 for tensor in tensors):
            return sample
    return None


def verdict(op):
    """'right', or why it is not."""
    sample = first_sample(op)
    if sample is None:
        return "no sample"
    arguments = (sample.input, *sample.args)
    function = op.get_op()
    try:
        wanted = function(*on("cpu", arguments), **on("cpu", sample.kwargs))
    except Exception:
        return "no sample"
    torch._dynamo.reset()
    compiled = torch.compile(lambda *a, **k: function(*a, **k))
    try:
        got = compiled(*on("cuda", arguments), **on("cuda", sample.kwargs))
        torch.testing.assert_close(on("cpu", got), on("cpu", wanted), rtol=2e-4, atol=2e-4, equal_nan=True)
    except AssertionError as error:
        return "other numbers: " + str(error).splitlines()[0]
    except Exception as error:
        return "error: " + traceback.format_exception_only(error)[0].splitlines()[0]
    return "right"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--ops", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--only")
    options = parser.parse_args()
    table = [op for op in op_db if torch.float32 in op.dtypes and "empty" not in op.name]
    table = [op for op in table if options.only in (None, op.name)]
    chosen = table if options.only else random.Random(options.seed).sample(table, min(options.ops, len(table)))
    counts, begin = collections.Counter(), time.time()
    for op in chosen:
        if time.time() - begin > options.seconds:
            break
        said = verdict(op)
        counts[said.split(":")[0]] += 1
        if said != "right":
            print(f"{op.full_name}: {said}", flush=True)
    print(f"{sum(counts.values())} of {len(table)} operators, {time.time() - begin:.0f} s: {dict(counts)}")


if __name__ == "__main__":
    main()
