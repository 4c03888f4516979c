// nvJPEG: images of random sizes (1 and odd ones among them) and subsamplings are encoded, and decoded again in each
// format; smooth ones come back nearly as they were. What files say; bad files and arguments.
#include "nvjpeg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "libs/stream_task.hpp"

namespace ordito::libs::jpeg {
namespace {

constexpr auto kGood = NVJPEG_STATUS_SUCCESS;

int random(int low, int high) {
  static std::mt19937 g(3);
  return std::uniform_int_distribution<int>(low, high)(g);
}

nvjpegHandle_t handle() {
  static nvjpegHandle_t const h = [] {
    nvjpegHandle_t made = nullptr;
    EXPECT_EQ(nvjpegCreateSimple(&made), kGood);
    return made;
  }();
  return h;
}

/// Up to three planes of device memory, which is this process's, each ending where it is allowed to.
class Image {
 public:
  Image(int planes, int rowBytes, int rows) {
    for (int i = 0; i < planes; ++i) {
      image.pitch[i] = static_cast<size_t>(rowBytes) + static_cast<size_t>(random(0, 3));
      CUdeviceptr pointer = 0;
      EXPECT_TRUE(hasContext() && cuMemAlloc(&pointer, image.pitch[i] * static_cast<size_t>(rows)) == CUDA_SUCCESS);
      image.channel[i] = reinterpret_cast<unsigned char*>(pointer);
    }
  }
  ~Image() {
    for (unsigned char* channel : image.channel)
      if (channel) cuMemFree(reinterpret_cast<CUdeviceptr>(channel));
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  unsigned char& at(int plane, int x, int y) const {
    return image.channel[plane][static_cast<size_t>(y) * image.pitch[plane] + static_cast<size_t>(x)];
  }

  nvjpegImage_t image{};
};

/// A picture without edges: red to the right, green downwards, blue in between.
int colour(int channel, int x, int y) { return channel == 0 ? 60 + x : channel == 1 ? 90 + y : 100 + (x + y) / 2; }

class Encoded {
 public:
  Encoded(int width, int height, nvjpegChromaSubsampling_t subsampling, bool isInterleaved = true,
          bool isProgressive = false) {
    const Image from(isInterleaved ? 1 : 3, isInterleaved ? 3 * width : width, height);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 3; ++c)
          (isInterleaved ? from.at(0, 3 * x + c, y) : from.at(c, x, y)) = static_cast<unsigned char>(colour(c, x, y));
    nvjpegEncoderState_t state = nullptr;
    nvjpegEncoderParams_t params = nullptr;
    const bool isNamed = random(0, 1) == 1;  // by the calls that name a backend, and an input's subsampling
    EXPECT_EQ(isNamed ? nvjpegEncoderStateCreateWithBackend(handle(), &state, NVJPEG_ENC_BACKEND_GPU, nullptr)
                      : nvjpegEncoderStateCreate(handle(), &state, nullptr),
              kGood);
    EXPECT_EQ(nvjpegEncoderParamsCreate(handle(), &params, nullptr), kGood);
    EXPECT_EQ(nvjpegEncoderParamsSetQuality(params, 98, nullptr), kGood);
    EXPECT_EQ(nvjpegEncoderParamsSetSamplingFactors(params, subsampling, nullptr), kGood);
    EXPECT_EQ(nvjpegEncoderParamsSetOptimizedHuffman(params, random(0, 1), nullptr), kGood);
    if (isProgressive)
      EXPECT_EQ(nvjpegEncoderParamsSetEncoding(params, NVJPEG_ENCODING_PROGRESSIVE_DCT_HUFFMAN, nullptr), kGood);
    const auto format = isInterleaved ? NVJPEG_INPUT_RGBI : NVJPEG_INPUT_RGB;
    EXPECT_EQ(
        isNamed ? nvjpegEncode(handle(), state, params, &from.image, NVJPEG_CSS_UNKNOWN, format, width, height, nullptr)
                : nvjpegEncodeImage(handle(), state, params, &from.image, format, width, height, nullptr),
        kGood);
    size_t length = 0, most = 0;
    EXPECT_EQ(nvjpegEncodeGetBufferSize(handle(), params, width, height, &most), kGood);
    EXPECT_EQ(nvjpegEncodeRetrieveBitstream(handle(), state, nullptr, &length, nullptr), kGood);
    EXPECT_LE(length, most);
    file.resize(length);
    EXPECT_EQ(nvjpegEncodeRetrieveBitstream(handle(), state, file.data(), &length, nullptr), kGood);
    EXPECT_EQ(nvjpegEncoderParamsDestroy(params), kGood);
    EXPECT_EQ(nvjpegEncoderStateDestroy(state), kGood);
  }

