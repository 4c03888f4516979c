// Copies: every direction, pitched, boxes, arrays, and what is refused.
#include <cstring>
#include <vector>

#include "expect.hpp"

static void linear() {
  const size_t count = 1000, bytes = count * sizeof(int);
  std::vector<int> in(count), out(count);
  for (size_t i = 0; i < count; ++i) in[i] = static_cast<int>(i * 3);
  int *a = nullptr, *b = nullptr;
  EXPECT_OK(cudaMalloc(&a, bytes));
  EXPECT_OK(cudaMalloc(&b, bytes));
  EXPECT_OK(cudaMemcpy(a, in.data(), bytes, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy(b, a, bytes, cudaMemcpyDeviceToDevice));
  EXPECT_OK(cudaMemcpy(out.data(), b, bytes, cudaMemcpyDeviceToHost));
  EXPECT(in == out);
  std::vector<int> third(count);
  EXPECT_OK(cudaMemcpy(third.data(), out.data(), bytes, cudaMemcpyHostToHost));
  EXPECT(in == third);
  std::memset(out.data(), 0, bytes);
  EXPECT_OK(cudaMemcpy(out.data(), b, bytes, cudaMemcpyDefault));
  EXPECT(in == out);

  // Wrong directions, wrong kinds, wrong pointers, too many bytes.
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(a, in.data(), bytes, cudaMemcpyDeviceToHost));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(out.data(), b, bytes, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(out.data(), in.data(), bytes, cudaMemcpyDeviceToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(in.data(), 0, bytes));
  EXPECT_OK(cudaMemcpy(a, b, bytes, cudaMemcpyHostToDevice));  // with one address space "host" may be anywhere
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection, cudaMemcpy(a, in.data(), bytes, static_cast<cudaMemcpyKind>(7)));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(nullptr, in.data(), bytes, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(a, nullptr, bytes, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemcpy(out.data(), b, 1 << 30, cudaMemcpyDeviceToHost));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMemset(a, 0, 1 << 30));
  EXPECT_OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice));
  void* nothing = &in;
  EXPECT_OK(cudaMalloc(&nothing, 0));
  EXPECT(nothing == nullptr);
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(a + 1));

  EXPECT_OK(cudaMemset(a, 0x41, bytes));
  EXPECT_OK(cudaMemcpy(out.data(), a, bytes, cudaMemcpyDeviceToHost));
  EXPECT(out[0] == 0x41414141 && out[count - 1] == 0x41414141);
  EXPECT_OK(cudaFree(a));
  EXPECT_OK(cudaFree(b));
  EXPECT_ERROR(cudaErrorInvalidValue, cudaFree(b));
}

static void pitched() {
  const size_t width = 37, height = 11;
  unsigned char *device = nullptr, in[height][width], out[height][64] = {};
  size_t pitch = 0;
  EXPECT_OK(cudaMallocPitch(&device, &pitch, width, height));
  EXPECT(pitch >= width && pitch % 32 == 0);
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x) in[y][x] = static_cast<unsigned char>(y * 16 + x);
  EXPECT_OK(cudaMemset2D(device, pitch, 0, width, height));
  EXPECT_OK(cudaMemcpy2D(device, pitch, in, width, width, height, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy2D(out, 64, device, pitch, width, height, cudaMemcpyDeviceToHost));
  for (size_t y = 0; y < height; ++y) EXPECT(std::memcmp(in[y], out[y], width) == 0);
  EXPECT_ERROR(cudaErrorInvalidPitchValue,
               cudaMemcpy2D(device, width - 1, in, width, width, height, cudaMemcpyHostToDevice));
  // One row needs no pitch.
  EXPECT_OK(cudaMemcpy2D(device, pitch, in[3], 1, width, 1, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy2D(out[0], 0, device, 8, width, 1, cudaMemcpyDeviceToHost));
  EXPECT(std::memcmp(in[3], out[0], width) == 0);
  EXPECT_OK(cudaFree(device));
}

static void boxes() {
  const cudaExtent extent = {12 * sizeof(int), 5, 4};
  cudaPitchedPtr device;
  EXPECT_OK(cudaMalloc3D(&device, extent));
  EXPECT(device.xsize == extent.width && device.ysize == extent.height);
  int in[4][5][12], out[4][5][12] = {};
  for (int i = 0; i < 4 * 5 * 12; ++i) (&in[0][0][0])[i] = i;
  EXPECT_OK(cudaMemset3D(device, 0, extent));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(in, 12 * sizeof(int), 12, 5);
  copy.dstPtr = device;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_OK(cudaMemcpy3D(&copy));
  // One inner box of 2 x 2 x 2 elements comes back to the same place.
  cudaMemcpy3DParms back = {};
  back.srcPtr = device;
  back.dstPtr = make_cudaPitchedPtr(out, 12 * sizeof(int), 12, 5);
  back.srcPos = back.dstPos = make_cudaPos(3 * sizeof(int), 1, 2);
  back.extent = make_cudaExtent(2 * sizeof(int), 2, 2);
  back.kind = cudaMemcpyDeviceToHost;
  EXPECT_OK(cudaMemcpy3D(&back));
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 12; ++x) {
        const bool inside = x >= 3 && x < 5 && y >= 1 && y < 3 && z >= 2;
        EXPECT(out[z][y][x] == (inside ? in[z][y][x] : 0));
      }
  EXPECT_OK(cudaFree(device.ptr));
}

