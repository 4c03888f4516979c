// JPEG by libjpeg-turbo, in the host's memory: what nvJPEG's calls are made of.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "nvjpeg.h"

namespace ordito::libs::jpeg {

using Bytes = std::vector<unsigned char>;

/// Pixels or samples of one plane, rows without room between.
struct Plane {
  size_t rowBytes = 0, rows = 0;
  Bytes data;
};

/// What a file says before its pixels. Components beyond the last have no size.
struct Header {
  int width = 0, height = 0, components = 0;
  int componentWidth[NVJPEG_MAX_COMPONENT] = {}, componentHeight[NVJPEG_MAX_COMPONENT] = {};
  nvjpegChromaSubsampling_t subsampling = NVJPEG_CSS_UNKNOWN;
  nvjpegJpegEncoding_t encoding = NVJPEG_ENCODING_UNKNOWN;
};

/// Part of an image; a width of 0 is all of it.
struct Region {
  int x = 0, y = 0, width = 0, height = 0;
};

nvjpegStatus_t readHeader(const unsigned char* data, size_t length, Header& header);

/// The planes that a format has: one of interleaved pixels, three of colours, or those of the file.
nvjpegStatus_t decode(const unsigned char* data, size_t length, nvjpegOutputFormat_t format, Region region,
                      std::vector<Plane>& planes);

/// What another file has that a new one is to have, too.
struct Marker {
  int code;
  Bytes data;
};
using Quantization = std::vector<std::array<unsigned, 64>>;  // of luma and chroma

nvjpegStatus_t readQuantization(const Bytes& file, Quantization& tables);
/// What applications have written and comments, in their order.
nvjpegStatus_t readMetadata(const Bytes& file, std::vector<Marker>& markers);

struct Quality {
  int quality = 70;
  bool isProgressive = false, isOptimized = false;
  nvjpegChromaSubsampling_t subsampling = NVJPEG_CSS_444;
  Quantization tables;  // empty: those of `quality`
  std::vector<Marker> metadata;
};

/// Factors by which a component's samples are more than the chroma's, in x and y; false if libjpeg has none such.
bool samplingFactors(nvjpegChromaSubsampling_t subsampling, int& x, int& y);

/// Of interleaved RGB pixels.
nvjpegStatus_t encodePixels(const Bytes& rgb, int width, int height, const Quality& quality, Bytes& file);
/// Of luma and chroma as they are; one plane if there is only luma.
nvjpegStatus_t encodePlanes(const std::vector<Plane>& planes, int width, int height, const Quality& quality,
                            Bytes& file);

}  // namespace ordito::libs::jpeg
