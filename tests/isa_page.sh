#!/bin/bash
# docs/isa.md is what the table of instructions says. `tests/isa_page.sh build/release/bin/ordito --fix` writes it.
# usage: isa_page.sh <ordito> [--fix]
set -euo pipefail
page=$(dirname "$0")/../docs/isa.md
if [ "${2:-}" = --fix ]; then
  "$1" isa --markdown > "$page"
elif ! diff -u "$page" <("$1" isa --markdown); then
  echo "docs/isa.md is not what src/isa/ptx.def says; write it anew with: tests/isa_page.sh $1 --fix"
  exit 1
fi