  std::vector<unsigned char> file;
};

struct Decoder {
  nvjpegJpegState_t state = nullptr;
  Decoder() { EXPECT_EQ(nvjpegJpegStateCreate(handle(), &state), kGood); }
  ~Decoder() { nvjpegJpegStateDestroy(state); }
};

/// Nearly what was drawn. `from` gives channel, x and y of the result.
void expectPicture(int width, int height, const std::function<int(int, int, int)>& from) {
  ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < 3; ++c) ASSERT_NEAR(from(c, x, y), colour(c, x, y), 6) << c << ' ' << x << ' ' << y;
}

constexpr nvjpegChromaSubsampling_t kKinds[] = {NVJPEG_CSS_444, NVJPEG_CSS_422, NVJPEG_CSS_420, NVJPEG_CSS_440,
                                                NVJPEG_CSS_411};
constexpr int kFactors[][2] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};

TEST(Nvjpeg, ThereAndBack) {
  for (int round = 0; round < 20; ++round) {
    const int width = round == 0 ? 1 : random(1, 70), height = round < 2 ? 1 : random(1, 60), kind = round % 5;
    const bool isProgressive = round % 3 == 1;
    const Encoded encoded(width, height, kKinds[kind], round % 2 == 0, isProgressive);
    const auto& file = encoded.file;
    int components = 0, widths[NVJPEG_MAX_COMPONENT], heights[NVJPEG_MAX_COMPONENT];
    nvjpegChromaSubsampling_t subsampling{};
    ASSERT_EQ(nvjpegGetImageInfo(handle(), file.data(), file.size(), &components, &subsampling, widths, heights),
              kGood);
    EXPECT_EQ(components, 3);
    EXPECT_EQ(subsampling, kKinds[kind]);
    EXPECT_EQ(widths[0], width);
    EXPECT_EQ(heights[0], height);
    EXPECT_EQ(widths[1], (width + kFactors[kind][0] - 1) / kFactors[kind][0]);
    EXPECT_EQ(heights[1], (height + kFactors[kind][1] - 1) / kFactors[kind][1]);
    EXPECT_EQ(widths[3], 0);

    const Decoder decoder;
    const Image rgb(3, width, height), bgri(1, 3 * width, height), yuv(3, width, height), luma(1, width, height);
    const auto decode = [&](nvjpegOutputFormat_t format, const Image& to) {
      nvjpegImage_t image = to.image;
      return nvjpegDecode(handle(), decoder.state, file.data(), file.size(), format, &image, nullptr);
    };
    ASSERT_EQ(decode(NVJPEG_OUTPUT_RGB, rgb), kGood);
    expectPicture(width, height, [&](int c, int x, int y) { return rgb.at(c, x, y); });
    ASSERT_EQ(decode(NVJPEG_OUTPUT_BGRI, bgri), kGood);
    expectPicture(width, height, [&](int c, int x, int y) { return bgri.at(0, 3 * x + 2 - c, y); });
    ASSERT_EQ(decode(NVJPEG_OUTPUT_YUV, yuv), kGood);
    ASSERT_EQ(decode(NVJPEG_OUTPUT_Y, luma), kGood);
    ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        ASSERT_EQ(yuv.at(0, x, y), luma.at(0, x, y));
        ASSERT_NEAR(luma.at(0, x, y), 0.299 * colour(0, x, y) + 0.587 * colour(1, x, y) + 0.114 * colour(2, x, y), 3);
      }

    // The planes as they are, encoded once more.
    nvjpegEncoderState_t state = nullptr;
    nvjpegEncoderParams_t params = nullptr;
    ASSERT_EQ(nvjpegEncoderStateCreate(handle(), &state, nullptr), kGood);
    ASSERT_EQ(nvjpegEncoderParamsCreate(handle(), &params, nullptr), kGood);
    ASSERT_EQ(nvjpegEncoderParamsSetQuality(params, 98, nullptr), kGood);
    ASSERT_EQ(nvjpegEncodeYUV(handle(), state, params, &yuv.image, kKinds[kind], width, height, nullptr), kGood);
    size_t length = 0;
    ASSERT_EQ(nvjpegEncodeRetrieveBitstream(handle(), state, nullptr, &length, nullptr), kGood);
    std::vector<unsigned char> again(length);
    ASSERT_EQ(nvjpegEncodeRetrieveBitstream(handle(), state, again.data(), &length, nullptr), kGood);
    nvjpegImage_t image = rgb.image;
    ASSERT_EQ(nvjpegDecode(handle(), decoder.state, again.data(), length, NVJPEG_OUTPUT_RGB, &image, nullptr), kGood);
    expectPicture(width, height, [&](int c, int x, int y) { return rgb.at(c, x, y); });
    nvjpegEncoderParamsDestroy(params);
    nvjpegEncoderStateDestroy(state);
  }
}

