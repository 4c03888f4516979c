#!/bin/sh
# with_toolkit.sh TOOL COMMAND [ARGUMENT...]: runs a command in which every argument @TOOL@ is the path of NVIDIA's nvcc or ptxas, or ends
# with 77 ("skipped" to CTest) where this machine has none.
#
# It is looked for when the test runs, not when the build is configured: a build may outlive a toolkit. A tool that only lies in PATH does not count,
# it must answer: some systems have wrappers there that outlive it as well. Our own nvcc and ptxas do not count either.
tool=$1
shift
found=
for candidate in /usr/local/cuda/bin/"$tool" "$(command -v "$tool")"; do
  version=$("$candidate" --version 2> /dev/null) || continue
  case $version in *[Oo]rdito*) continue ;; esac
  found=$candidate
  break
done
if [ -z "$found" ]; then
  echo "skipped: no $tool of NVIDIA's on this machine"
  exit 77
fi
for argument; do
  shift
  if [ "$argument" = "@$tool@" ]; then argument=$found; fi
  set -- "$@" "$argument"
done
exec "$@"
