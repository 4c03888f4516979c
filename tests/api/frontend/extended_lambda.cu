// OPTIONS: --extended-lambda
// What libraries ask about a lambda's type when nvcc may have wrapped it.
#include <cuda_runtime.h>

template <class Function>
__global__ void apply(Function function, int* out) {
  static_assert(!__nv_is_extended_device_lambda_closure_type(Function) &&
                    !__nv_is_extended_host_device_lambda_closure_type(Function),
                "a lambda is no wrapper");
  out[threadIdx.x] = function(static_cast<int>(threadIdx.x));
}

// CHECK: .entry {{.*}}apply
void launch(int* out, int factor) {
  apply<<<1, 32>>>([=] __device__(int i) { return i * factor; }, out);
}
