// FAILS
// A host function called from a kernel is an error that names both.
#include <cuda_runtime.h>
int hostOnly();
// CHECK: host_call.cu:6:{{.*}}error: {{.*}}hostOnly
__global__ void k(int* p) { *p = hostOnly(); }
