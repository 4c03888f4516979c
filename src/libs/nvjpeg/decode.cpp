// nvJPEG: handles, what files say, decoding.
#include <cstring>

#include "libs/nvjpeg/objects.hpp"
#include "libs/version_part.hpp"

using namespace ordito::libs;
using namespace ordito::libs::jpeg;

namespace {

using Planes = std::shared_ptr<const std::vector<Plane>>;

/// The planes' rows into the program's image, in the stream's order.
nvjpegStatus_t write(const Planes& planes, const nvjpegImage_t& to, cudaStream_t stream) {
  for (size_t i = 0; i < planes->size(); ++i) NVJPEG_CHECK(to.channel[i] && to.pitch[i] >= (*planes)[i].rowBytes);
  const auto task = [planes, to] {
    for (size_t i = 0; i < planes->size(); ++i) {
      const Plane& plane = (*planes)[i];
      for (size_t y = 0; y < plane.rows; ++y)
        std::memcpy(to.channel[i] + y * to.pitch[i], plane.data.data() + y * plane.rowBytes, plane.rowBytes);
    }
  };
  const CUresult result = enqueue(reinterpret_cast<CUstream>(stream), "nvjpegDecode", task);
  return result == CUDA_SUCCESS ? NVJPEG_STATUS_SUCCESS : NVJPEG_STATUS_EXECUTION_FAILED;
}

bool isFormat(nvjpegOutputFormat_t format) {
  return format >= NVJPEG_OUTPUT_UNCHANGED && format <= NVJPEG_OUTPUT_FORMAT_MAX;
}

nvjpegStatus_t decoded(const unsigned char* data, size_t length, nvjpegOutputFormat_t format, Region region,
                       Planes& to) {
  NVJPEG_CHECK(data && length > 0 && isFormat(format));
  auto planes = std::make_shared<std::vector<Plane>>();
  NVJPEG_TRY(decode(data, length, format, region, *planes));
  to = std::move(planes);
  return NVJPEG_STATUS_SUCCESS;
}

template <class Object, class Pointer>
nvjpegStatus_t make(Pointer* to) {
  NVJPEG_CHECK(to);
  *to = new Object;
  return NVJPEG_STATUS_SUCCESS;
}

template <class Object>
nvjpegStatus_t destroy(Object* object) {
  NVJPEG_CHECK(object);
  delete object;
  return NVJPEG_STATUS_SUCCESS;
}

}  // namespace

nvjpegStatus_t nvjpegGetProperty(libraryPropertyType type, int* value) {
  const bool isTold = tellVersionPart(type, NVJPEG_VER_MAJOR, NVJPEG_VER_MINOR, NVJPEG_VER_PATCH, value);
  return isTold ? NVJPEG_STATUS_SUCCESS : NVJPEG_STATUS_INVALID_PARAMETER;
}
nvjpegStatus_t nvjpegGetCudartProperty(libraryPropertyType type, int* value) {
  return tellVersionPart(type, 12, 3, 0, value) ? NVJPEG_STATUS_SUCCESS : NVJPEG_STATUS_INVALID_PARAMETER;
}

// --- objects. Memory is the library's own: allocators and buffers are accepted and not needed.

nvjpegStatus_t nvjpegCreateSimple(nvjpegHandle_t* handle) {
  NVJPEG_CHECK(handle);
  if (!hasContext()) return NVJPEG_STATUS_NOT_INITIALIZED;
  return make<nvjpegHandle>(handle);
}
nvjpegStatus_t nvjpegCreate(nvjpegBackend_t backend, nvjpegDevAllocator_t*, nvjpegHandle_t* handle) {
  return nvjpegCreateEx(backend, nullptr, nullptr, NVJPEG_FLAGS_DEFAULT, handle);
}
/// There is no decoder in hardware, as on many GPUs; what asks for it is told so and may try another one.
nvjpegStatus_t nvjpegCreateEx(nvjpegBackend_t backend, nvjpegDevAllocator_t*, nvjpegPinnedAllocator_t*, unsigned int,
                              nvjpegHandle_t* handle) {
  NVJPEG_CHECK(handle && backend >= NVJPEG_BACKEND_DEFAULT && backend <= NVJPEG_BACKEND_LOSSLESS_JPEG);
  if (backend == NVJPEG_BACKEND_HARDWARE || backend == NVJPEG_BACKEND_HARDWARE_DEVICE)
    return NVJPEG_STATUS_ARCH_MISMATCH;
  if (backend == NVJPEG_BACKEND_LOSSLESS_JPEG) return NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED;
  return nvjpegCreateSimple(handle);
}
nvjpegStatus_t nvjpegDestroy(nvjpegHandle_t handle) { return destroy(handle); }

