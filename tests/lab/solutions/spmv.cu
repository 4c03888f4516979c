// A warp for each row.
__global__ void timesVector(const unsigned* first, const unsigned* column, const float* value, const float* x, float* y,
                            unsigned rows) {
  const unsigned r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0;
  for (unsigned k = first[r] + lane; k < first[r + 1]; k += 32) sum += value[k] * x[column[k]];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
  if (lane == 0) y[r] = sum;
}

void multiply(const unsigned* first, const unsigned* column, const float* value, const float* x, float* y,
              unsigned rows) {
  if (rows > 0) timesVector<<<(rows + 3) / 4, 128>>>(first, column, value, x, y, rows);
}
