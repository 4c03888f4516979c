#!/bin/bash
# clang-tidy over the sources, with the rules of .clang-tidy. Files may be named; otherwise all of src/.
# usage: tidy.sh <build tree> [file ...]
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
if [ $# -eq 0 ]; then mapfile -t files < <(find src -name '*.cpp' | sort); else files=("$@"); fi
# Only what this build compiles. The compiler counts warnings in system headers on stderr, which nobody needs.
known=$(sed -n 's/.*"file": "\(.*\)".*/\1/p' "$build/compile_commands.json")
for file in "${files[@]}"; do
  if grep -qF "/$file" <<< "$known"; then printf '%s\0' "$file"; fi
done | xargs -0 -P "${ORDITO_TEST_JOBS:-2}" -I FILE sh -c \
  'clang-tidy-19 -p "$0" --quiet FILE 2> /dev/null || { echo "clang-tidy: FILE"; exit 1; }' "$build"
