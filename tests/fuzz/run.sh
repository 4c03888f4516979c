#!/bin/bash
# Fuzzes for a while, starting from the PTX of the tests. A crash leaves its input beside the report.
# usage: run.sh <fuzzer> <seconds> <scratch folder> <folder of seeds>...
set -euo pipefail
fuzzer=$1 seconds=$2 scratch=$3
shift 3
mkdir -p "$scratch/corpus"
"$fuzzer" -max_total_time="$seconds" -max_len=8192 -timeout=10 -print_final_stats=1 -artifact_prefix="$scratch/" "$scratch/corpus" "$@"
