// Texture objects compile to tex instructions, references to variables of their own and the same instructions.
#include <cuda_runtime.h>
// CHECK-DAG: .texref old
// CHECK-DAG: .surfref canvas
// CHECK-LABEL: .entry _Z6samplePfy
// CHECK-DAG: tex.1d.v4.f32.s32
// CHECK-DAG: tex.2d.v4.f32.f32
__global__ void sample(float* p, cudaTextureObject_t texture) {
  p[0] = tex1Dfetch<float>(texture, 3);
  p[1] = tex2D<float4>(texture, 0.5f, 1.5f).y;
}

texture<float, 2> old;
surface<void, 2> canvas;
// CHECK-LABEL: .entry _Z9referencePf
// CHECK-DAG: mov.u64 %{{.*}}, old;
// CHECK-DAG: tex.2d.v4.f32.f32
// CHECK-DAG: sust.b.2d.b32.trap
__global__ void reference(float* p) {
  p[0] = tex2D(old, 0.5f, 1.5f);
  surf2Dwrite(p[0], canvas, 4, 1);
}
