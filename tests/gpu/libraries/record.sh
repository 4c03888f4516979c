#!/bin/bash
# Builds the programs of cases with nvcc and records what NVIDIA's libraries answer on a real GPU, a file for each, to lie
# beside this script. A library that does not build or is not there is left out with a line.
#
# usage: [RECORD=NAME...] record.sh OUTPUT_FOLDER [--build-only]    all of them, or those named
set -uo pipefail
output=$(realpath -m "$1")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$output"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
libraries=$(realpath "$(dirname "$(realpath "$nvcc")")/../lib64")

declare -A links=([cublas]=cublas [cublas_level2]=cublas [cublaslt]=cublasLt [cusparse]=cusparse [cusolver]=cusolver [cufft]=cufft [curand]=curand
  [cudnn]=cudnn [cudnn_rnn]=cudnn [cudnn_graph]=cudnn [cudnn_losses]=cudnn [nvrtc]=nvrtc [npp]="nppc -lnppial -lnppicc -lnppif -lnppig")
names=(${RECORD:-${!links[@]}})
for name in "${names[@]}"; do
  "$nvcc" -std=c++17 -arch=sm_90 -Xcompiler -Wno-deprecated-declarations -Xlinker -rpath="$libraries" "$name.cu" -l${links[$name]} -o "$work/$name" &
done
wait
for name in "${names[@]}"; do
  [ -x "$work/$name" ] || { echo "$name does not build"; continue; }
  [ "${2:-}" = --build-only ] || python3 record.py "$output/$name.json" "$work/$name"
done
