// __constant__, __device__ and __managed__ variables from both sides.
#include "expect.hpp"

__constant__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__device__ int counter = 40;
static __device__ float numbers[4] = {0.5f, 1.5f, 2.5f, 3.5f};
__managed__ int shared_count = 100;
__managed__ double shared_numbers[16];

__global__ void sum(int* result) {
  int total = 0;
  for (int i = 0; i < 8; ++i) total += table[i];
  result[0] = total;
  counter += 2;
  numbers[1] *= 2;
  shared_count += 11;
  shared_numbers[3] = 2.25;
}

int main() {
  // Managed variables have their initial values before the first call, and keep what the host writes.
  EXPECT(shared_count == 100);
  shared_count = 200;
  shared_numbers[15] = -1;

  int* device = nullptr;
  EXPECT_OK(cudaMalloc(&device, sizeof(int)));
  sum<<<1, 1>>>(device);
  int value = 0;
  EXPECT_OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 36);
  EXPECT_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT(value == 42);
  float number = 0;
  EXPECT_OK(cudaMemcpyFromSymbol(&number, numbers, sizeof number, sizeof(float)));
  EXPECT(number == 3.0f);
  EXPECT(shared_count == 211);
  EXPECT(shared_numbers[3] == 2.25 && shared_numbers[15] == -1);

  const int replacement[2] = {1000, 2000};
  EXPECT_OK(cudaMemcpyToSymbol(table, replacement, sizeof replacement, 6 * sizeof(int)));
  sum<<<1, 1>>>(device);
  EXPECT_OK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT(value == 3021);

  // Beyond the end of the variable, and things that are no variables.
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyToSymbol(table, replacement, sizeof replacement, 7 * sizeof(int)));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpyFromSymbol(&value, counter, sizeof value, 4));
  EXPECT_ERROR(cudaErrorInvalidSymbol, cudaMemcpyToSymbol((const void*)&value, &value, sizeof value));
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
               cudaMemcpyToSymbol(table, replacement, sizeof replacement, 0, cudaMemcpyDeviceToHost));

  void* address = nullptr;
  size_t bytes = 0;
  EXPECT_OK(cudaGetSymbolAddress(&address, counter));
  EXPECT_OK(cudaGetSymbolSize(&bytes, table));
  EXPECT(bytes == 32);
  value = 7;
  EXPECT_OK(cudaMemcpy(address, &value, sizeof value, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT(value == 7);
  cudaPointerAttributes attributes;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, address));
  EXPECT(attributes.type == cudaMemoryTypeDevice);
  EXPECT_OK(cudaPointerGetAttributes(&attributes, &shared_count));
  EXPECT(attributes.type == cudaMemoryTypeManaged);

  // Managed memory by allocation.
  int* managed = nullptr;
  EXPECT_OK(cudaMallocManaged(&managed, 2 * sizeof(int)));
  managed[0] = 5;
  sum<<<1, 1>>>(managed + 1);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(managed[0] == 5 && managed[1] == 3021);
  EXPECT_OK(cudaFree(managed));
  EXPECT_OK(cudaFree(device));
  return finish();
}
