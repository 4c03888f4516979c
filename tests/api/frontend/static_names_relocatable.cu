// OPTIONS: -rdc=true
// Names of what is static in relocatable PTX: those of static_names.cu behind the name of the unit.
// clang-format off
// CHECK-DAG: {{^}}.global .align 4 .u32 __nv_static_[[#]]__[[UNIT:[0-9a-f]+_27_static_names_relocatable_cu_[0-9a-f]+]]_count = 5;
// CHECK-DAG: {{^}}.const .align 4 .b8 __nv_static_[[#]]__[[UNIT]]_weights[16];
// CHECK-DAG: {{^}}.global .align 4 .u32 __nv_static_[[#]]__[[UNIT]]__ZN[[#]]_INTERNAL_[[UNIT]][[#]]_GLOBAL__N__[[UNIT]]6hiddenE = 7;
// CHECK-DAG: {{^}}.entry __nv_static_[[#]]__[[UNIT]]__Z5quietPf(
// CHECK-DAG: {{^}}.entry __nv_static_[[#]]__[[UNIT]]__Z6taggedIN[[#]]_GLOBAL__N__[[UNIT]]3TagEEvPf(
// CHECK-DAG: {{^}}.visible .entry _Z4openPf(
// clang-format on
static __constant__ float weights[4];
static __device__ int count = 5;
namespace {
__device__ int hidden = 7;
struct Tag {};
}  // namespace
static __global__ void quiet(float* p) { *p = weights[0] + static_cast<float>(count); }
template <typename T>
__global__ void tagged(float* p) {
  *p = static_cast<float>(hidden);
}
__global__ void open(float* p) { *p = 1; }

void launches(float* p) {
  quiet<<<1, 1>>>(p);
  tagged<Tag><<<1, 1>>>(p);
  open<<<1, 1>>>(p);
}
