#!/bin/sh
# Every option that the nvcc of this machine documents is known to ours.
# usage: nvcc_help_test.sh <nvcc> <ordito>
set -u
nvcc=$1 ordito=$2
failures=0
# Lines such as "--gpu-architecture <arch>     (-arch)".
for option in $("$nvcc" --help | sed -n 's/^\(--[A-Za-z0-9_-]*\).*(\(-[A-Za-z0-9_-]*\)) *$/\1 \2/p'); do
  if "$ordito" nvcc -dryrun "$option" value 2>&1 | grep -q 'no such option'; then
    echo "unknown: $option"
    failures=$((failures + 1))
  fi
done
exit $failures
