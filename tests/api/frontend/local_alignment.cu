// A local array of small numbers that is filled in pieces of 16 bytes.
struct Fragment {
  unsigned short data[16];
};

__device__ void load(unsigned short* where, unsigned x) {
  uint4& piece = reinterpret_cast<uint4&>(*where);
  piece.x = x;
  piece.y = x + 1;
  piece.z = x + 2;
  piece.w = x + 3;
}

// CHECK: .visible .entry _Z6kernelPiii
// CHECK: .local .align 16 .b8
__global__ void kernel(int* to, int which, int x) {
  int before[3] = {which, 2, 3};
  Fragment fragment;
  load(&fragment.data[0], x);
  load(&fragment.data[8], x * x);
  *to = reinterpret_cast<unsigned char*>(&fragment)[which] + before[which];
}
