// Exercise: the sum of n whole numbers.
//
// `numbers` and `result` are in the device's memory, and *result may hold anything. n may be 0. Launch as many kernels
// as you like. Each number should be read once, by neighbouring lanes; ordito lab check counts the sectors of 32 bytes.
//
//   ordito lab check reduction FILE.cu
__global__ void addUp(const int* numbers, unsigned n, int* result) {
  // Yours. This one is right, and slow: one lane of one warp does it all.
  int all = 0;
  for (unsigned i = 0; i < n; ++i) all += numbers[i];
  *result = all;
}

void sum(const int* numbers, unsigned n, int* result) { addUp<<<1, 1>>>(numbers, n, result); }