TEST(Nvjpeg, Batches) {
  const Encoded first(20, 10, NVJPEG_CSS_420), second(33, 17, NVJPEG_CSS_444);
  const unsigned char* files[] = {first.file.data(), second.file.data()};
  const size_t lengths[] = {first.file.size(), second.file.size()};
  const Image a(1, 60, 10), b(1, 99, 17);
  nvjpegImage_t images[] = {a.image, b.image};
  const Decoder decoder;
  EXPECT_EQ(nvjpegDecodeBatched(handle(), decoder.state, files, lengths, images, nullptr),
            NVJPEG_STATUS_INVALID_PARAMETER);
  ASSERT_EQ(nvjpegDecodeBatchedInitialize(handle(), decoder.state, 2, 1, NVJPEG_OUTPUT_RGBI), kGood);
  ASSERT_EQ(nvjpegDecodeBatched(handle(), decoder.state, files, lengths, images, nullptr), kGood);
  expectPicture(20, 10, [&](int c, int x, int y) { return a.at(0, 3 * x + c, y); });
  expectPicture(33, 17, [&](int c, int x, int y) { return b.at(0, 3 * x + c, y); });
}

TEST(Nvjpeg, StepsAndRegions) {
  const Encoded encoded(40, 30, NVJPEG_CSS_422, true, true);
  nvjpegJpegStream_t file = nullptr;
  nvjpegJpegDecoder_t kind = nullptr;
  nvjpegJpegState_t state = nullptr;
  nvjpegDecodeParams_t params = nullptr;
  nvjpegBufferPinned_t pinned = nullptr;
  nvjpegBufferDevice_t device = nullptr;
  ASSERT_EQ(nvjpegJpegStreamCreate(handle(), &file), kGood);
  ASSERT_EQ(nvjpegDecoderCreate(handle(), NVJPEG_BACKEND_DEFAULT, &kind), kGood);
  ASSERT_EQ(nvjpegDecoderStateCreate(handle(), kind, &state), kGood);
  ASSERT_EQ(nvjpegDecodeParamsCreate(handle(), &params), kGood);
  ASSERT_EQ(nvjpegBufferPinnedCreate(handle(), nullptr, &pinned), kGood);
  ASSERT_EQ(nvjpegBufferDeviceCreate(handle(), nullptr, &device), kGood);
  ASSERT_EQ(nvjpegStateAttachPinnedBuffer(state, pinned), kGood);
  ASSERT_EQ(nvjpegStateAttachDeviceBuffer(state, device), kGood);
  ASSERT_EQ(nvjpegJpegStreamParse(handle(), encoded.file.data(), encoded.file.size(), 0, 0, file), kGood);
  unsigned width = 0, height = 0;
  nvjpegJpegEncoding_t encoding{};
  ASSERT_EQ(nvjpegJpegStreamGetFrameDimensions(file, &width, &height), kGood);
  EXPECT_EQ(width, 40U);
  EXPECT_EQ(height, 30U);
  ASSERT_EQ(nvjpegJpegStreamGetJpegEncoding(file, &encoding), kGood);
  EXPECT_EQ(encoding, NVJPEG_ENCODING_PROGRESSIVE_DCT_HUFFMAN);
  ASSERT_EQ(nvjpegDecodeParamsSetOutputFormat(params, NVJPEG_OUTPUT_RGB), kGood);
  ASSERT_EQ(nvjpegDecodeParamsSetROI(params, 5, 7, 11, 9), kGood);
  const Image part(3, 11, 9);
  nvjpegImage_t image = part.image;
  ASSERT_EQ(nvjpegDecodeJpegHost(handle(), kind, state, params, file), kGood);
  ASSERT_EQ(nvjpegDecodeJpegTransferToDevice(handle(), kind, state, file, nullptr), kGood);
  ASSERT_EQ(nvjpegDecodeJpegDevice(handle(), kind, state, &image, nullptr), kGood);
  ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 11; ++x) ASSERT_NEAR(part.at(0, x, y), colour(0, x + 5, y + 7), 6);
  ASSERT_EQ(nvjpegDecodeParamsSetROI(params, 35, 0, 11, 9), kGood);
  EXPECT_EQ(nvjpegDecodeJpegHost(handle(), kind, state, params, file), NVJPEG_STATUS_INVALID_PARAMETER);
  nvjpegBufferPinnedDestroy(pinned);
  nvjpegBufferDeviceDestroy(device);
  nvjpegDecodeParamsDestroy(params);
  nvjpegJpegStateDestroy(state);
  nvjpegDecoderDestroy(kind);
  nvjpegJpegStreamDestroy(file);
}

