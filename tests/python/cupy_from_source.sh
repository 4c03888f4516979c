#!/bin/sh
# Builds CuPy from its sources on PyPI against Ordito's libraries, into a virtual environment of Debian's Python, and runs
# cupy_programs.py there. NVIDIA's packages are not needed. It takes half an hour on 2 cores, and some seconds
# where the environment is there already.
# usage: cupy_from_source.sh <ordito> <folder of the environment>
set -eu
ordito=$1 venv=$2
here=$(dirname "$0")
if [ ! -x "$venv/bin/pip" ]; then /usr/bin/python3 -m venv "$venv"; fi
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$here/cupy_build.txt"
# One architecture, as PTX: Ordito needs no machine code. `ordito run` tells the build where the toolkit is.
if [ ! -e "$venv/cupy" ]; then
  CUPY_NVCC_GENERATE_CODE=arch=compute_86,code=compute_86 "$ordito" run "$venv/bin/pip" install --no-deps --no-build-isolation --no-binary cupy cupy==14.2.0
  touch "$venv/cupy"
fi
exec "$ordito" run "$venv/bin/python" -B "$here/cupy_programs.py"
