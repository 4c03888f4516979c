// nvJPEG's objects. What a file says is read at the call, which answers for it; pixels move in the stream.
#pragma once

#include <memory>

#include "libs/nvjpeg/codec.hpp"
#include "libs/stream_task.hpp"

struct nvjpegHandle {
  size_t devicePadding = 0, pinnedPadding = 0;
};
struct nvjpegJpegState {
  int batch = 0;
  nvjpegOutputFormat_t format = NVJPEG_OUTPUT_UNCHANGED;
  std::shared_ptr<const std::vector<ordito::libs::jpeg::Plane>> decoded;  // by nvjpegDecodeJpegHost
};
struct nvjpegEncoderParams {
  ordito::libs::jpeg::Quality quality;
};
struct nvjpegEncoderState {
  struct Result {
    nvjpegStatus_t status = NVJPEG_STATUS_INVALID_PARAMETER;  // nothing was encoded
    ordito::libs::jpeg::Bytes file;
  };
  std::shared_ptr<Result> result = std::make_shared<Result>();
};
struct nvjpegBufferPinned {};
struct nvjpegBufferDevice {};
struct nvjpegJpegStream {
  ordito::libs::jpeg::Bytes file;
  ordito::libs::jpeg::Header header;
};
struct nvjpegDecodeParams {
  nvjpegOutputFormat_t format = NVJPEG_OUTPUT_UNCHANGED;
  ordito::libs::jpeg::Region region;
};
struct nvjpegJpegDecoder {};

#define NVJPEG_CHECK(condition) \
  if (!(condition)) return NVJPEG_STATUS_INVALID_PARAMETER
#define NVJPEG_TRY(call) \
  if (const nvjpegStatus_t bad_ = (call); bad_ != NVJPEG_STATUS_SUCCESS) return bad_
