#!/usr/bin/python3
"""The programs of this folder for `ordito lab run python`: each is a variant, in a process of its own, right if it says so.

A program ends with status 0 if everything it checks holds, with 77 if a package is missing. Its Python is the one in
PATH (of a virtual environment, say) or Debian's, whichever has the packages. Counters are those of the kernels it launches;
PyTorch's operators launch none, Triton's kernels do (docs/python.md).
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).resolve().parent
DEBIAN = "/usr/bin/python3"
SKIPPED = 77

# Variants by the package that they show, with rows of the specification and a title.
PROGRAMS = {
    "first_kernel": ("nb.jit", "Numba: a kernel"),
    "indices": ("nb.hierarchy", "Numba: grids and indices"),
    "vectorize": ("nb.vectorize", "Numba: functions over arrays"),
    "vector_benefits": ("nb.vector_benefits", "Numba: what such functions gain"),
    "device_function": ("nb.device_fn", "Numba: functions of the device"),
    "transfers": ("nb.auto_transfer", "Numba: copies"),
    "host_memory": ("nb.pinned", "Numba: memory of the host"),
    "shared": ("nb.shared", "Numba: shared memory"),
    "atomic": ("nb.atomic", "Numba: atomic operations"),
    "streams": ("nb.stream", "Numba: streams and events"),
    "pycuda_saxpy": ("nb.pycuda", "PyCUDA: C++ as text"),
    "tensor_tour": ("pt.tensor", "PyTorch: tensors"),
    "device": ("pt.device", "PyTorch: devices"),
    "ops_table": ("pt.ops", "PyTorch: operations"),
    "thermometer": ("pt.autograd", "PyTorch: gradients by themselves"),
    "regression": ("pt.linreg", "PyTorch: regression by descent"),
    "mlp": ("pt.mlp", "PyTorch: perceptrons"),
    "matmul": ("pt.ops", "Triton: products of matrices"),
    "attention": ("pt.autograd", "Triton: attention"),
}


def interpreters():
    """Those to try, the one in PATH first."""
    return list(dict.fromkeys(path for path in (shutil.which("python3"), DEBIAN) if path and os.path.exists(path)))


def device_name():
    """In a process of its own, so that this one leaves no profile."""
    code = ("import ctypes; cuda = ctypes.CDLL('libcuda.so.1'); name = ctypes.create_string_buffer(256); cuda.cuInit(0); "
            "cuda.cuDeviceGetName(name, 256, 0); print(name.value.decode())")
    environment = {name: value for name, value in os.environ.items() if name != "ORDITO_PROFILE"}
    outcome = subprocess.run([DEBIAN, "-c", code], env=environment, stdout=subprocess.PIPE, text=True, check=False)
    return outcome.stdout.strip() or "no device: run it under `ordito run`"


def attempt(name, profile):
    """Runs the program. Status, what it printed, milliseconds, and the launches that were counted."""
    for interpreter in interpreters():
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        if profile:
            environment["ORDITO_PROFILE"] = profile
        begin = time.monotonic()
        outcome = subprocess.run([interpreter, FOLDER / f"{name}.py"], env=environment, stdout=subprocess.PIPE, text=True, check=False)
        milliseconds = 1000 * (time.monotonic() - begin)
        if outcome.returncode != SKIPPED:
            break
    launches = []
    if profile and os.path.exists(profile):
        written = json.loads(pathlib.Path(profile).read_text())
        launches = written["launches"] if isinstance(written, dict) else written
        os.remove(profile)
    return outcome.returncode, outcome.stdout, milliseconds, launches


def row(name, status, output, milliseconds, launches, first):
    spec, title = PROGRAMS[name]
    lines = output.strip().splitlines() or [""]
    note = lines[-1].removeprefix("skipped: ") if status == SKIPPED else "" if status == 0 else lines[-1]
    return {"name": name, "spec": spec, "title": title, "kernel": "", "grid": [0, 0, 0], "block": [0, 0, 0],
            "launch_first": first, "launch_count": len(launches), "kernel_ms": 0,
            "total_ms": 0 if status == SKIPPED else milliseconds, "bytes": 0, "flops": 0,
            "result": str(sum(line.startswith("ok") for line in lines)) if status != SKIPPED else "",
            "verified": None if status == SKIPPED else status == 0, "note": note}


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variant", default="all")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--progress", action="store_true")
    for ignored in ("--rounds", "--size", "--block", "--file"):  # of the lab's other programs
        parser.add_argument(ignored)
    return parser.parse_args()


def main():
    asked = options()
    names = list(PROGRAMS) if asked.variant == "all" else [asked.variant]
    if names[0] not in PROGRAMS:
        print(f"no variant '{names[0]}'; there are: {' '.join(PROGRAMS)}", file=sys.stderr)
        sys.exit(2)
    wanted, rows, launches = os.environ.get("ORDITO_PROFILE"), [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if asked.progress:
                print(f"{name}", file=sys.stderr)
            status, output, milliseconds, counted = attempt(name, os.path.join(folder, "profile.json") if wanted else None)
            if not asked.json or status not in (0, SKIPPED):
                print(output, end="", file=sys.stderr if asked.json else sys.stdout)
            rows.append(row(name, status, output, milliseconds, counted, len(launches)))
            launches += counted
    if wanted:
        pathlib.Path(wanted).write_text(json.dumps({"launches": launches}))
    right = all(entry["verified"] is not False for entry in rows)
    if asked.json:
        print(json.dumps({"program": "python", "device": device_name(), "size": len(PROGRAMS), "block": 0, "rounds": 1,
                          "verified": right, "variants": rows, "notes": []}))
    sys.exit(0 if right else 1)


main()
