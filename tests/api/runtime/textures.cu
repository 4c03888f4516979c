// Texture and surface objects: what the programming guide says about addressing, filtering and reading, on images small
// enough to follow by hand.
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "expect.hpp"

namespace {

constexpr int kMost = 64;
float* results = nullptr;  // managed

__global__ void fetch(float* to, cudaTextureObject_t texture, const int* at, unsigned count) {
  if (threadIdx.x < count) to[threadIdx.x] = tex1Dfetch<float>(texture, at[threadIdx.x]);
}

__global__ void plane(float* to, cudaTextureObject_t texture, const float2* at, unsigned count) {
  if (threadIdx.x < count) to[threadIdx.x] = tex2D<float>(texture, at[threadIdx.x].x, at[threadIdx.x].y);
}

__global__ void colours(float4* to, uchar4* raw, cudaTextureObject_t fractions, cudaTextureObject_t bytes) {
  to[threadIdx.x] = tex2D<float4>(fractions, threadIdx.x + 0.5f, 0.5f);
  raw[threadIdx.x] = tex2D<uchar4>(bytes, threadIdx.x + 0.5f, 0.5f);
}

/// What the instruction says of texels without memory: there are none. Whoever does not fetch keeps his 5.
__global__ void residency(unsigned* to, cudaTextureObject_t texture) {
  float texel[4] = {};
  unsigned resident = 5;
  if (threadIdx.x != 3)
    asm volatile(
        "{\n.reg .pred p;\nsetp.ne.u32 p, 0, 0;\n"
        "tex.2d.v4.f32.f32 {%0, %1, %2, %3}|p, [%5, {%6, %6}];\nselp.u32 %4, 1, 0, p;\n}"
        : "=f"(texel[0]), "=f"(texel[1]), "=f"(texel[2]), "=f"(texel[3]), "=r"(resident)
        : "l"(texture), "f"(0.5f));
  to[threadIdx.x] = resident;
}

__global__ void volume(float* to, cudaTextureObject_t texture) {
  to[0] = tex3D<float>(texture, 1.0f, 1.0f, 1.0f);
  to[1] = tex3D<float>(texture, 0.5f, 1.5f, 1.75f);
}

__global__ void layers(float* to, cudaTextureObject_t texture) {
  to[0] = tex2DLayered<float>(texture, 0.5f, 1.5f, 2);
  to[1] = tex2DLayered<float>(texture, 1.0f, 0.5f, 1);
  to[2] = tex2DLayered<float>(texture, 0.5f, 0.5f, 9);
}

__global__ void faces(float* to, cudaTextureObject_t texture) {
  const float directions[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  for (int f = 0; f < 6; ++f) {
    const float* d = directions[f];
    // A little to one side, so that no two texels are equally near.
    to[f] =
        texCubemap<float>(texture, d[0] + 0.25f * (d[0] == 0), d[1] + 0.25f * (d[1] == 0), d[2] + 0.25f * (d[2] == 0));
  }
}

__global__ void four(float4* to, cudaTextureObject_t texture) { *to = tex2Dgather<float4>(texture, 1.0f, 1.0f, 0); }

__global__ void draw(cudaSurfaceObject_t surface, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  surf2Dwrite(make_float2(x, y), surface, x * int(sizeof(float2)), y);
}

__global__ void look(float* to, cudaSurfaceObject_t surface) {
  to[0] = surf2Dread<float2>(surface, 2 * 8, 1).x;
  to[1] = surf2Dread<float2>(surface, -8, 1, cudaBoundaryModeZero).y;
  to[2] = surf2Dread<float2>(surface, 100 * 8, 100, cudaBoundaryModeClamp).x;
  to[3] = surf2Dread<float>(surface, 2 * 8 + 4, 1);
  surf2Dwrite(9.0f, surface, 0, -1, cudaBoundaryModeZero);
}

cudaArray_t image(const cudaChannelFormatDesc& format, const void* texels, size_t bytes, cudaExtent extent,
                  unsigned flags = 0) {
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMalloc3DArray(&array, &format, extent, flags));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<void*>(texels), extent.width * bytes, extent.width,
                                    extent.height ? extent.height : 1);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(extent.width, extent.height ? extent.height : 1, extent.depth ? extent.depth : 1);
  copy.kind = cudaMemcpyHostToDevice;
  EXPECT_OK(cudaMemcpy3D(&copy));
  return array;
}

