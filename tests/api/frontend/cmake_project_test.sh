#!/bin/bash
# CMake finds the toolkit through nvcc in PATH, compiles, links device code of several files, and the programs run by themselves: once
# with CMake's CUDA language and find_package(CUDAToolkit), once with the old find_package(CUDA).
# Ninja and clang++-19 are what Ordito itself is built with; nothing else need be installed.
# usage: cmake_project_test.sh <prefix> <projects folder> <scratch folder> [newest]
#   newest: with the newest CMake, in $ORDITO_NEWEST_CMAKE or the Python package `cmake`; skipped if there is none
set -euo pipefail
prefix=$1 projects=$2 scratch=$3 which=${4:-installed}

cmake=cmake
if [ "$which" = newest ]; then
  cmake=${ORDITO_NEWEST_CMAKE:-$(python3 -c 'import cmake, os; print(os.path.join(cmake.CMAKE_BIN_DIR, "cmake"))' 2> /dev/null || true)}
  [ -n "$cmake" ] || { echo "skipped: no newer CMake (pip install cmake, or name one in ORDITO_NEWEST_CMAKE)"; exit 77; }
fi
"$cmake" --version | head -1

export PATH=$prefix/cuda/bin:$PATH CXX=clang++-19
# A toolkit in the system's folders must not be found first.
export CMAKE_PREFIX_PATH=$prefix/cuda
unset CUDACXX CUDAHOSTCXX LD_LIBRARY_PATH

# build PROJECT BUILD_FOLDER OPTION...
build() {
  local project=$1 folder=$scratch/$2
  shift 2
  rm -rf "$folder" && mkdir -p "$folder"
  "$cmake" -G Ninja -S "$projects/$project" -B "$folder" "$@" > "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
  "$cmake" --build "$folder" >> "$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
}

# run BUILD_FOLDER PROGRAM...
run() {
  local folder=$1
  shift
  for program; do "$scratch/$folder/$program" || { echo "$folder/$program: status $?"; exit 1; }; done
}

for architectures in "70;80" native all all-major; do
  build language language -DCMAKE_CUDA_ARCHITECTURES="$architectures"
  run language separate libraries host_shared host_static
  echo "architectures $architectures: right"
done
if [ "$which" = installed ]; then
  build find_cuda find_cuda
  run find_cuda old
  echo "find_package(CUDA): right"
fi
