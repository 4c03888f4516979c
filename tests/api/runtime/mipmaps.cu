// Mipmapped arrays: their levels, how a fetch chooses among them, views of a part of them, and the driver's arrays and
// texture objects, which are the same objects.
#include <cuda.h>

#include <vector>

#include "expect.hpp"

namespace {

float* results = nullptr;  // managed

__global__ void byLevel(cudaTextureObject_t texture, float* to) {
  to[threadIdx.x] = tex2DLod<float>(texture, 0.5f, 0.5f, 0.5f * float(threadIdx.x));
}

__global__ void byGradient(cudaTextureObject_t texture, float* to) {
  // One texel of level k is 2^k texels of level 0.
  const float step = exp2f(float(threadIdx.x)) / 16;
  to[threadIdx.x] = tex2DGrad<float>(texture, 0.5f, 0.5f, make_float2(step, 0), make_float2(0, step));
}

__global__ void plain(cudaTextureObject_t texture, float* to) { *to = tex2D<float>(texture, 0.5f, 0.5f); }

__global__ void alongRow(cudaTextureObject_t texture, float* to) {
  to[threadIdx.x] = tex2D<float>(texture, float(threadIdx.x) + 0.5f, 1.5f);
}

__global__ void draw(cudaSurfaceObject_t surface) { surf2Dwrite(7.0f, surface, threadIdx.x * 4, 0); }

__global__ void layer(cudaTextureObject_t texture, float* to) {
  *to = tex2DLayered<float>(texture, 0.5f, 0.5f, int(threadIdx.x));
}

/// 16x16 texels and smaller copies of them, each filled with its level's number.
cudaMipmappedArray_t numbered(unsigned levels) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t all = nullptr;
  EXPECT_OK(cudaMallocMipmappedArray(&all, &format, make_cudaExtent(16, 16, 0), levels));
  for (unsigned k = 0; k < levels; ++k) {
    cudaArray_t level = nullptr;
    EXPECT_OK(cudaGetMipmappedArrayLevel(&level, all, k));
    cudaExtent extent{};
    EXPECT_OK(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
    EXPECT(extent.width == 16u >> k && extent.height == 16u >> k);
    const std::vector<float> texels(extent.width * extent.height, float(k));
    EXPECT_OK(cudaMemcpy2DToArray(level, 0, 0, texels.data(), extent.width * 4, extent.width * 4, extent.height,
                                  cudaMemcpyHostToDevice));
  }
  return all;
}

cudaTextureDesc reading(cudaTextureFilterMode between) {
  cudaTextureDesc description{};
  for (auto& mode : description.addressMode) mode = cudaAddressModeClamp;
  description.filterMode = cudaFilterModePoint;
  description.mipmapFilterMode = between;
  description.maxMipmapLevelClamp = 10;
  description.readMode = cudaReadModeElementType;
  description.normalizedCoords = 1;
  return description;
}

cudaTextureObject_t textureOf(cudaMipmappedArray_t levels, const cudaTextureDesc& description,
                              const cudaResourceViewDesc* view = nullptr) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = levels;
  cudaTextureObject_t texture = 0;
  EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &description, view));
  return texture;
}

void choosesLevels() {
  cudaMipmappedArray_t levels = numbered(5);
  const cudaTextureObject_t nearest = textureOf(levels, reading(cudaFilterModePoint));
  byLevel<<<1, 12>>>(nearest, results);
  EXPECT_OK(cudaDeviceSynchronize());
  const float rounded[12] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 4};
  for (int k = 0; k < 12; ++k) EXPECT(results[k] == rounded[k]);
  const cudaTextureObject_t blended = textureOf(levels, reading(cudaFilterModeLinear));
  byLevel<<<1, 12>>>(blended, results);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int k = 0; k < 12; ++k) EXPECT(results[k] == (k < 8 ? 0.5f * float(k) : 4));
  byGradient<<<1, 6>>>(blended, results);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int k = 0; k < 6; ++k) EXPECT(results[k] == (k < 4 ? float(k) : 4));
  plain<<<1, 1>>>(blended, results);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(results[0] == 0);
  EXPECT_OK(cudaDestroyTextureObject(nearest));
  EXPECT_OK(cudaDestroyTextureObject(blended));
  EXPECT_OK(cudaFreeMipmappedArray(levels));
}

void clampsAndShifts() {
  cudaMipmappedArray_t levels = numbered(5);
  cudaTextureDesc description = reading(cudaFilterModeLinear);
  description.mipmapLevelBias = 0.25f;
  description.minMipmapLevelClamp = 1.5f;
  description.maxMipmapLevelClamp = 2.75f;
  const cudaTextureObject_t texture = textureOf(levels, description);
  byLevel<<<1, 8>>>(texture, results);
  EXPECT_OK(cudaDeviceSynchronize());
  const float expected[8] = {1.5f, 1.5f, 1.5f, 1.75f, 2.25f, 2.75f, 2.75f, 2.75f};
  for (int k = 0; k < 8; ++k) EXPECT(results[k] == expected[k]);
  plain<<<1, 1>>>(texture, results);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(results[0] == 1.5f);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  // A view of levels 2 and 3.
  cudaResourceViewDesc view{};
  view.format = cudaResViewFormatFloat1;
  view.width = view.height = 4;
  view.firstMipmapLevel = 2;
  view.lastMipmapLevel = 3;
  const cudaTextureObject_t part = textureOf(levels, reading(cudaFilterModePoint), &view);
  byLevel<<<1, 4>>>(part, results);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(results[0] == 2 && results[3] == 3);
  EXPECT_OK(cudaDestroyTextureObject(part));
  EXPECT_OK(cudaFreeMipmappedArray(levels));
}

