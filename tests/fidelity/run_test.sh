#!/bin/bash
# What `ordito run --fidelity` says of kinds.cu, and with which status it ends, on one engine.
# usage: run_test.sh ORDITO FILECHECK SOURCE SCRATCH_FOLDER ENGINE
set -euo pipefail
ordito=$1 filecheck=$2 source=$3 scratch=$4
export ORDITO_ENGINE=$5
mkdir -p "$scratch"
cd "$scratch"
"$ordito" nvcc -lineinfo "$source" -o kinds

expect() {  # STATUS OPTIONS...: what run ends with
  local wanted=$1 status=0
  shift
  "$ordito" run "$@" ./kinds 2>report.txt || status=$?
  [ "$status" = "$wanted" ] && return
  echo "ordito run $* ended with $status, expected $wanted"
  cat report.txt
  exit 1
}

expect 0 --fidelity
"$filecheck" --input-file=report.txt "$source"
expect 3 --fail-on order
expect 3 --fail-on differs,bounded
expect 0 --fail-on differs,machine
expect 2 --fail-on nearly
grep -q "no kind 'nearly'; there are exact," report.txt
expect 0 --fidelity-json report.json
grep -q '"kind": "order"' report.json

# The report of an earlier run is not taken for that of a program which makes none.
if "$ordito" run --fidelity-json report.json true 2>report.txt; then echo "an old report was taken"; exit 1; fi
grep -q "launched no kernel" report.txt
[ ! -e report.json ]