#define PADDING(kind, member)                                                             \
  nvjpegStatus_t nvjpegSet##kind##MemoryPadding(size_t padding, nvjpegHandle_t handle) {  \
    NVJPEG_CHECK(handle);                                                                 \
    handle->member = padding;                                                             \
    return NVJPEG_STATUS_SUCCESS;                                                         \
  }                                                                                       \
  nvjpegStatus_t nvjpegGet##kind##MemoryPadding(size_t* padding, nvjpegHandle_t handle) { \
    NVJPEG_CHECK(handle&& padding);                                                       \
    *padding = handle->member;                                                            \
    return NVJPEG_STATUS_SUCCESS;                                                         \
  }
PADDING(Device, devicePadding)
PADDING(Pinned, pinnedPadding)

nvjpegStatus_t nvjpegGetHardwareDecoderInfo(nvjpegHandle_t handle, unsigned int* engines, unsigned int* cores) {
  NVJPEG_CHECK(handle && engines && cores);
  *engines = *cores = 0;
  return NVJPEG_STATUS_SUCCESS;
}

#define CREATED_WITH(name, type, ...)                                       \
  nvjpegStatus_t nvjpeg##name##Create(nvjpegHandle_t handle, __VA_ARGS__) { \
    NVJPEG_CHECK(handle);                                                   \
    return make<type>(object);                                              \
  }
CREATED_WITH(JpegState, nvjpegJpegState, nvjpegJpegState_t* object)
CREATED_WITH(BufferPinned, nvjpegBufferPinned, nvjpegPinnedAllocator_t*, nvjpegBufferPinned_t* object)
CREATED_WITH(BufferDevice, nvjpegBufferDevice, nvjpegDevAllocator_t*, nvjpegBufferDevice_t* object)
CREATED_WITH(JpegStream, nvjpegJpegStream, nvjpegJpegStream_t* object)
CREATED_WITH(DecodeParams, nvjpegDecodeParams, nvjpegDecodeParams_t* object)
nvjpegStatus_t nvjpegJpegStateDestroy(nvjpegJpegState_t object) { return destroy(object); }
nvjpegStatus_t nvjpegBufferPinnedDestroy(nvjpegBufferPinned_t object) { return destroy(object); }
nvjpegStatus_t nvjpegBufferDeviceDestroy(nvjpegBufferDevice_t object) { return destroy(object); }
nvjpegStatus_t nvjpegJpegStreamDestroy(nvjpegJpegStream_t object) { return destroy(object); }
nvjpegStatus_t nvjpegDecodeParamsDestroy(nvjpegDecodeParams_t object) { return destroy(object); }
nvjpegStatus_t nvjpegDecoderDestroy(nvjpegJpegDecoder_t object) { return destroy(object); }

