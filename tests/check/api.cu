// Calls that go wrong, and others that only look so. The first argument names one of the cases; the test
// (check_test.py) has the verdicts. A case that begins with "ok" is right.
#include <cstdio>
#include <cstring>

constexpr int n = 64;

__global__ void fill(int* out) { out[threadIdx.x] = threadIdx.x; }
__global__ void add(int* sum, const int* x) { sum[threadIdx.x] += x[threadIdx.x]; }

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return !strcmp(which, name); };
  constexpr size_t bytes = n * sizeof(int);
  int host[2 * n] = {}, *a, *b = nullptr;
  cudaMalloc(&a, bytes);
  fill<<<1, n>>>(a);
  cudaDeviceSynchronize();
  bool isKnown = true;
  if (is("free_twice") || is("ok_free_twice")) {
    cudaMalloc(&b, bytes);
    cudaFree(b);
    if (is("ok_free_twice")) cudaMalloc(&b, bytes);
    cudaFree(b);
  } else if (is("free_inside"))
    cudaFree(a + 1);
  else if (is("free_host"))
    cudaFree(host);
  else if (is("free_pinned_as_device")) {
    cudaMallocHost(&b, bytes);
    cudaFree(b);
    cudaFreeHost(b);
  } else if (is("free_device_as_pinned"))
    cudaFreeHost(a);
  else if (is("free_async_twice")) {
    cudaMallocAsync(&b, bytes, 0);
    cudaFreeAsync(b, 0);
    cudaStreamSynchronize(0);
    cudaFreeAsync(b, 0);
  } else if (is("ok_free")) {
    cudaMalloc(&b, bytes);
    cudaFree(b), cudaFree(nullptr);
  } else if (is("ok_free_async")) {
    cudaMallocAsync(&b, bytes, 0);
    fill<<<1, n>>>(b);
    cudaFreeAsync(b, 0);
  } else if (is("late_use") || is("late_use_of_many")) {
    for (int i = 0; i < (is("late_use") ? 1 : 20); ++i) {
      cudaMalloc(&b, bytes);
      cudaFree(b);
    }
    int* other;
    cudaMalloc(&other, bytes);
    fill<<<1, n>>>(b);
    cudaDeviceSynchronize();
    cudaFree(other);
  } else if (is("late_use_of_pool") || is("ok_late_use_of_pool")) {
    int* other;
    cudaMallocAsync(&b, bytes, 0);
    cudaFreeAsync(b, 0);
    cudaMallocAsync(&other, bytes, 0);
    fill<<<1, n>>>(is("late_use_of_pool") ? b : other);
    cudaFreeAsync(other, 0);
  } else if (is("ok_new_pointer")) {
    for (int i = 0; i < 20; ++i) {
      cudaMalloc(&b, bytes);
      fill<<<1, n>>>(b);
      cudaFree(b);
    }
  } else if (is("copy_past_end"))
    cudaMemcpy(host, a, bytes + 4, cudaMemcpyDeviceToHost);
  else if (is("copy_direction"))
    cudaMemcpy(host, a, bytes, cudaMemcpyHostToDevice);
  else if (is("ok_copy_direction"))
    cudaMemcpy(host, a, bytes, cudaMemcpyDefault);
  else if (is("fill_past_end"))
    cudaMemset(a + 1, 0, bytes);
  else if (is("ok_fill_past_end"))
    cudaMemset(a + 1, 0, bytes - sizeof(int));
  else if (is("pitch") || is("ok_pitch"))
    cudaMemcpy2D(host, is("pitch") ? 8 : 16, a, 16, 16, 4, cudaMemcpyDeviceToHost);
  else if (is("large_block"))
    fill<<<1, 4096>>>(a);
  else if (is("ok_large_block")) {
    cudaMalloc(&b, 1024 * sizeof(int));
    fill<<<1, 1024>>>(b);
    cudaDeviceSynchronize();
    cudaFree(b);
  } else if (is("too_much"))
    cudaMalloc(&b, size_t{1} << 60);
  else if (is("ok_copy"))
    cudaMemcpy(host, a, bytes, cudaMemcpyDeviceToHost);
  else if (is("ok_looked_at")) {
    cudaMalloc(&b, size_t{1} << 60);
    if (cudaGetLastError() == cudaSuccess) return 3;
  } else if (is("ok_query")) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    fill<<<1, n, 0, stream>>>(a);
    cudaStreamQuery(stream);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
  } else if (is("ok_registered")) {
    static int page[4096];
    cudaHostRegister(page, sizeof page, 0), cudaHostRegister(page, sizeof page, 0);
    cudaHostUnregister(page);
  } else
    isKnown = is("ok_none");
  if (!isKnown) return printf("no case %s\n", which), 2;
  cudaDeviceSynchronize();
  cudaFree(a);
  return 0;
}
