#!/bin/sh
# The symbols of CUDA's libraries have the library's name as their version, and a program that was linked with such a
# library is told of it at every start where the version is missing.
# usage: versions_test.sh <readelf> <folder of our libraries>
set -eu
for name in libcublas.so.12 libcublas.so.13 libcublasLt.so.12 libcublasLt.so.13 libcudart.so.12 libcudart.so.13 \
            libcudnn.so.9 libcufft.so.11 libcufft.so.12 libcupti.so.12 libcupti.so.13 libcurand.so.10 \
            libcusolver.so.11 libcusolver.so.12 libcusparse.so.12 libnvJitLink.so.12 libnvJitLink.so.13 \
            libnvrtc.so.12 libnvrtc.so.13; do
  test -e "$2/$name" || continue
  "$1" -V "$2/$name" | grep -q "Flags: none .*Name: $name\$" || { echo "$name: no versions of that name"; exit 1; }
done
