#!/usr/bin/env python3
"""The program device_query must say of the courses' GPUs what the documents' listings say. Left out is what belongs to
the host: versions, and of the GTX 1060 nothing else. Also: `ordito run --gpus` gives as many devices as asked for.

usage: device_query_test.py PATH/TO/ordito PATH/TO/device_query GPU
"""
import subprocess
import sys

ORDITO, PROGRAM, GPU = sys.argv[1:]
COMMON = {
    "constant memory": "65536", "shared memory per block": "49152", "registers per block": "65536", "warp size": "32",
    "max threads per multiprocessor": "2048", "max threads per block": "1024", "max block dims": "1024 1024 64",
    "max grid dims": "2147483647 65535 65535", "max memory pitch": "2147483647",
}
LISTED = {
    "gtx1060": COMMON | {
        "compute capability": "6.1", "global memory": "6144 MB", "global memory bytes": "6442188800",
        "multiprocessors": "10", "cores per multiprocessor": "128", "CUDA cores": "1280", "GPU max clock": "1785 MHz",
        "memory clock": "4004 MHz", "memory bus width": "192", "L2 cache size": "1572864", "max texture 1D": "131072",
        "max texture 2D": "131072 65536", "max texture 3D": "16384 16384 16384", "max layered 1D texture": "32768",
        "layered 1D layers": "2048", "max layered 2D texture": "32768 32768", "layered 2D layers": "2048",
        "shared memory per multiprocessor": "98304", "texture alignment": "512", "copy engines": "5",
        "run time limit on kernels": "Yes", "integrated": "No", "host page-locked mapping": "Yes",
        "surface alignment requirement": "Yes", "ECC": "Disabled", "driver mode": "WDDM", "unified addressing": "Yes",
        "managed memory": "Yes", "compute preemption": "Yes", "cooperative kernel launch": "Yes",
        "multi-device cooperative launch": "No", "PCI domain/bus/location": "0/1/0",
    },
    "gtx1080ti": COMMON | {
        "compute capability": "6.1", "global memory": "11158 MB", "global memory bytes": "11700207616",
        "multiprocessors": "28", "cores per multiprocessor": "128", "CUDA cores": "3584", "GPU max clock": "1582 MHz",
        "memory clock": "5505 MHz", "memory bus width": "352", "copy engines": "2", "run time limit on kernels": "Yes",
    },
    "k40c": COMMON | {
        "compute capability": "3.5", "global memory": "11440 MB", "global memory bytes": "11995578368",
        "multiprocessors": "15", "cores per multiprocessor": "192", "CUDA cores": "2880", "GPU max clock": "745 MHz",
        "memory clock": "3004 MHz", "memory bus width": "384", "copy engines": "2", "texture alignment": "512",
        "run time limit on kernels": "No", "multiple kernels concurrently": "Yes",
        "concurrent copy and execution": "Yes",
    },
    "p100": {"compute capability": "6.0", "multiprocessors": "56"},
    "gtx280": {"multiprocessors": "30", "global memory": "1024 MB"},
}


def query(*options):
    done = subprocess.run([ORDITO, "run", *options, PROGRAM], capture_output=True, text=True)
    return done, [line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line]


def listed():
    done, lines = query("--gpu", GPU)
    said = dict(lines)
    if done.returncode:
        yield f"status {done.returncode}: {done.stdout[-300:]}{done.stderr}"
    for name, value in LISTED[GPU].items():
        if said.get(name) != value:
            yield f"{name}: {said.get(name)}, listed {value}"


def several():
    done, lines = query("--gpu", GPU, "--gpus", "3")
    names = [value for name, value in lines if name == "name"]
    if dict(lines).get("devices") != "3" or len(names) != 3 or len(set(names)) != 1:
        yield f"--gpus 3 gives {names}"
    for wrong in (["--gpus", "0"], ["--gpus", "65"], ["--gpu", "h200,k40c", "--gpus", "2"]):
        done, _ = query(*wrong)
        if done.returncode != 2 or done.stderr.count("\n") != 1:
            yield f"{wrong}: status {done.returncode}, {done.stderr}"


failed = [*listed(), *several()]
print("\n".join(failed) or f"as listed: {len(LISTED[GPU])} properties")
sys.exit(1 if failed else 0)
