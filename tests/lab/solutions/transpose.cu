// A tile with a column more than it needs, so that a column of it lies in 32 banks.
__global__ void turn(const float* in, float* out, unsigned rows, unsigned columns) {
  __shared__ float tile[32][33];
  const unsigned left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (unsigned y = threadIdx.y; y < 32; y += blockDim.y) {
    if (top + y < rows && left + threadIdx.x < columns) {
      tile[y][threadIdx.x] = in[(top + y) * columns + left + threadIdx.x];
    }
  }
  __syncthreads();
  for (unsigned y = threadIdx.y; y < 32; y += blockDim.y) {
    if (left + y < columns && top + threadIdx.x < rows) {
      out[(left + y) * rows + top + threadIdx.x] = tile[threadIdx.x][y];
    }
  }
}

void transpose(const float* in, float* out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  turn<<<dim3((columns + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(in, out, rows, columns);
}
