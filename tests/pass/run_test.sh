#!/bin/sh
# Runs each `// RUN: ordito opt ...` line of a file, with %s for the file, and lets FileCheck look at what it prints.
# usage: run_test.sh <ordito> <FileCheck> <file>
set -eu
ordito=$1 filecheck=$2 file=$3
grep -q '^// RUN: ordito ' "$file" || { echo "$file: no RUN line"; exit 1; }
sed -n 's|^// RUN: ordito ||p' "$file" | while read -r arguments; do
  output=$(eval "\"$ordito\" $(printf '%s' "$arguments" | sed "s|%s|\"\$file\"|g")")
  printf '%s\n' "$output" | "$filecheck" "$file"
done
