#!/bin/sh
# Compiles one .cu file with all warnings as errors and compares its PTX with the CHECK lines in it.
# usage: run_test.sh <ordito> <FileCheck> <file.cu> <scratch folder>
#
# Comments in the file steer it:
#   // OPTIONS: -arch=sm_70     more options for the compiler
#   // FAILS                    compiling must fail with status 1, and CHECK lines are for its messages
set -eu
ordito=$1 filecheck=$2 source=$3 scratch=$4
options=$(sed -n 's|^// OPTIONS: ||p' "$source")
mkdir -p "$scratch"

if grep -q '^// FAILS' "$source"; then
  status=0
  "$ordito" nvcc $options -ptx "$source" -o "$scratch/out.ptx" 2> "$scratch/messages" || status=$?
  cat "$scratch/messages"
  test $status -eq 1
  exec "$filecheck" "$source" --input-file="$scratch/messages"
fi

"$ordito" nvcc $options -Xcompiler -Wall,-Wextra,-Werror -c "$source" -o "$scratch/out.o"
"$ordito" nvcc $options -ptx "$source" -o "$scratch/out.ptx"
exec "$filecheck" "$source" --input-file="$scratch/out.ptx" --dump-input=fail
