#!/bin/bash
# Every C++ and CUDA file of the project is formatted as .clang-format says. `tests/format.sh --fix` formats them.
# usage: format.sh [--fix] [clang-format]
set -euo pipefail
cd "$(dirname "$0")/.."
mode=(--dry-run -Werror)
if [ "${1:-}" = --fix ]; then
  mode=(-i)
  shift
fi
mapfile -t files < <(git ls-files '*.cpp' '*.hpp' '*.cu' '*.cuh' '*.h' '*.c' '*.cl')
[ ${#files[@]} -gt 0 ] || { echo "skipped: this is no git checkout"; exit 77; }
printf '%s\0' "${files[@]}" | xargs -0 -n 16 -P 2 "${1:-clang-format-19}" "${mode[@]}"
