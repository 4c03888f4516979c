// PTX names the source lines, so that messages can.
#include <cuda_runtime.h>
// CHECK-LABEL: .entry _Z5linesPi
// CHECK: .loc{{[ 	]+}}[[FILE:[0-9]+]] 6
// CHECK: st.global
__global__ void lines(int* p) { p[threadIdx.x] = 1; }
// CHECK: .file{{[ 	]+}}{{[0-9]+}} "{{.*}}lines.cu"
