#!/bin/sh
# Every option that the nvcc of this machine documents is known to ours. Skipped where there is no nvcc but ours.
# usage: nvcc_help_test.sh <ordito>
set -u
ordito=$1
nvcc=$(command -v nvcc) || { echo "skipped: no nvcc"; exit 77; }
"$nvcc" --version | grep -qi ordito && { echo "skipped: nvcc is ours"; exit 77; }
failures=0
# Lines such as "--gpu-architecture <arch>     (-arch)".
for option in $("$nvcc" --help | sed -n 's/^\(--[A-Za-z0-9_-]*\).*(\(-[A-Za-z0-9_-]*\)) *$/\1 \2/p'); do
  if "$ordito" nvcc -dryrun "$option" value 2>&1 | grep -q 'no such option'; then
    echo "unknown: $option"
    failures=$((failures + 1))
  fi
done
exit $failures