cudaTextureObject_t textureOf(cudaArray_t array, cudaTextureAddressMode address, cudaTextureFilterMode filter,
                              cudaTextureReadMode read, bool normalised) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture = {};
  for (auto& mode : texture.addressMode) mode = address;
  texture.filterMode = filter;
  texture.readMode = read;
  texture.normalizedCoords = normalised;
  cudaTextureObject_t object = 0;
  EXPECT_OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  return object;
}

void expectFetched(cudaTextureObject_t texture, const float2* at, const float* wanted, int count, const char* what) {
  float2* places = nullptr;
  EXPECT_OK(cudaMallocManaged(&places, count * sizeof(float2)));
  std::memcpy(places, at, count * sizeof(float2));
  plane<<<1, kMost>>>(results, texture, places, count);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int i = 0; i < count; ++i) {
    if (results[i] == wanted[i]) continue;
    std::printf("%s: (%g, %g) gives %g, not %g\n", what, at[i].x, at[i].y, results[i], wanted[i]);
    EXPECT(false);
  }
  EXPECT_OK(cudaFree(places));
}

cudaTextureObject_t linearTexture(float* memory, size_t texels) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = texels * sizeof(float);
  cudaTextureDesc description = {};
  cudaTextureObject_t texture = 0;
  EXPECT_OK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

/// Memory as a texture of texel numbers: beyond it there are zeros.
void linearMemory() {
  float* memory = nullptr;
  int* at = nullptr;
  EXPECT_OK(cudaMallocManaged(&memory, 8 * sizeof(float)));
  EXPECT_OK(cudaMallocManaged(&at, 4 * sizeof(int)));
  for (int i = 0; i < 8; ++i) memory[i] = 10.0f + i;
  const int places[] = {0, 7, 8, -1};
  std::memcpy(at, places, sizeof places);
  cudaTextureObject_t texture = linearTexture(memory, 8);
  fetch<<<1, kMost>>>(results, texture, at, 4);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(results[0] == 10 && results[1] == 17 && results[2] == 0 && results[3] == 0);
  cudaResourceDesc asked = {};
  EXPECT_OK(cudaGetTextureObjectResourceDesc(&asked, texture));
  EXPECT(asked.resType == cudaResourceTypeLinear && asked.res.linear.devPtr == memory);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFree(memory));
  EXPECT_OK(cudaFree(at));
}

/// Programs destroy a texture right after the launch that reads it.
void destroyedInFlight() {
  float* memory = nullptr;
  int* at = nullptr;
  EXPECT_OK(cudaMallocManaged(&memory, 4 * sizeof(float)));
  EXPECT_OK(cudaMallocManaged(&at, sizeof(int)));
  memory[2] = 5, *at = 2;
  cudaTextureObject_t texture = linearTexture(memory, 4);
  EXPECT_OK(cudaLaunchHostFunc(nullptr, [](void*) { usleep(50000); }, nullptr));
  fetch<<<1, kMost>>>(results, texture, at, 1);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(results[0] == 5);
  EXPECT_OK(cudaFree(memory));
  EXPECT_OK(cudaFree(at));
}

