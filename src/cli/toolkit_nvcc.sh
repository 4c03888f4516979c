#!/bin/sh
# nvcc by its usual name, for builds that look for it in <toolkit>/bin. A script rather than a link to ordito, because build systems
# follow links to find the toolkit around nvcc. In cuda13/bin it is the nvcc of CUDA 13.
here=$(dirname "$(readlink -f "$0")")
case $here in */cuda13/bin) export ORDITO_CUDA=13 ;; esac
exec "$here/../../bin/ordito" nvcc "$@"
