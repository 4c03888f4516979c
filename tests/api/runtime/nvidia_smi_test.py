#!/usr/bin/env python3
"""Our nvidia-smi in the forms that scripts use: nvidia_smi_test.py NVIDIA-SMI"""
import os
import re
import subprocess
import sys


def run(*command: str, status: int = 0) -> str:
    environment = dict(os.environ, ORDITO_GPU="h200,rtx3090")
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == status, (command, result)
    return result.stdout


def main(smi: str) -> None:
    lines = run(smi, "-L").splitlines()
    assert len(lines) == 2 and re.fullmatch(r"GPU 0: NVIDIA H200 \(UUID: GPU-[0-9a-f-]{36}\)", lines[0]), lines
    query = "--query-gpu=index,name,memory.total,compute_cap,power.draw"
    assert run(smi, query, "--format=csv").splitlines() == [
        "index, name, memory.total [MiB], compute_cap, power.draw [W]", "0, NVIDIA H200, 143155 MiB, 9.0, [N/A]",
        "1, NVIDIA GeForce RTX 3090, 24268 MiB, 8.6, [N/A]"]
    assert run(smi, query, "--format=csv,noheader,nounits", "-i", "1") == "1, NVIDIA GeForce RTX 3090, 24268, 8.6, [N/A]\n"
    assert "driver_version" in run(smi, "--help-query-gpu")
    uuid = run(smi, "--query-gpu", "uuid", "--format", "csv,noheader", "--id=0").strip()
    assert uuid in lines[0], (uuid, lines)
    table = run(smi)
    assert re.search(r"CUDA Version: \d+\.\d", table) and "NVIDIA H200" in table and "24268MiB" in table, table
    assert len({len(line) for line in table.splitlines() if line.startswith(("|", "+"))}) == 1, table
    full = run(smi, "-q")
    assert re.search(r"Attached GPUs +: 2", full) and re.search(r"Product Name +: NVIDIA H200", full), full
    assert "not a valid field" in run(smi, "--query-gpu=nothing", "--format=csv", status=2)
    run(smi, "--query-gpu=name", status=2)
    run(smi, "--nothing", status=2)
    assert "No devices were found" in run(smi, "-L", "-i", "7", status=6)


if __name__ == "__main__":
    main(*sys.argv[1:])
