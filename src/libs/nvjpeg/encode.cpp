// nvJPEG: encoding. The image is the device's, so it is compressed in the stream; the file is there for who waits.
#include <cstring>

#include "libs/nvjpeg/objects.hpp"

using namespace ordito::libs;
using namespace ordito::libs::jpeg;

nvjpegStatus_t nvjpegEncoderStateCreate(nvjpegHandle_t handle, nvjpegEncoderState_t* state, cudaStream_t) {
  NVJPEG_CHECK(handle && state);
  *state = new nvjpegEncoderState;
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegEncoderStateCreateWithBackend(nvjpegHandle_t handle, nvjpegEncoderState_t* state,
                                                   nvjpegEncBackend_t backend, cudaStream_t stream) {
  NVJPEG_CHECK(backend >= NVJPEG_ENC_BACKEND_DEFAULT && backend <= NVJPEG_ENC_BACKEND_HARDWARE);
  if (backend == NVJPEG_ENC_BACKEND_HARDWARE) return NVJPEG_STATUS_ARCH_MISMATCH;
  return nvjpegEncoderStateCreate(handle, state, stream);
}
nvjpegStatus_t nvjpegGetHardwareEncoderInfo(nvjpegHandle_t handle, unsigned int* engines) {
  NVJPEG_CHECK(handle && engines);
  *engines = 0;
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegEncoderStateDestroy(nvjpegEncoderState_t state) {
  NVJPEG_CHECK(state);
  delete state;
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegEncoderParamsCreate(nvjpegHandle_t handle, nvjpegEncoderParams_t* params, cudaStream_t) {
  NVJPEG_CHECK(handle && params);
  *params = new nvjpegEncoderParams;
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegEncoderParamsDestroy(nvjpegEncoderParams_t params) {
  NVJPEG_CHECK(params);
  delete params;
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegEncoderParamsSetQuality(nvjpegEncoderParams_t params, const int quality, cudaStream_t) {
  NVJPEG_CHECK(params && quality >= 1 && quality <= 100);
  params->quality.quality = quality;
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegEncoderParamsSetEncoding(nvjpegEncoderParams_t params, nvjpegJpegEncoding_t encoding,
                                              cudaStream_t) {
  NVJPEG_CHECK(params);
  if (encoding != NVJPEG_ENCODING_BASELINE_DCT && encoding != NVJPEG_ENCODING_PROGRESSIVE_DCT_HUFFMAN)
    return NVJPEG_STATUS_INVALID_PARAMETER;
  params->quality.isProgressive = encoding == NVJPEG_ENCODING_PROGRESSIVE_DCT_HUFFMAN;
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegEncoderParamsSetOptimizedHuffman(nvjpegEncoderParams_t params, const int isOptimized,
                                                      cudaStream_t) {
  NVJPEG_CHECK(params);
  params->quality.isOptimized = isOptimized != 0;
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegEncoderParamsSetSamplingFactors(nvjpegEncoderParams_t params,
                                                     const nvjpegChromaSubsampling_t subsampling, cudaStream_t) {
  int x = 0, y = 0;
  NVJPEG_CHECK(params && samplingFactors(subsampling, x, y));
  params->quality.subsampling = subsampling;
  return NVJPEG_STATUS_SUCCESS;
}

nvjpegStatus_t nvjpegEncoderParamsCopyQuantizationTables(nvjpegEncoderParams_t params, nvjpegJpegStream_t stream,
                                                         cudaStream_t) {
  NVJPEG_CHECK(params && stream && !stream->file.empty());
  return readQuantization(stream->file, params->quality.tables);
}
nvjpegStatus_t nvjpegEncoderParamsCopyMetadata(nvjpegEncoderState_t state, nvjpegEncoderParams_t params,
                                               nvjpegJpegStream_t stream, cudaStream_t) {
  NVJPEG_CHECK(state && params && stream && !stream->file.empty());
  return readMetadata(stream->file, params->quality.metadata);
}

/// No file is larger: every coefficient with the longest code, and its tables.
nvjpegStatus_t nvjpegEncodeGetBufferSize(nvjpegHandle_t handle, const nvjpegEncoderParams_t params, int width,
                                         int height, size_t* bytes) {
  NVJPEG_CHECK(handle && params && width > 0 && height > 0 && bytes);
  const auto blocks = [](int size) { return static_cast<size_t>((size + 31) / 32) * 32; };
  *bytes = blocks(width) * blocks(height) * 3 * 4 + 4096;
  return NVJPEG_STATUS_SUCCESS;
}

namespace {

/// Each encoding has a result of its own, which the state shows once the call is made.
template <class Encode>
nvjpegStatus_t submit(nvjpegEncoderState_t state, const char* name, cudaStream_t stream, const Encode& encode) {
  state->result = std::make_shared<nvjpegEncoderState::Result>();
  const CUresult result = enqueue(reinterpret_cast<CUstream>(stream), name,
                                  [encode, to = state->result] { to->status = encode(to->file); });
  return result == CUDA_SUCCESS ? NVJPEG_STATUS_SUCCESS : NVJPEG_STATUS_EXECUTION_FAILED;
}

/// Interleaved RGB of whichever order and layout.
Bytes pixelsOf(const nvjpegImage_t& from, nvjpegInputFormat_t format, int width, int height) {
  const bool isInterleaved = format == NVJPEG_INPUT_RGBI || format == NVJPEG_INPUT_BGRI;
  const bool isBlueFirst = format == NVJPEG_INPUT_BGR || format == NVJPEG_INPUT_BGRI;
  Bytes rgb;
  rgb.reserve(static_cast<size_t>(width) * static_cast<size_t>(height) * 3);
  for (size_t y = 0; y < static_cast<size_t>(height); ++y)
    for (size_t x = 0; x < static_cast<size_t>(width); ++x)
      for (size_t c = 0; c < 3; ++c) {
        const size_t channel = isBlueFirst ? 2 - c : c;
        rgb.push_back(isInterleaved ? from.channel[0][y * from.pitch[0] + x * 3 + channel]
                                    : from.channel[channel][y * from.pitch[channel] + x]);
      }
  return rgb;
}

std::vector<Plane> planesOf(const nvjpegImage_t& from, nvjpegChromaSubsampling_t subsampling, int width, int height) {
  int x = 1, y = 1;
  samplingFactors(subsampling, x, y);
  std::vector<Plane> planes(subsampling == NVJPEG_CSS_GRAY ? 1 : 3);
  for (size_t i = 0; i < planes.size(); ++i) {
    const int byX = i == 0 ? 1 : x, byY = i == 0 ? 1 : y;
    planes[i].rowBytes = static_cast<size_t>((width + byX - 1) / byX);
    planes[i].rows = static_cast<size_t>((height + byY - 1) / byY);
    planes[i].data.resize(planes[i].rowBytes * planes[i].rows);
    for (size_t row = 0; row < planes[i].rows; ++row)
      std::memcpy(planes[i].data.data() + row * planes[i].rowBytes, from.channel[i] + row * from.pitch[i],
                  planes[i].rowBytes);
  }
  return planes;
}

}  // namespace

nvjpegStatus_t nvjpegEncodeImage(nvjpegHandle_t handle, nvjpegEncoderState_t state, const nvjpegEncoderParams_t params,
                                 const nvjpegImage_t* from, nvjpegInputFormat_t format, int width, int height,
                                 cudaStream_t stream) {
  NVJPEG_CHECK(handle && state && params && from && width > 0 && height > 0);
  NVJPEG_CHECK(format >= NVJPEG_INPUT_RGB && format <= NVJPEG_INPUT_BGRI);
  const bool isInterleaved = format == NVJPEG_INPUT_RGBI || format == NVJPEG_INPUT_BGRI;
  for (int i = 0; i < (isInterleaved ? 1 : 3); ++i)
    NVJPEG_CHECK(from->channel[i] && from->pitch[i] >= static_cast<size_t>(width) * (isInterleaved ? 3 : 1));
  return submit(state, "nvjpegEncodeImage", stream, [=, image = *from, quality = params->quality](Bytes& file) {
    return encodePixels(pixelsOf(image, format, width, height), width, height, quality, file);
  });
}

/// The subsampling is that of planes of luma and chroma, which no input format has.
nvjpegStatus_t nvjpegEncode(nvjpegHandle_t handle, nvjpegEncoderState_t state, const nvjpegEncoderParams_t params,
                            const nvjpegImage_t* from, nvjpegChromaSubsampling_t, nvjpegInputFormat_t format, int width,
                            int height, cudaStream_t stream) {
  return nvjpegEncodeImage(handle, state, params, from, format, width, height, stream);
}

nvjpegStatus_t nvjpegEncodeYUV(nvjpegHandle_t handle, nvjpegEncoderState_t state, const nvjpegEncoderParams_t params,
                               const nvjpegImage_t* from, nvjpegChromaSubsampling_t subsampling, int width, int height,
                               cudaStream_t stream) {
  int x = 0, y = 0;
  NVJPEG_CHECK(handle && state && params && from && width > 0 && height > 0 && samplingFactors(subsampling, x, y));
  for (int i = 0; i < (subsampling == NVJPEG_CSS_GRAY ? 1 : 3); ++i)
    NVJPEG_CHECK(from->channel[i] && from->pitch[i] >= static_cast<size_t>(i == 0 ? width : (width + x - 1) / x));
  Quality quality = params->quality;
  quality.subsampling = subsampling;  // the planes are written as they are
  return submit(state, "nvjpegEncodeYUV", stream, [=, image = *from](Bytes& file) {
    return encodePlanes(planesOf(image, subsampling, width, height), width, height, quality, file);
  });
}

/// Without a place for the file only its length is told.
nvjpegStatus_t nvjpegEncodeRetrieveBitstream(nvjpegHandle_t handle, nvjpegEncoderState_t state, unsigned char* data,
                                             size_t* length, cudaStream_t stream) {
  NVJPEG_CHECK(handle && state && length);
  if (await(reinterpret_cast<CUstream>(stream)) != CUDA_SUCCESS) return NVJPEG_STATUS_EXECUTION_FAILED;
  const auto& result = *state->result;
  NVJPEG_TRY(result.status);
  NVJPEG_CHECK(!data || *length >= result.file.size());
  *length = result.file.size();
  if (data) std::memcpy(data, result.file.data(), result.file.size());
  return NVJPEG_STATUS_SUCCESS;
}

nvjpegStatus_t nvjpegEncodeRetrieveBitstreamDevice(nvjpegHandle_t handle, nvjpegEncoderState_t state,
                                                   unsigned char* data, size_t* length, cudaStream_t stream) {
  return nvjpegEncodeRetrieveBitstream(handle, state, data, length, stream);
}
