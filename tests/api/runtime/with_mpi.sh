#!/bin/sh
# Compiles a program that uses MPI as docs/libraries.md says, and runs it in three processes; skipped without Open MPI.
# MPI_HOME names its folder (include, lib) if it is not where Debian has it.
# usage: with_mpi.sh <ordito> <source> <binary>
set -eu
home=${MPI_HOME:-/usr/lib/x86_64-linux-gnu/openmpi}
[ -e "$home/include/mpi.h" ] && command -v mpirun > /dev/null || {
  echo "skipped: there is no Open MPI (libopenmpi-dev, openmpi-bin)"
  exit 77
}
"$1" nvcc -std=c++17 "$2" -I"$home/include" -L"$home/lib" -lmpi -o "$3"
# The same by the wrapper, which knows where its headers and libraries are.
if command -v mpicxx > /dev/null; then
  "$1" nvcc -std=c++17 -ccbin mpicxx "$2" -o "$3.wrapped"
  # And in the steps of makefiles that compile with nvcc and link with the wrapper.
  "$1" nvcc -std=c++17 -I"$home/include" -c "$2" -o "$3.o"
  "$1" nvcc -ccbin mpicxx "$3.o" -o "$3.linked"
fi
# A test may have fewer cores than processes, and be root in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun --oversubscribe -np 3 "$3"
mpirun --oversubscribe -np 3 "$1" run --gpu h200 "$3"
[ ! -e "$3.linked" ] || mpirun --oversubscribe -np 3 "$3.linked"
