// Names of what is static in PTX that a host loads by names; the host may write the variables.
// clang-format off
// CHECK-NOT: __ordito
// CHECK-DAG: {{^}}.global .align 4 .u32 count = 5;
// CHECK-DAG: {{^}}.const .align 4 .b8 weights[16];
// CHECK-DAG: {{^}}.global .align 4 .u32 _ZN[[#]]_INTERNAL_[[UNIT:[0-9a-f]+_15_static_names_cu_[0-9a-f]+]]3app5depthE;
// CHECK-DAG: {{^}}.global .align 4 .u32 _ZN[[#]]_INTERNAL_[[UNIT]][[#]]_GLOBAL__N__[[UNIT]]6hiddenE = 7;
// CHECK-DAG: {{^}}.entry _Z5quietPf(
// CHECK-DAG: {{^}}.entry _ZN3app4deepEPf(
// CHECK-DAG: {{^}}.entry _ZN[[#]]_GLOBAL__N__[[UNIT]]7unnamedEPf(
// CHECK-DAG: {{^}}.visible .entry _Z4openPf(
// clang-format on
static __constant__ float weights[4];
static __device__ int count = 5;
namespace {
__device__ int hidden = 7;
__global__ void unnamed(float* p) { *p = static_cast<float>(hidden); }
}  // namespace
namespace app {
static __device__ int depth;
static __global__ void deep(float* p) { *p = static_cast<float>(depth); }
}  // namespace app
static __global__ void quiet(float* p) { *p = weights[0] + static_cast<float>(count); }
__global__ void open(float* p) { *p = 1; }

void launches(float* p) {
  unnamed<<<1, 1>>>(p);
  app::deep<<<1, 1>>>(p);
  quiet<<<1, 1>>>(p);
  open<<<1, 1>>>(p);
}
