// nvJPEG as programs use it: a kernel's image is compressed in a stream, decoded again, and compared by a kernel.
#include <nvjpeg.h>

#include <vector>

#include "expect.hpp"

constexpr int kWidth = 96, kHeight = 64;
#define EXPECT_JPEG(call) EXPECT((call) == NVJPEG_STATUS_SUCCESS)

__device__ int colour(int x, int y, int channel) { return channel == 0 ? 2 * x : channel == 1 ? 3 * y : x + y; }

__global__ void draw(unsigned char* image) {
  const int x = threadIdx.x, y = blockIdx.x;
  for (int c = 0; c < 3; ++c) image[(y * kWidth + x) * 3 + c] = colour(x, y, c);
}

__global__ void differences(const unsigned char* image, int* most) {
  const int x = threadIdx.x, y = blockIdx.x;
  for (int c = 0; c < 3; ++c) atomicMax(most, abs(image[(y * kWidth + x) * 3 + c] - colour(x, y, c)));
}

int main() {
  nvjpegHandle_t handle;
  nvjpegJpegState_t state;
  nvjpegEncoderState_t encoder;
  nvjpegEncoderParams_t params;
  cudaStream_t stream;
  EXPECT_OK(cudaStreamCreate(&stream));
  EXPECT_JPEG(nvjpegCreateSimple(&handle));
  EXPECT_JPEG(nvjpegJpegStateCreate(handle, &state));
  EXPECT_JPEG(nvjpegEncoderStateCreate(handle, &encoder, stream));
  EXPECT_JPEG(nvjpegEncoderParamsCreate(handle, &params, stream));
  EXPECT_JPEG(nvjpegEncoderParamsSetQuality(params, 95, stream));
  EXPECT_JPEG(nvjpegEncoderParamsSetSamplingFactors(params, NVJPEG_CSS_444, stream));

  nvjpegImage_t image = {};
  int* most = nullptr;
  image.pitch[0] = kWidth * 3;
  EXPECT_OK(cudaMalloc(&image.channel[0], kWidth * kHeight * 3));
  EXPECT_OK(cudaMallocManaged(&most, sizeof(int)));
  *most = 0;
  draw<<<kHeight, kWidth, 0, stream>>>(image.channel[0]);
  EXPECT_JPEG(nvjpegEncodeImage(handle, encoder, params, &image, NVJPEG_INPUT_RGBI, kWidth, kHeight, stream));
  size_t length = 0;
  EXPECT_JPEG(nvjpegEncodeRetrieveBitstream(handle, encoder, nullptr, &length, stream));
  std::vector<unsigned char> file(length);
  EXPECT_JPEG(nvjpegEncodeRetrieveBitstream(handle, encoder, file.data(), &length, stream));
  EXPECT(length > 100 && length < kWidth * kHeight * 3 / 2);

  int components = 0, widths[NVJPEG_MAX_COMPONENT], heights[NVJPEG_MAX_COMPONENT];
  nvjpegChromaSubsampling_t subsampling;
  EXPECT_JPEG(nvjpegGetImageInfo(handle, file.data(), length, &components, &subsampling, widths, heights));
  EXPECT(components == 3 && subsampling == NVJPEG_CSS_444 && widths[0] == kWidth && heights[0] == kHeight);
  EXPECT_OK(cudaMemsetAsync(image.channel[0], 0, kWidth * kHeight * 3, stream));
  EXPECT_JPEG(nvjpegDecode(handle, state, file.data(), length, NVJPEG_OUTPUT_RGBI, &image, stream));
  differences<<<kHeight, kWidth, 0, stream>>>(image.channel[0], most);
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT(*most < 12);
  EXPECT_JPEG(nvjpegJpegStateDestroy(state));
  EXPECT_JPEG(nvjpegDestroy(handle));
  return finish();
}