/// Texel (x, y) of 4 by 3 is x + 10 y.
void planes() {
  float texels[12];
  for (int i = 0; i < 12; ++i) texels[i] = i % 4 + 10.0f * (i / 4);
  cudaArray_t array = image(cudaCreateChannelDesc<float>(), texels, sizeof(float), make_cudaExtent(4, 3, 0));
  const auto element = cudaReadModeElementType;

  // Texels are squares with their value in the middle.
  const float2 inside[] = {{0.5f, 0.5f},  {1.0f, 1.0f},  {1.25f, 0.5f}, {3.5f, 2.5f},
                           {2.0f, 1.75f}, {-5.0f, 0.5f}, {10.0f, 2.5f}};
  const float blended[] = {0, 5.5f, 0.75f, 23, 14, 0, 23};
  auto texture = textureOf(array, cudaAddressModeClamp, cudaFilterModeLinear, element, false);
  expectFetched(texture, inside, blended, 7, "linear");
  EXPECT_OK(cudaDestroyTextureObject(texture));
  const float nearest[] = {0, 11, 1, 23, 12, 0, 23};
  texture = textureOf(array, cudaAddressModeClamp, cudaFilterModePoint, element, false);
  expectFetched(texture, inside, nearest, 7, "point");
  auto* resident = reinterpret_cast<unsigned*>(results);
  residency<<<1, 4>>>(resident, texture);
  EXPECT_OK(cudaDeviceSynchronize());
  for (int lane = 0; lane < 4; ++lane) EXPECT(resident[lane] == (lane == 3 ? 5 : 1));
  EXPECT_OK(cudaDestroyTextureObject(texture));

  const float2 outside[] = {{-0.125f, 0.5f}, {1.125f, 0.5f}, {2.125f, 0.5f}, {0.375f, -0.25f}, {0.375f, 1.75f}};
  const float wrapped[] = {13, 10, 10, 21, 21}, mirrored[] = {10, 13, 10, 1, 1}, bordered[] = {0, 0, 0, 0, 0};
  texture = textureOf(array, cudaAddressModeWrap, cudaFilterModePoint, element, true);
  expectFetched(texture, outside, wrapped, 5, "wrap");
  EXPECT_OK(cudaDestroyTextureObject(texture));
  texture = textureOf(array, cudaAddressModeMirror, cudaFilterModePoint, element, true);
  expectFetched(texture, outside, mirrored, 5, "mirror");
  EXPECT_OK(cudaDestroyTextureObject(texture));
  texture = textureOf(array, cudaAddressModeBorder, cudaFilterModePoint, element, true);
  expectFetched(texture, outside, bordered, 5, "border");
  EXPECT_OK(cudaDestroyTextureObject(texture));
  // Half way between the last and the first texel of a row.
  const float2 seam[] = {{0.0f, 0.5f}, {1.0f, 0.5f}};
  const float across[] = {11.5f, 11.5f};
  texture = textureOf(array, cudaAddressModeWrap, cudaFilterModeLinear, element, true);
  expectFetched(texture, seam, across, 2, "seam");
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFreeArray(array));
}

