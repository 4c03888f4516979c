#!/bin/bash
# `cmake --install` gives a prefix that works from anywhere: it is installed, moved, and used with nothing else of ours in sight.
# usage: run_test.sh <cmake> <build tree> <saxpy.cu> <scratch folder>
# Nothing is piped into grep -q here: grep leaves at the first match, the writer gets SIGPIPE, and pipefail makes that a failure.
set -euo pipefail
cmake=$1 build=$2 source=$3 scratch=$4
rm -rf "$scratch"
mkdir -p "$scratch"
trap 'rm -rf "$scratch"' EXIT

"$cmake" --install "$build" --prefix "$scratch/first" > /dev/null
mv "$scratch/first" "$scratch/moved elsewhere"
prefix="$scratch/moved elsewhere"
unset LD_LIBRARY_PATH
cd "$scratch"

echo "the command by its name"
"$prefix/bin/ordito" nvcc -O2 "$source" -o saxpy
"$prefix/bin/ordito" run ./saxpy

echo "nvcc of the toolkit folder, through a link in PATH"
ln -s "$prefix/bin/ordito" ordito
PATH="$prefix/cuda/bin:$PATH" nvcc -c "$source" -o saxpy.o
./ordito nvcc saxpy.o -o saxpy_linked
./ordito run ./saxpy_linked

echo "nvcc of CUDA 13, in a folder of its own"
if [ -x "$prefix/cuda13/bin/nvcc" ]; then
  "$prefix/cuda13/bin/nvcc" --version > version
  grep -q 'release 13' version
  "$prefix/cuda13/bin/nvcc" "$source" -o saxpy_13
  ./saxpy_13
  ldd saxpy_13 > needed
  grep -q libcudart.so.13 needed
fi

echo "a library of the toolkit finds the others without help"
if [ -e "$prefix/cuda/lib64/libcurand.so" ]; then
  printf '#include <curand.h>\nint main() { curandGenerator_t g; return curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT); }\n' > dice.cu
  ./ordito nvcc dice.cu -lcurand -o dice
  ./dice
fi

echo "the lab"
"$prefix/bin/ordito" lab list > list
grep -q reduction list
"$prefix/bin/ordito" lab run saxpy --size 10000 > table
grep -q saxpy table
for folder in cuda/include cuda/lib64 share/ordito/gpus; do test -d "$prefix/$folder"; done
if grep -rIl -e "$build" "$prefix"; then
  echo "the files above name the build tree"
  exit 1
fi
