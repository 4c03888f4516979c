#!/bin/bash
# The tables in docs/libraries.md are what the tables of names and the tests' executables say (src/libs/functions.py).
# `tests/libraries_page.sh --fix [BUILD]` writes them; without its tests built nothing is compared (77).
# usage: libraries_page.sh [--fix] [BUILD]
set -euo pipefail
cd "$(dirname "$0")/.."
fix=no
if [ "${1:-}" = --fix ]; then fix=yes; shift; fi
page=docs/libraries.md
made=$(sed '/^<!-- made by tests\/libraries_page.sh -->$/q' "$page"; python3 -B src/libs/functions.py "${1:-build/release}")
if [ "$fix" = yes ]; then
  printf '%s\n' "$made" > "$page"
elif ! diff -u "$page" <(printf '%s\n' "$made"); then
  echo "docs/libraries.md is not what the libraries have; write it anew with: tests/libraries_page.sh --fix"
  exit 1
fi
