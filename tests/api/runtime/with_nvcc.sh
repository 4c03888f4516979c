#!/bin/sh
# with_nvcc.sh NVCC ORDITO SOURCE BINARY [OPTION...]: builds a program with NVIDIA's compiler and a shared runtime, and runs it on ours.
nvcc=$1 ordito=$2 source=$3 binary=$4
shift 4
"$nvcc" -std=c++17 -cudart shared "$source" "$@" -o "$binary" && exec "$ordito" run "$binary"
