#!/bin/sh
# Builds a package from its sources on PyPI against Ordito's libraries, into a virtual environment of Debian's Python, and
# runs a program there. NVIDIA's packages are not needed. What is there already is not built again. Skipped (77) where
# pip does not get what the build needs.
# usage: from_source.sh <ordito> <folder of the environment> <list of what the build needs> <package==version> <program>
set -eu
ordito=$1 venv=$2 list=$3 package=$4 program=$5
name=${package%%==*}
if [ ! -x "$venv/bin/python" ]; then /usr/bin/python3 -m venv "$venv"; fi
if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --timeout 30 --retries 2 --no-deps -r "$list"; then
  echo "skipped: the packages of $list could not be installed"
  exit 77
fi
# One architecture, as PTX: Ordito needs no machine code. `ordito run` tells the build where the toolkit is.
if [ ! -e "$venv/$package" ]; then
  CUPY_NVCC_GENERATE_CODE=arch=compute_86,code=compute_86 "$ordito" run "$venv/bin/python" -m pip install --no-deps --no-build-isolation --no-binary "$name" "$package"
  touch "$venv/$package"
fi
exec "$ordito" run "$venv/bin/python" -B "$program"
