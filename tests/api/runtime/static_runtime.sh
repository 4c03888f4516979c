#!/bin/sh
# static_runtime.sh NVCC ORDITO LIBRARIES SOURCE BINARY: a program with NVIDIA's static runtime ends with one line, and
# the two ways to build it that the line names work.
nvcc=$1 ordito=$2 libraries=$3 source=$4 binary=$5
static=$libraries
case $("$nvcc" --version) in *"release 13"*) static=$libraries/cuda13 ;; esac

"$nvcc" -std=c++17 "$source" -o "$binary" || exit 1
said=$("$ordito" run "$binary" 2>&1) && { echo "the static runtime was not refused"; exit 1; }
echo "$said"
[ "$(echo "$said" | wc -l)" = 1 ] || exit 1
echo "$said" | grep -q 'NVCC_APPEND_FLAGS="-cudart shared"' || exit 1

for flags in "-cudart shared" "-L$static"; do
  NVCC_APPEND_FLAGS=$flags "$nvcc" -std=c++17 "$source" -o "$binary" && "$ordito" run "$binary" ||
    { echo "fails with NVCC_APPEND_FLAGS=$flags"; exit 1; }
done
