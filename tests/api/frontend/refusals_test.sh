#!/bin/bash
# What is no CUDA is refused by the compiler, with a message that says why.
# usage: refusals_test.sh ORDITO SCRATCH_FOLDER
set -uo pipefail
ordito=$1 scratch=$2
mkdir -p "$scratch"
failed=0

refused() { # NAME PATTERN, the program on standard input
  cat > "$scratch/$1.cu"
  if "$ordito" nvcc -c "$scratch/$1.cu" -o "$scratch/$1.o" > "$scratch/$1.log" 2>&1; then
    echo "$1: compiled"
    failed=1
  elif ! grep -Eq "$2" "$scratch/$1.log"; then
    echo "$1: refused, but without /$2/:"
    head -5 "$scratch/$1.log"
    failed=1
  fi
}

refused kernel_with_result "must have void return type" <<< '__global__ int kernel() { return 1; }'
refused kernel_with_ellipsis "__global__ function cannot have an ellipsis: kernel" <<< '__global__ void kernel(int first, ...) {}'
refused host_calls_device "__device__ function 'twice' in __host__ function|no matching function for call to 'twice'" <<'END'
__device__ int twice(int v) { return 2 * v; }
int main() { return twice(1); }
END
refused kernel_calls_host "__host__ function 'twice' in __global__ function|no matching function for call to 'twice'" <<'END'
int twice(int v) { return 2 * v; }
__global__ void kernel(int* out) { *out = twice(1); }
END
refused kernel_called_as_function "call to global function .kernel. not configured" <<'END'
__global__ void kernel() {}
int main() { kernel(); }
END
refused atomic_of_char "no matching function for call to 'atomicAdd'" <<'END'
__global__ void kernel(char* cell) { atomicAdd(cell, 'a'); }
END
refused atomic_min_of_double "no matching function for call to 'atomicMin'|ambiguous" <<'END'
__global__ void kernel(double* cell) { atomicMin(cell, 1.0); }
END
refused write_to_constant "const" <<'END'
__constant__ int table[4];
__global__ void kernel(const int* __restrict__ in) { in[0] = table[0]; }
END
# Not refused, but warned of.
refused name_of_cuda_3 "'cudaThreadSynchronize' is deprecated: use cudaDeviceSynchronize" <<'END'
#pragma clang diagnostic error "-Wdeprecated-declarations"
int main() { return cudaThreadSynchronize(); }
END
exit $failed