void bytesAsNumbers() {
  const uchar4 texels[2] = {{0, 51, 255, 128}, {255, 1, 2, 3}};
  cudaArray_t array = image(cudaCreateChannelDesc<uchar4>(), texels, sizeof(uchar4), make_cudaExtent(2, 1, 0));
  auto fractions = textureOf(array, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeNormalizedFloat, false);
  auto bytes = textureOf(array, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
  float4* numbers = nullptr;
  uchar4* raw = nullptr;
  EXPECT_OK(cudaMallocManaged(&numbers, 2 * sizeof(float4)));
  EXPECT_OK(cudaMallocManaged(&raw, 2 * sizeof(uchar4)));
  colours<<<1, 2>>>(numbers, raw, fractions, bytes);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(numbers[0].x == 0 && numbers[0].y == 0.2f && numbers[0].z == 1 &&
         std::fabs(numbers[0].w - 128 / 255.0f) < 1e-7f);
  EXPECT(std::memcmp(raw, texels, sizeof texels) == 0);
  EXPECT_OK(cudaDestroyTextureObject(fractions));
  EXPECT_OK(cudaDestroyTextureObject(bytes));
  EXPECT_OK(cudaFree(numbers));
  EXPECT_OK(cudaFree(raw));
  EXPECT_OK(cudaFreeArray(array));
}

void otherShapes() {
  float texels[24];
  for (int i = 0; i < 24; ++i) texels[i] = float(i);
  // 2 by 2 by 2: the middle is the mean of 0 … 7.
  cudaArray_t array = image(cudaCreateChannelDesc<float>(), texels, sizeof(float), make_cudaExtent(2, 2, 2));
  auto texture = textureOf(array, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, false);
  volume<<<1, 1>>>(results, texture);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(results[0] == 3.5f && results[1] == 6);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFreeArray(array));

  array = image(cudaCreateChannelDesc<float>(), texels, sizeof(float), make_cudaExtent(2, 2, 3), cudaArrayLayered);
  texture = textureOf(array, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, false);
  layers<<<1, 1>>>(results, texture);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(results[0] == 10 && results[1] == 4.5f && results[2] == 8);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFreeArray(array));

  // Face f has 4 f … 4 f + 3. On face +x, s is -z and t is -y, so a little of +y and +z is the upper left texel.
  array = image(cudaCreateChannelDesc<float>(), texels, sizeof(float), make_cudaExtent(2, 2, 6), cudaArrayCubemap);
  texture = textureOf(array, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, true);
  faces<<<1, 1>>>(results, texture);
  EXPECT_OK(cudaDeviceSynchronize());
  const float seen[] = {0, 5, 11, 13, 17, 20};
  for (int f = 0; f < 6; ++f) {
    if (results[f] != seen[f]) std::printf("face %d: %g, not %g\n", f, results[f], seen[f]);
    EXPECT(results[f] == seen[f]);
  }
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFreeArray(array));

  array =
      image(cudaCreateChannelDesc<float>(), texels, sizeof(float), make_cudaExtent(2, 2, 0), cudaArrayTextureGather);
  texture = textureOf(array, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
  four<<<1, 1>>>(reinterpret_cast<float4*>(results), texture);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(results[0] == 2 && results[1] == 3 && results[2] == 1 && results[3] == 0);
  EXPECT_OK(cudaDestroyTextureObject(texture));
  EXPECT_OK(cudaFreeArray(array));
}

void surfaces() {
  constexpr int kWidth = 37, kHeight = 5;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  EXPECT_OK(cudaCreateSurfaceObject(&surface, &resource));
  draw<<<dim3(3, 1), dim3(16, 8)>>>(surface, kWidth, kHeight);
  look<<<1, 1>>>(results, surface);
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT(results[0] == 2 && results[1] == 0 && results[2] == kWidth - 1 && results[3] == 1);
  static float2 seen[kHeight][kWidth];
  EXPECT_OK(cudaMemcpy2DFromArray(seen, sizeof seen[0], array, 0, 0, sizeof seen[0], kHeight, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) wrong += seen[y][x].x != x || seen[y][x].y != y;
  EXPECT(wrong == 0);
  EXPECT_OK(cudaDestroySurfaceObject(surface));
  EXPECT_OK(cudaFreeArray(array));
}

void mistakes() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  EXPECT_OK(cudaMallocArray(&array, &format, 4, 4));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture = {};
  cudaTextureObject_t object = 0;
  EXPECT_ERROR(cudaErrorInvalidValue, cudaCreateTextureObject(nullptr, &resource, &texture, nullptr));
  // Integers have nothing between them.
  texture.filterMode = cudaFilterModeLinear;
  EXPECT_ERROR(cudaErrorInvalidFilterSetting, cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  EXPECT_OK(cudaFreeArray(array));
}

}  // namespace

int main() {
  EXPECT_OK(cudaMallocManaged(&results, kMost * sizeof(float)));
  linearMemory();
  destroyedInFlight();
  planes();
  bytesAsNumbers();
  otherShapes();
  surfaces();
  mistakes();
  EXPECT_OK(cudaFree(results));
  return finish();
}
