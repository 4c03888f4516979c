#!/bin/sh
# compute-sanitizer by its usual name: takes NVIDIA's options and runs `ordito check`.
here=$(dirname "$(readlink -f "$0")")
exec "$here/../../bin/ordito" compute-sanitizer "$@"
