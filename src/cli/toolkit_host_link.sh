#!/bin/sh
# Links host objects with clang, for `ordito nvcc` and for CMake, which takes the linker from nvcc's link command. With the path of our
# libraries inside, the program runs without LD_LIBRARY_PATH. New-style (RPATH would win over LD_LIBRARY_PATH): the user's word counts.
#
# nvcc's link command names the shared runtime and the static one, since CMake reads in it what the default is. Only one may come in: a
# linker takes members of an archive also for what other shared libraries leave undefined (OpenMP's asks for the driver's calls), and a
# program with two runtimes looks for its errors in the wrong one.
case $(dirname "$0") in
  */cuda13/bin) here=$(dirname "$0") ;;  # a link into the other toolkit
  *) here=$(dirname "$(readlink -f "$0")") ;;
esac
case " $* " in
  *" -lcudart "*)
    for argument; do
      shift
      [ "$argument" = -lcudart_static ] || set -- "$@" "$argument"
    done ;;
esac
exec "${ORDITO_CLANG:-clang++-19}" "$@" -Wl,--enable-new-dtags "-Wl,-rpath,$(readlink -f "$here/../lib64")"