void writesALevel() {
  cudaMipmappedArray_t levels = numbered(3);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  EXPECT_OK(cudaGetMipmappedArrayLevel(&resource.res.array.array, levels, 2));
  cudaSurfaceObject_t surface = 0;
  EXPECT_OK(cudaCreateSurfaceObject(&surface, &resource));
  draw<<<1, 4>>>(surface);
  EXPECT_OK(cudaDeviceSynchronize());
  float row[4] = {};
  EXPECT_OK(cudaMemcpy2DFromArray(row, 16, resource.res.array.array, 0, 0, 16, 1, cudaMemcpyDeviceToHost));
  for (float texel : row) EXPECT(texel == 7);
  EXPECT_OK(cudaDestroySurfaceObject(surface));
  EXPECT_OK(cudaFreeMipmappedArray(levels));
}

void refuses() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaMipmappedArray_t levels = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaMallocMipmappedArray(&levels, &format, make_cudaExtent(0, 0, 0), 2));
  EXPECT_OK(cudaMallocMipmappedArray(&levels, &format, make_cudaExtent(16, 16, 0), 2));
  cudaArray_t level = nullptr;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaGetMipmappedArrayLevel(&level, levels, 2));
  EXPECT_OK(cudaFreeMipmappedArray(levels));
}

void viewsOfLayers() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  EXPECT_OK(cudaMalloc3DArray(&resource.res.array.array, &format, make_cudaExtent(2, 2, 4), cudaArrayLayered));
  std::vector<float> texels(16);
  for (int k = 0; k < 16; ++k) texels[std::size_t(k)] = float(k / 4);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(texels.data(), 8, 2, 2);
  copy.dstArray = resource.res.array.array;
  copy.extent = make_cudaExtent(2, 2, 4);
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_OK(cudaMemcpy3D(&copy));
  cudaResourceViewDesc view{};
  view.format = cudaResViewFormatFloat1;
  view.width = view.height = 2;
  view.firstLayer = 2;
  view.lastLayer = 3;
  cudaTextureDesc description = reading(cudaFilterModePoint);
  description.normalizedCoords = 0;
  cudaTextureObject_t texture = 0;
  EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &description, &view));
  layer<<<1, 1>>>(texture, results);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(results[0] == 2);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFreeArray(resource.res.array.array));
}

void sharesArraysWithTheDriver() {
  CUarray array = nullptr;
  const CUDA_ARRAY_DESCRIPTOR shape = {8, 4, CU_AD_FORMAT_FLOAT, 1};
  EXPECT(cuArrayCreate(&array, &shape) == CUDA_SUCCESS);
  float texels[32];
  for (int k = 0; k < 32; ++k) texels[k] = float(k);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = texels;
  copy.srcPitch = 32;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 32;
  copy.Height = 4;
  EXPECT(cuMemcpy2D(&copy) == CUDA_SUCCESS);
  copy.Height = 5;
  EXPECT(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC description{};
  for (auto& mode : description.addressMode) mode = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject texture = 0;
  EXPECT(cuTexObjectCreate(&texture, &resource, &description, nullptr) == CUDA_SUCCESS);
  alongRow<<<1, 8>>>(texture, results);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int k = 0; k < 8; ++k) EXPECT(results[k] == float(8 + k));
  CUDA_RESOURCE_DESC asked{};
  EXPECT(cuTexObjectGetResourceDesc(&asked, texture) == CUDA_SUCCESS);
  EXPECT(asked.res.array.hArray == array);
  cudaChannelFormatDesc format{};
  EXPECT_OK(cudaGetChannelDesc(&format, reinterpret_cast<cudaArray_t>(array)));
  EXPECT(format.x == 32 && format.y == 0 && format.f == cudaChannelFormatKindFloat);
  EXPECT(cuTexObjectDestroy(texture) == CUDA_SUCCESS);
  EXPECT(cuArrayDestroy(array) == CUDA_SUCCESS);
}

void copiesRuns() {
  CUarray array = nullptr;
  const CUDA_ARRAY_DESCRIPTOR shape = {100, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  EXPECT(cuArrayCreate(&array, &shape) == CUDA_SUCCESS);
  unsigned char bytes[100], back[100] = {};
  for (int k = 0; k < 100; ++k) bytes[k] = static_cast<unsigned char>(k);
  EXPECT(cuMemcpyHtoA(array, 0, bytes, 100) == CUDA_SUCCESS);
  EXPECT(cuMemcpyAtoH(back, array, 10, 90) == CUDA_SUCCESS);
  EXPECT(back[0] == 10 && back[89] == 99 && back[90] == 0);
  EXPECT(cuMemcpyAtoH(back, array, 11, 90) == CUDA_ERROR_INVALID_VALUE);
  CUDA_ARRAY_DESCRIPTOR asked{};
  EXPECT(cuArrayGetDescriptor(&asked, array) == CUDA_SUCCESS);
  EXPECT(asked.Width == 100 && asked.Height == 0 && asked.Format == CU_AD_FORMAT_UNSIGNED_INT8);
  EXPECT(cuArrayDestroy(array) == CUDA_SUCCESS);
}

}  // namespace

int main() {
  EXPECT_OK(cudaMallocManaged(&results, 64 * sizeof(float)));
  choosesLevels();
  clampsAndShifts();
  writesALevel();
  refuses();
  viewsOfLayers();
  sharesArraysWithTheDriver();
  copiesRuns();
  return finish();
}
