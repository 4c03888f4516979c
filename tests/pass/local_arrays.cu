// What clang has left of local arrays: each is a variable of its own, with its name and a number in the module.
// RUN: ordito nvcc -arch=sm_80 -ptx %s -o /dev/stdout

// CHECK-LABEL: .visible .entry arrays(
// CHECK-NOT: __local_depot
// CHECK: .local .align 4 .b8 window$0[32];
// CHECK-NEXT: mov.u64 [[WINDOW:%rd[0-9]+]], window$0;
// CHECK: .local .align 2 .b8 behind$1[12];
// CHECK: st.local.u32 {{\[}}[[WINDOW]]],
// CHECK: ret;
extern "C" __global__ void arrays(int* out, const int* in) {
  int window[8];
  short behind[6];
  for (int i = 0; i < 8; ++i) window[i] = in[i];
  for (int i = 0; i < 6; ++i) behind[i] = in[i];
  out[threadIdx.x] = window[in[8] & 7] + behind[in[9] & 3];
}

// Registers, and what only constants name, need none.
// CHECK-LABEL: .visible .entry constants(
// CHECK-NOT: {{[$][0-9]}}
// CHECK: ret;
extern "C" __global__ void constants(int* out, const int* in) {
  int values[4] = {in[0], in[1], in[2], in[3]};
  volatile int kept[2];
  kept[1] = values[1];
  out[threadIdx.x] = values[3] + kept[1];
}

// Of one that was inlined, and of a struct.
// CHECK-LABEL: .visible .entry inlined(
// CHECK: .local .align 4 .b8 table$2[20];
// CHECK: .local .align 8 .b8 record$3[40];
// CHECK: ret;
struct Record {
  double weight;
  int counts[8];
};
__device__ inline int lookUp(const int* in, int at) {
  int table[5];
  for (int i = 0; i < 5; ++i) table[i] = in[i] * 3;
  return table[at];
}
extern "C" __global__ void inlined(int* out, const int* in) {
  Record record;
  record.weight = in[2];
  for (int i = 0; i < 8; ++i) record.counts[i] = in[i];
  out[threadIdx.x] = lookUp(in, in[threadIdx.x]) + record.counts[in[1]] + int(record.weight);
}

// In a function that is called.
// CHECK-LABEL: .func (.param .b32 func_retval0) called(
// CHECK: .local .align 4 .b8 own$4[16];
// CHECK: ret;
extern "C" __device__ __noinline__ int called(const int* in, int at) {
  int own[4];
  for (int i = 0; i < 4; ++i) own[i] = in[i];
  return own[at];
}
extern "C" __global__ void calls(int* out, const int* in) { out[threadIdx.x] = called(in, in[threadIdx.x]); }
