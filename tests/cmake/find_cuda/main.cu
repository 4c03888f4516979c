__global__ void kernel(int* p) { *p = 42; }

int main() {
  int* p = nullptr;
  cudaMallocManaged(&p, sizeof *p);
  kernel<<<1, 1>>>(p);
  return cudaDeviceSynchronize() == cudaSuccess && *p == 42 ? 0 : 1;
}
