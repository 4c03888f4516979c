"""What the checker's fuzzers do with a program of random kernels: options, building, and the findings of one run."""
import argparse
import json
import os
import pathlib
import subprocess


def options(programs, kernels):
    """ORDITO FOLDER [--seed N] [--programs N] [--kernels N] [--jobs N], with these defaults; makes the folder."""
    parser = argparse.ArgumentParser()
    parser.add_argument("ordito")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=programs)
    parser.add_argument("--kernels", type=int, default=kernels)
    parser.add_argument("--jobs", type=int, default=1)
    read = parser.parse_args()
    read.folder.mkdir(parents=True, exist_ok=True)
    return read


def program(kernels):
    """The kernels and a main that launches them all."""
    return "".join(k.text() for k in kernels) + "int main() {\n" + "".join(k.launch() for k in kernels) + "}\n"


def build(ordito, source, text):
    """The executable of `text`, which is written to the file `source`."""
    source.write_text(text)
    executable = source.with_suffix("")
    subprocess.run([ordito, "nvcc", "-O2", "-lineinfo", "-arch=sm_80", source, "-o", executable], check=True)
    return executable


def check(ordito, executable, arguments, variables):
    """Each finding of `ordito check` as (rule, kernel, its lines), and how many blocks were proved and told."""
    report = executable.with_suffix(".json")
    report.unlink(missing_ok=True)
    subprocess.run([ordito, "check", *arguments, "--fail-on", "never", "--json", report, executable],
                   env=os.environ | variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600,
                   check=False)
    found = json.loads(report.read_text())
    lines = [sorted(str(a["source"]).split(":")[-1] for a in f["accesses"]) for f in found["findings"]]
    return {(f["rule"], f["kernel"].split("(")[0], "-".join(at)) for f, at in zip(found["findings"], lines)}, \
        found["blocks"]
