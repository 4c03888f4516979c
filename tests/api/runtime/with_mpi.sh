#!/bin/sh
# Compiles a program that uses MPI as docs/libraries.md says, and runs it in three processes; skipped without Open MPI.
# MPI_HOME names its folder (include, lib) if it is not where Debian has it.
# usage: with_mpi.sh <ordito> <source> <binary> [options ...]
set -eu
ordito=$1 source=$2 binary=$3
shift 3
home=${MPI_HOME:-/usr/lib/x86_64-linux-gnu/openmpi}
[ -e "$home/include/mpi.h" ] && command -v mpirun > /dev/null || {
  echo "skipped: there is no Open MPI (libopenmpi-dev, openmpi-bin)"
  exit 77
}
"$ordito" nvcc -std=c++17 "$source" -I"$home/include" -L"$home/lib" -lmpi "$@" -o "$binary"
# The same by the wrapper, which knows where its headers and libraries are.
if command -v mpicxx > /dev/null; then
  "$ordito" nvcc -std=c++17 -ccbin mpicxx "$source" "$@" -o "$binary.wrapped"
  # And in the steps of makefiles that compile with nvcc and link with the wrapper.
  "$ordito" nvcc -std=c++17 -I"$home/include" -c "$source" "$@" -o "$binary.o"
  "$ordito" nvcc -ccbin mpicxx "$binary.o" "$@" -o "$binary.linked"
fi
# A test may have fewer cores than processes, and be root in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun --oversubscribe -np 3 "$binary"
mpirun --oversubscribe -np 3 "$ordito" run --gpu h200 "$binary"
[ ! -e "$binary.linked" ] || mpirun --oversubscribe -np 3 "$binary.linked"
