#!/bin/sh
# The IR and the SIMT code of real programs, printed, are read again as the same: the lab's kernels as `ordito nvcc` compiles them.
# usage: round_trip.sh <ordito> <folder of the lab's sources> <scratch folder>
set -eu
ordito=$1 lab=$2 scratch=$3
mkdir -p "$scratch"
kernels=0
for source in "$lab"/*/*.cu; do
  name=$(basename "$source" .cu)
  "$ordito" nvcc -O3 -std=c++17 -ptx "$source" -o "$scratch/$name.ptx"
  "$ordito" opt "$scratch/$name.ptx" --accesses > "$scratch/$name.ir"
  "$ordito" opt "$scratch/$name.ir" > "$scratch/again.ir"
  cmp "$scratch/$name.ir" "$scratch/again.ir"
  "$ordito" opt "$scratch/$name.ptx" > "$scratch/$name.ir"
  "$ordito" opt "$scratch/$name.ir" > "$scratch/again.ir"
  cmp "$scratch/$name.ir" "$scratch/again.ir"
  "$ordito" opt "$scratch/$name.ptx" --block 48 --passes build-code > "$scratch/$name.simt"
  "$ordito" opt "$scratch/$name.simt" --block 48 > "$scratch/again.simt"
  cmp "$scratch/$name.simt" "$scratch/again.simt"
  kernels=$((kernels + $(grep -c '^[^;]*\.entry .*{$' "$scratch/$name.ir" || true)))
done
echo "$kernels kernels"
[ "$kernels" -gt 50 ]
