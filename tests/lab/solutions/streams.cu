// Eight chunks on four streams, each with memory of its own; `add` waits for one stream after the other.
__global__ void addNumbers(const float* a, const float* b, float* c, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

void add(const float* a, const float* b, float* c, unsigned n) {
  constexpr unsigned kStreams = 4, kChunks = 8;
  if (n == 0) return;
  const unsigned length = (n + kChunks - 1) / kChunks;
  cudaStream_t streams[kStreams];
  float* memory[kStreams];
  for (unsigned s = 0; s < kStreams; ++s) {
    cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking);
    cudaMalloc(&memory[s], 3 * length * sizeof(float));
  }
  for (unsigned chunk = 0; chunk * length < n; ++chunk) {
    const unsigned first = chunk * length, count = n - first < length ? n - first : length;
    const size_t bytes = count * sizeof(float);
    cudaStream_t stream = streams[chunk % kStreams];
    float *deviceA = memory[chunk % kStreams], *deviceB = deviceA + length, *deviceC = deviceB + length;
    cudaMemcpyAsync(deviceA, a + first, bytes, cudaMemcpyHostToDevice, stream);
    cudaMemcpyAsync(deviceB, b + first, bytes, cudaMemcpyHostToDevice, stream);
    addNumbers<<<(count + 255) / 256, 256, 0, stream>>>(deviceA, deviceB, deviceC, count);
    cudaMemcpyAsync(c + first, deviceC, bytes, cudaMemcpyDeviceToHost, stream);
  }
  for (unsigned s = 0; s < kStreams; ++s) {
    cudaStreamSynchronize(streams[s]);
    cudaStreamDestroy(streams[s]);
    cudaFree(memory[s]);
  }
}
