// NPP as programs use it: a kernel's image is smoothed in a stream, counted, and equalised by a table that comes from
// the histogram.
#include <npp.h>

#include <vector>

#include "expect.hpp"

constexpr int kWidth = 200, kHeight = 100;

/// Grey from 64 to 127: half of what a pixel can be.
__global__ void draw(Npp8u* image, int step) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < kWidth) image[y * step + x] = 64 + (x + y) % 64;
}

int main() {
  const NppLibraryVersion* version = nppGetLibVersion();
  EXPECT(version->major == NPP_VERSION_MAJOR);
  NppStreamContext context;
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT(nppSetStream(stream) == NPP_SUCCESS);
  EXPECT(nppGetStreamContext(&context) == NPP_SUCCESS && context.hStream == stream);

  const NppiSize size{kWidth, kHeight};
  int step = 0, smoothStep = 0;
  Npp8u* image = nppiMalloc_8u_C1(kWidth, kHeight, &step);
  Npp8u* smooth = nppiMalloc_8u_C1(kWidth, kHeight, &smoothStep);
  draw<<<dim3(2, kHeight), 128, 0, stream>>>(image, step);
  EXPECT(nppiFilterBoxBorder_8u_C1R_Ctx(image, step, size, {0, 0}, smooth, smoothStep, size, {1, 1}, {0, 0},
                                        NPP_BORDER_REPLICATE, context) == NPP_SUCCESS);

  const int bins = 256, levels = bins + 1;
  std::vector<Npp32s> edges(levels), histogram(bins), table(levels);
  size_t bytes = 0;
  EXPECT(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx(size, levels, &bytes, context) == NPP_SUCCESS);
  EXPECT(nppiEvenLevelsHost_32s(edges.data(), levels, 0, bins) == NPP_SUCCESS);
  Npp8u* buffer = nppsMalloc_8u(static_cast<int>(bytes));
  Npp32s *counts = nppsMalloc_32s(bins), *values = nppsMalloc_32s(levels), *steps = nppsMalloc_32s(levels);
  EXPECT(nppiHistogramEven_8u_C1R_Ctx(smooth, smoothStep, size, counts, levels, 0, bins, buffer, context) ==
         NPP_SUCCESS);
  EXPECT_OK(cudaMemcpyAsync(histogram.data(), counts, bins * sizeof(Npp32s), cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  int total = 0;
  for (int i = 0; i < bins; ++i) {
    table[i] = static_cast<int>(255.0 * total / (kWidth * kHeight));
    total += histogram[i];
    EXPECT((histogram[i] > 0) == (i >= 64 && i < 128));
  }
  EXPECT(total == kWidth * kHeight);
  table[bins] = 255;
  EXPECT_OK(cudaMemcpy(values, table.data(), levels * sizeof(Npp32s), cudaMemcpyHostToDevice));
  EXPECT_OK(cudaMemcpy(steps, edges.data(), levels * sizeof(Npp32s), cudaMemcpyHostToDevice));
  EXPECT(nppiLUT_Linear_8u_C1R_Ctx(smooth, smoothStep, image, step, size, values, steps, levels, context) ==
         NPP_SUCCESS);
  std::vector<Npp8u> result(kWidth * kHeight);
  EXPECT_OK(cudaMemcpy2DAsync(result.data(), kWidth, image, step, kWidth, kHeight, cudaMemcpyDeviceToHost, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  int low = 255, high = 0;
  for (Npp8u value : result) low = value < low ? value : low, high = value > high ? value : high;
  EXPECT(low == 0 && high > 245);
  nppiFree(image);
  nppsFree(counts);
  return finish();
}
