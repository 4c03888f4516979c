// Exercise: out[i] = in[0] + ... + in[i].
//
// Both arrays are in the device's memory and have n whole numbers; n may be 0. You may allocate memory. A number should
// be read a few times at most, by neighbouring lanes.
//
//   ordito lab check scan FILE.cu
__global__ void sums(const int* in, int* out, unsigned n) {
  // Yours. This one is right, and slow: one lane of one warp does it all.
  int all = 0;
  for (unsigned i = 0; i < n; ++i) out[i] = all += in[i];
}

void scan(const int* in, int* out, unsigned n) { sums<<<1, 1>>>(in, out, n); }
