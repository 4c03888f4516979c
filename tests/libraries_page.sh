#!/bin/bash
# The table in docs/libraries.md is what the table of names says. `tests/libraries_page.sh --fix` writes it.
# usage: libraries_page.sh [--fix]
set -euo pipefail
cd "$(dirname "$0")/.."
page=docs/libraries.md
made() {
  sed '/^<!-- made by tests\/libraries_page.sh -->$/q' "$page"
  python3 src/libs/functions.py include/tables/cublas.table
}
if [ "${1:-}" = --fix ]; then
  text=$(made)
  printf '%s\n' "$text" > "$page"
elif ! diff -u "$page" <(made); then
  echo "docs/libraries.md is not what include/tables/cublas.table says; write it anew with: tests/libraries_page.sh --fix"
  exit 1
fi
