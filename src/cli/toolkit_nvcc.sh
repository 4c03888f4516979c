#!/bin/sh
# nvcc by its usual name, for builds that look for it in <toolkit>/bin. A script rather than a link to ordito, because build systems
# follow links to find the toolkit around nvcc.
here=$(dirname "$(readlink -f "$0")")
exec "$here/../../bin/ordito" nvcc "$@"
