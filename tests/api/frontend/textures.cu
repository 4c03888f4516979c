// Texture objects compile to tex instructions.
#include <cuda_runtime.h>
// CHECK-LABEL: .entry _Z6samplePfy
// CHECK-DAG: tex.1d.v4.f32.s32
// CHECK-DAG: tex.2d.v4.f32.f32
__global__ void sample(float* p, cudaTextureObject_t texture) {
  p[0] = tex1Dfetch<float>(texture, 3);
  p[1] = tex2D<float4>(texture, 0.5f, 1.5f).y;
}
