// Exercise: a matrix of floats, its rows turned into columns.
//
// `in` has `rows` rows of `columns` numbers, one after another; `out` gets `columns` rows of `rows` numbers. Either may
// be 0. Reads and writes should both be those of neighbouring lanes, and lanes should not meet in a bank of shared
// memory.
//
//   ordito lab check transpose FILE.cu
__global__ void turn(const float* in, float* out, unsigned rows, unsigned columns) {
  // Yours. This one is right, but each lane writes to a row of its own.
  const unsigned c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < columns) out[c * rows + r] = in[r * columns + c];
}

void transpose(const float* in, float* out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  turn<<<dim3((columns + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(in, out, rows, columns);
}