/// A grey picture with noise, encoded with these parameters.
std::vector<unsigned char> noisy(nvjpegEncoderState_t state, nvjpegEncoderParams_t params) {
  const Image from(1, 3 * 32, 32);
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 96; ++x) from.at(0, x, y) = static_cast<unsigned char>((x * 37 + y * 91) % 256);
  EXPECT_EQ(nvjpegEncodeImage(handle(), state, params, &from.image, NVJPEG_INPUT_RGBI, 32, 32, nullptr), kGood);
  size_t length = 0;
  EXPECT_EQ(nvjpegEncodeRetrieveBitstream(handle(), state, nullptr, &length, nullptr), kGood);
  std::vector<unsigned char> file(length);
  EXPECT_EQ(nvjpegEncodeRetrieveBitstream(handle(), state, file.data(), &length, nullptr), kGood);
  return file;
}

TEST(Nvjpeg, CopiesFromAnotherFile) {
  nvjpegEncoderState_t state = nullptr;
  nvjpegEncoderParams_t params = nullptr;
  nvjpegJpegStream_t stream = nullptr;
  ASSERT_EQ(nvjpegEncoderStateCreate(handle(), &state, nullptr), kGood);
  ASSERT_EQ(nvjpegEncoderParamsCreate(handle(), &params, nullptr), kGood);
  ASSERT_EQ(nvjpegJpegStreamCreate(handle(), &stream), kGood);
  EXPECT_EQ(nvjpegEncoderParamsCopyQuantizationTables(params, stream, nullptr), NVJPEG_STATUS_INVALID_PARAMETER);
  ASSERT_EQ(nvjpegEncoderParamsSetQuality(params, 20, nullptr), kGood);
  const std::vector<unsigned char> coarse = noisy(state, params);
  ASSERT_EQ(nvjpegEncoderParamsSetQuality(params, 95, nullptr), kGood);
  EXPECT_GT(noisy(state, params).size(), coarse.size());
  std::vector<unsigned char> told = coarse;  // with a comment behind the beginning
  const std::vector<unsigned char> comment = {0xff, 0xfe, 0, 9, 'a', ' ', 'w', 'o', 'r', 'd', '!'};
  told.insert(told.begin() + 2, comment.begin(), comment.end());
  ASSERT_EQ(nvjpegJpegStreamParse(handle(), told.data(), told.size(), 1, 0, stream), kGood);
  ASSERT_EQ(nvjpegEncoderParamsCopyQuantizationTables(params, stream, nullptr), kGood);
  EXPECT_EQ(noisy(state, params), coarse);
  ASSERT_EQ(nvjpegEncoderParamsCopyMetadata(state, params, stream, nullptr), kGood);
  EXPECT_EQ(noisy(state, params), told);
  nvjpegJpegStreamDestroy(stream);
  nvjpegEncoderParamsDestroy(params);
  nvjpegEncoderStateDestroy(state);
}

