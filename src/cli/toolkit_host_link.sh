#!/bin/sh
# Links host objects with clang, for `ordito nvcc` and for CMake, which takes the linker from nvcc's link command. With the path of our
# libraries inside, the program runs without LD_LIBRARY_PATH. New-style (RPATH would win over LD_LIBRARY_PATH): the user's word counts.
here=$(dirname "$(readlink -f "$0")")
exec "${ORDITO_CLANG:-clang++-19}" "$@" -Wl,--enable-new-dtags "-Wl,-rpath,$(readlink -f "$here/../lib64")"
