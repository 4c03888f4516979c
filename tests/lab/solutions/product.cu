// Tiles of 16 x 16 in shared memory: every number that is read serves 16 lanes.
constexpr unsigned kTile = 16;

__global__ void product(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float tileA[kTile][kTile], tileB[kTile][kTile];
  const unsigned x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * kTile + x, i = blockIdx.y * kTile + y;
  float sum = 0;
  for (unsigned first = 0; first < n; first += kTile) {
    tileA[y][x] = i < n && first + x < n ? a[i * n + first + x] : 0;
    tileB[y][x] = j < n && first + y < n ? b[(first + y) * n + j] : 0;
    __syncthreads();
    for (unsigned k = 0; k < kTile; ++k) sum += tileA[y][k] * tileB[k][x];
    __syncthreads();
  }
  if (i < n && j < n) c[i * n + j] = sum;
}

void multiply(const float* a, const float* b, float* c, unsigned n) {
  if (n == 0) return;
  const unsigned blocks = (n + kTile - 1) / kTile;
  product<<<dim3(blocks, blocks), dim3(kTile, kTile)>>>(a, b, c, n);
}