TEST(Nvjpeg, BadFilesAndArguments) {
  const Encoded encoded(20, 10, NVJPEG_CSS_420);
  const std::vector<unsigned char> noise(100, 7);
  const Decoder decoder;
  const Image to(3, 20, 10);
  nvjpegImage_t image = to.image;
  const auto decode = [&](const std::vector<unsigned char>& file, size_t length) {
    return nvjpegDecode(handle(), decoder.state, file.data(), length, NVJPEG_OUTPUT_RGB, &image, nullptr);
  };
  EXPECT_EQ(decode(noise, noise.size()), NVJPEG_STATUS_BAD_JPEG);
  EXPECT_EQ(decode(encoded.file, 12), NVJPEG_STATUS_BAD_JPEG);
  EXPECT_EQ(decode(encoded.file, 0), NVJPEG_STATUS_INVALID_PARAMETER);
  image.pitch[1] = 19;
  EXPECT_EQ(decode(encoded.file, encoded.file.size()), NVJPEG_STATUS_INVALID_PARAMETER);
  nvjpegHandle_t none = nullptr;
  EXPECT_EQ(nvjpegCreate(NVJPEG_BACKEND_HARDWARE, nullptr, &none), NVJPEG_STATUS_ARCH_MISMATCH);
  EXPECT_EQ(nvjpegCreateSimple(nullptr), NVJPEG_STATUS_INVALID_PARAMETER);
  nvjpegEncoderState_t state = nullptr;
  size_t length = 0;
  unsigned engines = 1;
  EXPECT_EQ(nvjpegGetHardwareEncoderInfo(handle(), &engines), kGood);
  EXPECT_EQ(engines, 0U);
  EXPECT_EQ(nvjpegEncoderStateCreateWithBackend(handle(), &state, NVJPEG_ENC_BACKEND_HARDWARE, nullptr),
            NVJPEG_STATUS_ARCH_MISMATCH);
  ASSERT_EQ(nvjpegEncoderStateCreate(handle(), &state, nullptr), kGood);
  EXPECT_EQ(nvjpegEncodeRetrieveBitstream(handle(), state, nullptr, &length, nullptr), NVJPEG_STATUS_INVALID_PARAMETER);
  nvjpegEncoderStateDestroy(state);
}

}  // namespace
}  // namespace ordito::libs::jpeg