static void arrays() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMallocArray(&array, &format, 6, 3));
  float in[3][6], out[3][6] = {};
  for (int i = 0; i < 18; ++i) (&in[0][0])[i] = i * 0.5f;
  EXPECT_OK(cudaMemcpy2DToArray(array, 0, 0, in, 6 * sizeof(float), 6 * sizeof(float), 3, cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy2DFromArray(out, 6 * sizeof(float), array, 0, 0, 6 * sizeof(float), 3, cudaMemcpyDeviceToHost));
  EXPECT(std::memcmp(in, out, sizeof in) == 0);
  EXPECT_ERROR(cudaErrorInvalidValue,
               cudaMemcpy2DToArray(array, 0, 0, in, 6 * sizeof(float), 6 * sizeof(float), 4, cudaMemcpyHostToDevice));
  cudaChannelFormatDesc got;
  cudaExtent extent;
  EXPECT_OK(cudaArrayGetInfo(&got, &extent, nullptr, array));
  EXPECT(got.x == 32 && got.f == cudaChannelFormatKindFloat && extent.width == 6 && extent.height == 3 &&
         extent.depth == 0);
  EXPECT_ERROR(cudaErrorInvalidPitchValue, cudaMemcpy2DToArray(array, 0, 0, in, 24, 28, 1, cudaMemcpyHostToDevice));
  EXPECT_ERROR(cudaErrorInvalidMemcpyDirection,
               cudaMemcpy2DToArray(array, 0, 0, in, 24, 24, 1, cudaMemcpyDeviceToHost));
  const cudaChannelFormatDesc three = cudaCreateChannelDesc(32, 32, 32, 0, cudaChannelFormatKindFloat);
  cudaArray_t none = nullptr;
  EXPECT_ERROR(cudaErrorInvalidChannelDescriptor, cudaMallocArray(&none, &three, 6, 3));
  EXPECT_OK(cudaFreeArray(array));
}

static void pinned() {
  int* host = nullptr;
  EXPECT_OK(cudaHostAlloc((void**)&host, 4096, cudaHostAllocMapped));
  int* device = nullptr;
  EXPECT_OK(cudaHostGetDevicePointer((void**)&device, host, 0));
  EXPECT(device != nullptr);
  cudaPointerAttributes attributes;
  EXPECT_OK(cudaPointerGetAttributes(&attributes, host));
  EXPECT(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == host && attributes.devicePointer == device);
  EXPECT_OK(cudaFreeHost(host));

  static int registered[1024];
  EXPECT_OK(cudaPointerGetAttributes(&attributes, registered));
  EXPECT(attributes.type == cudaMemoryTypeUnregistered);
  EXPECT_OK(cudaHostRegister(registered, sizeof registered, cudaHostRegisterDefault));
  EXPECT_ERROR(cudaErrorHostMemoryAlreadyRegistered,
               cudaHostRegister(registered, sizeof registered, cudaHostRegisterDefault));
  EXPECT_OK(cudaHostUnregister(registered));
  EXPECT_ERROR(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(registered));

  void* memory = nullptr;
  EXPECT_OK(cudaMalloc(&memory, 64));
  EXPECT_OK(cudaPointerGetAttributes(&attributes, memory));
  EXPECT(attributes.type == cudaMemoryTypeDevice && attributes.device == 0 && attributes.devicePointer == memory);
  EXPECT_OK(cudaFree(memory));

  size_t free_bytes = 0, total = 0;
  EXPECT_OK(cudaMemGetInfo(&free_bytes, &total));
  EXPECT(free_bytes > 0 && free_bytes <= total);
  EXPECT_ERROR(cudaErrorMemoryAllocation, cudaMalloc(&memory, total + (size_t(1) << 40)));
  EXPECT(memory == nullptr);
}

int main() {
  linear();
  pitched();
  boxes();
  arrays();
  pinned();
  return finish();
}
