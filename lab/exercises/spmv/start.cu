// Exercise: y = A x for a sparse matrix A.
//
// The elements of row r are those from first[r] to first[r + 1] - 1: element k is `value[k]` in column `column[k]`. A
// row may be empty, and there may be none. Rows are up to 63 elements long: let neighbouring lanes read neighbours.
//
//   ordito lab check spmv FILE.cu
__global__ void timesVector(const unsigned* first, const unsigned* column, const float* value, const float* x, float* y,
                            unsigned rows) {
  // Yours. This one is right, but each lane reads a row of its own, far from its neighbours.
  const unsigned r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (unsigned k = first[r]; k < first[r + 1]; ++k) sum += value[k] * x[column[k]];
  y[r] = sum;
}

void multiply(const unsigned* first, const unsigned* column, const float* value, const float* x, float* y,
              unsigned rows) {
  if (rows > 0) timesVector<<<(rows + 127) / 128, 128>>>(first, column, value, x, y, rows);
}
