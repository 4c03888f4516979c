// What PTX looks like when a compiler makes it: the source of language*.ptx, which the parser's tests read. Needs no
// CUDA headers:
//
//   clang++-19 -x cuda -nocudainc -nocudalib --cuda-device-only -S --cuda-gpu-arch=sm_80 --cuda-feature=+ptx83 \
//     -Xclang -target-sdk-version=12.3 -O2 language.cu -o language_O2.ptx          (and -O0 -g -o language_debug.ptx)
#define GLOBAL __attribute__((global))
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))
#define CONSTANT __attribute__((constant))
#define NOINLINE __attribute__((noinline))

extern "C" DEVICE int printf(const char*, ...);

CONSTANT float coefficients[4] = {1, 2, 3, 4};
DEVICE int counter = 7;
DEVICE float table[2][3] = {{1, 2, 3}, {4, 5, 6}};
DEVICE int* pointer = &counter;
DEVICE double big[1000];

using Function = int (*)(int);
DEVICE NOINLINE int triple(int a) { return a * 3 + counter; }
DEVICE NOINLINE int lower(int a) { return a - 5; }
DEVICE Function functions[2] = {triple, lower};

struct Record {
  int a;
  double b;
  char c[5];
};

DEVICE NOINLINE Record change(Record r, int k) {
  r.a += k;
  r.b *= 2;
  r.c[2] = k;
  return r;
}

DEVICE int index() {
  return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x();
}

GLOBAL void __attribute__((launch_bounds(256, 2))) scale(float* out, const float* __restrict__ in, int n) {
  int i = index();
  if (i < n) out[i] = in[i] * coefficients[i & 3] + table[i & 1][1];
}

GLOBAL void everything(int* out, int n, Record given) {
  SHARED int partial[128];
  int t = __nvvm_read_ptx_sreg_tid_x();
  partial[t] = out[t];
  __syncthreads();
  for (int s = 64; s > 0; s >>= 1) {
    if (t < s) partial[t] += partial[t + s];
    __syncthreads();
  }
  Record r = change(given, partial[0]);
  out[t] = functions[n & 1](r.a) + r.c[2] + static_cast<int>(r.b);
  printf("%d %f\n", t, r.b);
  __nvvm_atom_add_gen_i(pointer, 3);
  int local[8];
  for (int i = 0; i < 8; i++) local[i] = out[i];
  out[t] += local[n & 7] + __nvvm_shfl_sync_bfly_i32(-1, t, 4, 31);
  switch (n) {
    case 0: out[1] = 4; break;
    case 1: out[3] = 5; break;
    case 2: out[9] = 1; break;
    case 3: out[t * 2] = 8; break;
    case 4: out[77] = t; break;
  }
}

template <class T>
GLOBAL void transpose(T* x) {
  SHARED T tile[16][17];
  int c = __nvvm_read_ptx_sreg_tid_x(), r = __nvvm_read_ptx_sreg_tid_y();
  tile[r][c] = x[r * 16 + c];
  __syncthreads();
  x[r * 16 + c] = tile[c][r];
}
template GLOBAL void transpose<float>(float*);
template GLOBAL void transpose<double>(double*);