nvjpegStatus_t nvjpegDecoderCreate(nvjpegHandle_t handle, nvjpegBackend_t backend, nvjpegJpegDecoder_t* decoder) {
  NVJPEG_CHECK(handle && decoder);
  if (backend == NVJPEG_BACKEND_HARDWARE || backend == NVJPEG_BACKEND_HARDWARE_DEVICE)
    return NVJPEG_STATUS_ARCH_MISMATCH;
  return make<nvjpegJpegDecoder>(decoder);
}
nvjpegStatus_t nvjpegDecoderStateCreate(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder, nvjpegJpegState_t* state) {
  NVJPEG_CHECK(decoder);
  return nvjpegJpegStateCreate(handle, state);
}
nvjpegStatus_t nvjpegStateAttachPinnedBuffer(nvjpegJpegState_t state, nvjpegBufferPinned_t buffer) {
  NVJPEG_CHECK(state && buffer);
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegStateAttachDeviceBuffer(nvjpegJpegState_t state, nvjpegBufferDevice_t buffer) {
  NVJPEG_CHECK(state && buffer);
  return NVJPEG_STATUS_SUCCESS;
}

// --- what files say

nvjpegStatus_t nvjpegGetImageInfo(nvjpegHandle_t handle, const unsigned char* data, size_t length, int* components,
                                  nvjpegChromaSubsampling_t* subsampling, int* widths, int* heights) {
  NVJPEG_CHECK(handle && data && length > 0 && components && subsampling && widths && heights);
  Header header;
  NVJPEG_TRY(readHeader(data, length, header));
  *components = header.components;
  *subsampling = header.subsampling;
  std::memcpy(widths, header.componentWidth, sizeof header.componentWidth);
  std::memcpy(heights, header.componentHeight, sizeof header.componentHeight);
  return NVJPEG_STATUS_SUCCESS;
}

nvjpegStatus_t nvjpegJpegStreamParse(nvjpegHandle_t handle, const unsigned char* data, size_t length, int, int,
                                     nvjpegJpegStream_t stream) {
  NVJPEG_CHECK(handle && data && length > 0 && stream);
  NVJPEG_TRY(readHeader(data, length, stream->header));
  stream->file.assign(data, data + length);
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegJpegStreamParseHeader(nvjpegHandle_t handle, const unsigned char* data, size_t length,
                                           nvjpegJpegStream_t stream) {
  NVJPEG_CHECK(handle && data && length > 0 && stream);
  stream->file.clear();
  return readHeader(data, length, stream->header);
}

#define TOLD(name, type, value)                                                       \
  nvjpegStatus_t nvjpegJpegStreamGet##name(nvjpegJpegStream_t stream, type* result) { \
    NVJPEG_CHECK(stream&& result && stream->header.components > 0);                   \
    *result = static_cast<type>(stream->header.value);                                \
    return NVJPEG_STATUS_SUCCESS;                                                     \
  }
TOLD(JpegEncoding, nvjpegJpegEncoding_t, encoding)
TOLD(ComponentsNum, unsigned int, components)
TOLD(ChromaSubsampling, nvjpegChromaSubsampling_t, subsampling)

nvjpegStatus_t nvjpegJpegStreamGetFrameDimensions(nvjpegJpegStream_t stream, unsigned int* width,
                                                  unsigned int* height) {
  NVJPEG_CHECK(stream && width && height && stream->header.components > 0);
  *width = static_cast<unsigned>(stream->header.width);
  *height = static_cast<unsigned>(stream->header.height);
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegJpegStreamGetComponentDimensions(nvjpegJpegStream_t stream, unsigned int component,
                                                      unsigned int* width, unsigned int* height) {
  NVJPEG_CHECK(stream && width && height && component < static_cast<unsigned>(stream->header.components));
  *width = static_cast<unsigned>(stream->header.componentWidth[component]);
  *height = static_cast<unsigned>(stream->header.componentHeight[component]);
  return NVJPEG_STATUS_SUCCESS;
}

// --- decoding in one call

nvjpegStatus_t nvjpegDecode(nvjpegHandle_t handle, nvjpegJpegState_t state, const unsigned char* data, size_t length,
                            nvjpegOutputFormat_t format, nvjpegImage_t* to, cudaStream_t stream) {
  NVJPEG_CHECK(handle && state && to);
  Planes planes;
  NVJPEG_TRY(decoded(data, length, format, {}, planes));
  return write(planes, *to, stream);
}

nvjpegStatus_t nvjpegDecodeBatchedInitialize(nvjpegHandle_t handle, nvjpegJpegState_t state, int batch, int,
                                             nvjpegOutputFormat_t format) {
  NVJPEG_CHECK(handle && state && batch > 0 && isFormat(format));
  state->batch = batch;
  state->format = format;
  return NVJPEG_STATUS_SUCCESS;
}

nvjpegStatus_t nvjpegDecodeBatched(nvjpegHandle_t handle, nvjpegJpegState_t state, const unsigned char* const* data,
                                   const size_t* lengths, nvjpegImage_t* to, cudaStream_t stream) {
  NVJPEG_CHECK(handle && state && data && lengths && to && state->batch > 0);
  for (int i = 0; i < state->batch; ++i)
    NVJPEG_TRY(nvjpegDecode(handle, state, data[i], lengths[i], state->format, &to[i], stream));
  return NVJPEG_STATUS_SUCCESS;
}

/// 0 is yes.
nvjpegStatus_t nvjpegDecodeBatchedSupported(nvjpegHandle_t handle, nvjpegJpegStream_t stream, int* answer) {
  NVJPEG_CHECK(handle && stream && answer && stream->header.components > 0);
  *answer = stream->header.components == 1 || stream->header.components == 3 ? 0 : 1;
  return NVJPEG_STATUS_SUCCESS;
}

// --- decoding in steps

nvjpegStatus_t nvjpegDecodeParamsSetOutputFormat(nvjpegDecodeParams_t params, nvjpegOutputFormat_t format) {
  NVJPEG_CHECK(params && isFormat(format));
  params->format = format;
  return NVJPEG_STATUS_SUCCESS;
}
/// A size of -1 is all of the image.
nvjpegStatus_t nvjpegDecodeParamsSetROI(nvjpegDecodeParams_t params, int x, int y, int width, int height) {
  NVJPEG_CHECK(params);
  params->region = width < 0 || height < 0 ? Region{} : Region{x, y, width, height};
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegDecodeParamsSetAllowCMYK(nvjpegDecodeParams_t params, int) {
  NVJPEG_CHECK(params);
  return NVJPEG_STATUS_SUCCESS;
}

nvjpegStatus_t nvjpegDecoderJpegSupported(nvjpegJpegDecoder_t decoder, nvjpegJpegStream_t stream,
                                          nvjpegDecodeParams_t params, int* answer) {
  NVJPEG_CHECK(decoder && params && stream && answer && stream->header.components > 0);
  *answer = stream->header.components == 1 || stream->header.components == 3 ? 0 : 1;
  return NVJPEG_STATUS_SUCCESS;
}

nvjpegStatus_t nvjpegDecodeJpegHost(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder, nvjpegJpegState_t state,
                                    nvjpegDecodeParams_t params, nvjpegJpegStream_t stream) {
  NVJPEG_CHECK(handle && decoder && state && params && stream);
  return decoded(stream->file.data(), stream->file.size(), params->format, params->region, state->decoded);
}
nvjpegStatus_t nvjpegDecodeJpegTransferToDevice(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder,
                                                nvjpegJpegState_t state, nvjpegJpegStream_t stream, cudaStream_t) {
  NVJPEG_CHECK(handle && decoder && state && stream && state->decoded);
  return NVJPEG_STATUS_SUCCESS;
}
nvjpegStatus_t nvjpegDecodeJpegDevice(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder, nvjpegJpegState_t state,
                                      nvjpegImage_t* to, cudaStream_t stream) {
  NVJPEG_CHECK(handle && decoder && state && to && state->decoded);
  return write(state->decoded, *to, stream);
}
nvjpegStatus_t nvjpegDecodeJpeg(nvjpegHandle_t handle, nvjpegJpegDecoder_t decoder, nvjpegJpegState_t state,
                                nvjpegJpegStream_t file, nvjpegImage_t* to, nvjpegDecodeParams_t params,
                                cudaStream_t stream) {
  NVJPEG_TRY(nvjpegDecodeJpegHost(handle, decoder, state, params, file));
  return nvjpegDecodeJpegDevice(handle, decoder, state, to, stream);
}
