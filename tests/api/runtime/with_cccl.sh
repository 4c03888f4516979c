#!/bin/sh
# with_cccl.sh system|cccl CCCL ORDITO SOURCE BINARY: builds a program that uses Thrust or CUB with the system's copy, or with that in the
# folder CCCL, and runs it.
which=$1 cccl=$2 ordito=$3 source=$4 binary=$5
if [ "$which" = system ]; then
  [ -e /usr/include/thrust/version.h ] || { echo "skipped: no Thrust in /usr/include (on Debian: apt install libthrust-dev libcub-dev)"; exit 77; }
  unset CCCL_ROOT
else
  [ -n "$cccl" ] || { echo "skipped: no copy of CCCL was named in CCCL_ROOT when the tests were configured"; exit 77; }
  export CCCL_ROOT="$cccl"
fi
"$ordito" nvcc -std=c++17 "$source" -o "$binary" && exec "$ordito" run "$binary"
