// Texture and surface references, which CUDA dropped after version 11.
#include <cstring>

#include "expect.hpp"

texture<float, 2, cudaReadModeElementType> picture;
texture<int2> pairs;
texture<unsigned char, 1, cudaReadModeNormalizedFloat> fractions;
static texture<float4, 1> unbound;
surface<void, cudaSurfaceType2D> canvas;

__global__ void sample(float* to, int2* ints) {
  to[0] = tex2D(picture, 1.0f, 1.0f);
  to[1] = tex2D(picture, 2.5f, 0.5f);
  to[2] = tex1Dfetch(fractions, 1);
  ints[0] = tex1Dfetch(pairs, 1);
}

__global__ void paint() { surf2Dwrite(float(threadIdx.x), canvas, threadIdx.x * 4, 1); }

__global__ void missing(float* to) { to[0] = tex1Dfetch(unbound, 0).x; }

int main() {
  float texels[6] = {0, 1, 2, 10, 11, 12};
  cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMallocArray(&array, &format, 3, 2, cudaArraySurfaceLoadStore));
  EXPECT_OK(cudaMemcpyToArray(array, 0, 0, texels, sizeof texels, cudaMemcpyHostToDevice));
  picture.filterMode = cudaFilterModeLinear;
  picture.addressMode[0] = picture.addressMode[1] = cudaAddressModeClamp;
  EXPECT_OK(cudaBindTextureToArray(picture, array, format));

  int2* numbers = nullptr;
  unsigned char* bytes = nullptr;
  float* result = nullptr;
  EXPECT_OK(cudaMallocManaged(&numbers, 3 * sizeof(int2)));
  EXPECT_OK(cudaMallocManaged(&bytes, 2));
  EXPECT_OK(cudaMallocManaged(&result, 4 * sizeof(float)));
  numbers[1] = make_int2(7, -8);
  bytes[1] = 51;
  size_t offset = 1;
  EXPECT_OK(cudaBindTexture(&offset, pairs, numbers, 2 * sizeof(int2)));
  EXPECT(offset == 0);
  EXPECT_OK(cudaBindTexture(nullptr, fractions, bytes));
  sample<<<1, 1>>>(result, numbers + 2);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(result[0] == 5.5f && result[1] == 2 && result[2] == 0.2f);
  EXPECT(numbers[2].x == 7 && numbers[2].y == -8);

  // Bound anew, to memory with a pitch and without a filter.
  float* plane = nullptr;
  size_t pitch = 0;
  EXPECT_OK(cudaMallocPitch(&plane, &pitch, 3 * sizeof(float), 2));
  EXPECT_OK(cudaMemcpy2D(plane, pitch, texels, 12, 12, 2, cudaMemcpyHostToDevice));
  picture.filterMode = cudaFilterModePoint;
  EXPECT_OK(cudaBindTexture2D(nullptr, picture, plane, format, 3, 2, pitch));
  sample<<<1, 1>>>(result, numbers + 2);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(result[0] == 11 && result[1] == 2);
  EXPECT_OK(cudaUnbindTexture(picture));

  EXPECT_OK(cudaBindSurfaceToArray(canvas, array));
  paint<<<1, 3>>>();
  float painted[6];
  EXPECT_OK(cudaMemcpyFromArray(painted, array, 0, 0, sizeof painted, cudaMemcpyDeviceToHost));
  EXPECT(painted[0] == 0 && painted[2] == 2 && painted[3] == 0 && painted[4] == 1 && painted[5] == 2);

  // A kernel that reads a texture nobody bound.
  missing<<<1, 1>>>(result);
  EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  return finish();
}
