#!/bin/sh
# Builds NVIDIA's Warp from its public sources against Ordito's libraries, with a virtual environment of Debian's Python,
# and runs a program with it. NVIDIA's packages are not needed, but for the headers of CCCL, which are free. What is there
# already is not built again. The sources are those in the folder that WARP_ROOT names, or 1.17.0.dev4 of GitHub.
# usage: warp_from_source.sh <ordito> <folder of the environment> <list of what the build needs> <program>
set -eu
ordito=$1 venv=$2 list=$3 program=$4
url=https://github.com/NVIDIA/warp commit=9934a4eb2c503399140daab09d256ccc7236d1d8
if [ ! -x "$venv/bin/python" ]; then /usr/bin/python3 -m venv "$venv"; fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps -r "$list"
sources=${WARP_ROOT:-$venv/warp}
if [ ! -e "$sources/build_lib.py" ]; then
  git init --quiet "$sources"
  git -C "$sources" fetch --quiet --depth 1 "$url" "$commit" ||
    { echo "skipped: Warp's sources could not be fetched, and WARP_ROOT names none"; exit 77; }
  git -C "$sources" checkout --quiet FETCH_HEAD
fi
if [ ! -e "$sources/warp/bin/warp.so" ]; then
  # One architecture, as PTX (--quick), with the runtime and the compilers as shared libraries; without libmathdx, which
  # is not public, and without Warp's compiler for the CPU. `ordito run` tells the build where the toolkit is.
  CCCL_ROOT=$(echo "$venv"/lib/python3*/site-packages/cuda/cccl/headers)
  export CCCL_ROOT
  (cd "$sources" && "$ordito" run "$venv/bin/python" build_lib.py --quick --use-dynamic-cuda --no-use-libmathdx --no-standalone)
fi
WARP_CACHE_PATH=$venv/warp-cache PYTHONPATH=$sources exec "$ordito" run "$venv/bin/python" -B "$program"
