// See codec.hpp. libjpeg reports an error by a function that may not return: ours throws, which unwinds the library's
// frames, and every entry here catches.
#include "libs/nvjpeg/codec.hpp"

#include <cstdio>
// After <cstdio>, which it needs and does not include.
#include <jpeglib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace ordito::libs::jpeg {

namespace {

struct Failure {
  nvjpegStatus_t status;
};

[[noreturn]] void failed(j_common_ptr) { throw Failure{NVJPEG_STATUS_BAD_JPEG}; }
void ignored(j_common_ptr) {}
void counted(j_common_ptr codec, int level) {
  if (level < 0) ++codec->err->num_warnings;
}

void handleErrors(jpeg_error_mgr& errors) {
  jpeg_std_error(&errors);
  errors.error_exit = failed;
  errors.output_message = ignored;
  errors.emit_message = counted;
}

constexpr unsigned kLongestMarker = 0xffff;

class Decoder {
 public:
  explicit Decoder(const unsigned char* data, size_t length, bool keepsMetadata = false) {
    handleErrors(errors_);
    codec.err = &errors_;
    jpeg_create_decompress(&codec);
    try {
      jpeg_mem_src(&codec, data, length);
      for (int code = JPEG_APP0; keepsMetadata && code <= JPEG_APP0 + 15; ++code)
        jpeg_save_markers(&codec, code, kLongestMarker);
      if (keepsMetadata) jpeg_save_markers(&codec, JPEG_COM, kLongestMarker);
      jpeg_read_header(&codec, TRUE);
    } catch (...) {
      jpeg_destroy_decompress(&codec);
      throw;
    }
  }
  ~Decoder() { jpeg_destroy_decompress(&codec); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  jpeg_decompress_struct codec{};

 private:
  jpeg_error_mgr errors_{};
};

class Encoder {
 public:
  Encoder() {
    handleErrors(errors_);
    codec.err = &errors_;
    jpeg_create_compress(&codec);
    jpeg_mem_dest(&codec, &file_, &size_);
  }
  ~Encoder() {
    jpeg_destroy_compress(&codec);
    std::free(file_);
  }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  void start(int width, int height, int components, J_COLOR_SPACE space, const Quality& quality) {
    codec.image_width = static_cast<JDIMENSION>(width);
    codec.image_height = static_cast<JDIMENSION>(height);
    codec.input_components = components;
    codec.in_color_space = space;
    jpeg_set_defaults(&codec);
    if (quality.subsampling == NVJPEG_CSS_GRAY) jpeg_set_colorspace(&codec, JCS_GRAYSCALE);
    jpeg_set_quality(&codec, quality.quality, TRUE);
    for (size_t i = 0; i < quality.tables.size(); ++i)
      jpeg_add_quant_table(&codec, static_cast<int>(i), quality.tables[i].data(), 100, FALSE);
    codec.optimize_coding = quality.isOptimized ? TRUE : FALSE;
    if (quality.isProgressive) jpeg_simple_progression(&codec);
    if (codec.num_components == 3) {
      samplingFactors(quality.subsampling, codec.comp_info[0].h_samp_factor, codec.comp_info[0].v_samp_factor);
      for (int i : {1, 2}) codec.comp_info[i].h_samp_factor = codec.comp_info[i].v_samp_factor = 1;
    }
  }
  /// Begins the file; what another one has of the applications' stands for our own.
  void begin(const Quality& quality) {
    if (!quality.metadata.empty()) codec.write_JFIF_header = codec.write_Adobe_marker = FALSE;
    jpeg_start_compress(&codec, TRUE);
    for (const Marker& marker : quality.metadata)
      jpeg_write_marker(&codec, marker.code, marker.data.data(), static_cast<unsigned>(marker.data.size()));
  }
  Bytes finish() {
    jpeg_finish_compress(&codec);
    return {file_, file_ + size_};
  }

  jpeg_compress_struct codec{};

 private:
  jpeg_error_mgr errors_{};
  unsigned char* file_ = nullptr;
  unsigned long size_ = 0;
};

template <class Work>
nvjpegStatus_t guarded(Work work) {
  try {
    work();
    return NVJPEG_STATUS_SUCCESS;
  } catch (const Failure& failure) {
    return failure.status;
  } catch (const std::bad_alloc&) {
    return NVJPEG_STATUS_ALLOCATOR_FAILURE;
  }
}

int divided(int value, int by) { return (value + by - 1) / by; }

nvjpegChromaSubsampling_t subsamplingOf(const jpeg_decompress_struct& codec) {
  if (codec.num_components == 1) return NVJPEG_CSS_GRAY;
  if (codec.num_components != 3) return NVJPEG_CSS_UNKNOWN;
  const auto* const c = codec.comp_info;
  const bool isEven = c[1].h_samp_factor == c[2].h_samp_factor && c[1].v_samp_factor == c[2].v_samp_factor;
  for (int kind = NVJPEG_CSS_444; isEven && kind <= NVJPEG_CSS_410V; ++kind) {
    const auto subsampling = static_cast<nvjpegChromaSubsampling_t>(kind);
    int x = 0, y = 0;
    if (samplingFactors(subsampling, x, y) && c[0].h_samp_factor == x * c[1].h_samp_factor &&
        c[0].v_samp_factor == y * c[1].v_samp_factor)
      return subsampling;
  }
  return NVJPEG_CSS_UNKNOWN;
}

/// The marker that opens the frame (ITU-T T.81, table B.1): SOF0, SOF1, SOF2.
nvjpegJpegEncoding_t encodingOf(const jpeg_decompress_struct& codec, const unsigned char* data, size_t length) {
  if (codec.progressive_mode) return NVJPEG_ENCODING_PROGRESSIVE_DCT_HUFFMAN;
  for (size_t i = 2; i + 4 < length && data[i] == 0xff;) {
    if (data[i + 1] == 0xff) {
      ++i;
      continue;
    }
    if (data[i + 1] == 0xc1) return NVJPEG_ENCODING_EXTENDED_SEQUENTIAL_DCT_HUFFMAN;
    if (data[i + 1] == 0xc0) break;
    i += 2 + (size_t{data[i + 2]} << 8 | data[i + 3]);
  }
  return NVJPEG_ENCODING_BASELINE_DCT;
}

void describe(const jpeg_decompress_struct& codec, Header& header) {
  header.width = static_cast<int>(codec.image_width);
  header.height = static_cast<int>(codec.image_height);
  header.components = codec.num_components;
  for (int i = 0; i < std::min(codec.num_components, NVJPEG_MAX_COMPONENT); ++i) {
    header.componentWidth[i] = divided(header.width * codec.comp_info[i].h_samp_factor, codec.max_h_samp_factor);
    header.componentHeight[i] = divided(header.height * codec.comp_info[i].v_samp_factor, codec.max_v_samp_factor);
  }
  header.subsampling = subsamplingOf(codec);
}

void cut(Plane& plane, size_t pixel, Region r) {
  if (r.width == 0) return;
  Plane part{static_cast<size_t>(r.width) * pixel, static_cast<size_t>(r.height), {}};
  part.data.resize(part.rowBytes * part.rows);
  for (size_t y = 0; y < part.rows; ++y)
    std::memcpy(part.data.data() + y * part.rowBytes,
                plane.data.data() + (static_cast<size_t>(r.y) + y) * plane.rowBytes + static_cast<size_t>(r.x) * pixel,
                part.rowBytes);
  plane = std::move(part);
}

Plane decodePixels(jpeg_decompress_struct& codec, J_COLOR_SPACE space, size_t pixel) {
  codec.out_color_space = space;
  // nvJPEG's default too: its manual has a flag that asks for interpolation
  // (NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION).
  codec.do_fancy_upsampling = FALSE;
  jpeg_start_decompress(&codec);
  Plane plane{codec.output_width * pixel, codec.output_height, {}};
  plane.data.resize(plane.rowBytes * plane.rows);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = plane.data.data() + codec.output_scanline * plane.rowBytes;
    jpeg_read_scanlines(&codec, &row, 1);
  }
  jpeg_finish_decompress(&codec);
  return plane;
}

std::vector<Plane> split(const Plane& pixels) {
  std::vector<Plane> planes(3, Plane{pixels.rowBytes / 3, pixels.rows, Bytes(pixels.data.size() / 3)});
  for (size_t i = 0; i < pixels.data.size(); ++i) planes[i % 3].data[i / 3] = pixels.data[i];
  return planes;
}

/// The components as they are in the file. libjpeg gives rows of whole blocks, so there is room for these.
std::vector<Plane> decodeComponents(jpeg_decompress_struct& codec, const Header& header) {
  codec.raw_data_out = TRUE;
  codec.out_color_space = codec.jpeg_color_space;
  jpeg_start_decompress(&codec);
  const int count = codec.num_components, lines = codec.max_v_samp_factor * DCTSIZE;
  std::vector<Plane> whole(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    const auto& component = codec.comp_info[i];
    auto& plane = whole[static_cast<size_t>(i)];
    plane.rowBytes = size_t{component.width_in_blocks} * DCTSIZE;
    plane.rows = static_cast<size_t>(divided(header.height, lines) * component.v_samp_factor) * DCTSIZE;
    plane.data.resize(plane.rowBytes * plane.rows);
  }
  while (codec.output_scanline < codec.output_height) {
    const auto group = static_cast<size_t>(codec.output_scanline / static_cast<JDIMENSION>(lines));
    std::vector<std::vector<JSAMPROW>> rows(static_cast<size_t>(count));
    std::vector<JSAMPARRAY> arrays;
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto perGroup = static_cast<size_t>(codec.comp_info[i].v_samp_factor) * DCTSIZE;
      for (size_t y = 0; y < perGroup; ++y)
        rows[i].push_back(whole[i].data.data() + (group * perGroup + y) * whole[i].rowBytes);
      arrays.push_back(rows[i].data());
    }
    jpeg_read_raw_data(&codec, arrays.data(), static_cast<JDIMENSION>(lines));
  }
  jpeg_finish_decompress(&codec);
  for (int i = 0; i < count; ++i)
    cut(whole[static_cast<size_t>(i)], 1, {0, 0, header.componentWidth[i], header.componentHeight[i]});
  return whole;
}

void checkRegion(const Header& header, Region r) {
  const bool isInside = r.x >= 0 && r.y >= 0 && r.width > 0 && r.height > 0 && r.x + r.width <= header.width &&
                        r.y + r.height <= header.height;
  if (r.width != 0 && !isInside) throw Failure{NVJPEG_STATUS_INVALID_PARAMETER};
}

}  // namespace

bool samplingFactors(nvjpegChromaSubsampling_t subsampling, int& x, int& y) {
  switch (subsampling) {
    case NVJPEG_CSS_GRAY:
    case NVJPEG_CSS_444: x = 1, y = 1; return true;
    case NVJPEG_CSS_422: x = 2, y = 1; return true;
    case NVJPEG_CSS_420: x = 2, y = 2; return true;
    case NVJPEG_CSS_440: x = 1, y = 2; return true;
    case NVJPEG_CSS_411: x = 4, y = 1; return true;
    case NVJPEG_CSS_410: x = 4, y = 2; return true;
    default: return false;
  }
}

nvjpegStatus_t readHeader(const unsigned char* data, size_t length, Header& header) {
  return guarded([&] {
    const Decoder decoder(data, length);
    describe(decoder.codec, header);
    header.encoding = encodingOf(decoder.codec, data, length);
  });
}

nvjpegStatus_t readQuantization(const Bytes& file, Quantization& tables) {
  return guarded([&] {
    const Decoder decoder(file.data(), file.size());
    const auto& codec = decoder.codec;
    tables.assign(2, {});
    for (int i = 0; i < 2; ++i) {
      const auto* table = codec.quant_tbl_ptrs[codec.comp_info[std::min(i, codec.num_components - 1)].quant_tbl_no];
      if (!table) throw Failure{NVJPEG_STATUS_BAD_JPEG};
      std::copy(std::begin(table->quantval), std::end(table->quantval), tables[static_cast<size_t>(i)].begin());
    }
  });
}

nvjpegStatus_t readMetadata(const Bytes& file, std::vector<Marker>& markers) {
  return guarded([&] {
    const Decoder decoder(file.data(), file.size(), true);
    markers.clear();
    for (const auto* m = decoder.codec.marker_list; m; m = m->next)
      markers.push_back({m->marker, {m->data, m->data + m->data_length}});
  });
}

nvjpegStatus_t decode(const unsigned char* data, size_t length, nvjpegOutputFormat_t format, Region region,
                      std::vector<Plane>& planes) {
  return guarded([&] {
    Decoder decoder(data, length);
    auto& codec = decoder.codec;
    Header header;
    describe(codec, header);
    checkRegion(header, region);
    if (codec.num_components != 1 && codec.num_components != 3) throw Failure{NVJPEG_STATUS_JPEG_NOT_SUPPORTED};
    if (format == NVJPEG_OUTPUT_UNCHANGED || format == NVJPEG_OUTPUT_YUV) {
      if (region.width != 0) throw Failure{NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED};
      planes = decodeComponents(codec, header);
    } else if (format == NVJPEG_OUTPUT_Y) {
      planes = {decodePixels(codec, JCS_GRAYSCALE, 1)};
      cut(planes[0], 1, region);
    } else {
      const bool isBlueFirst = format == NVJPEG_OUTPUT_BGR || format == NVJPEG_OUTPUT_BGRI;
      Plane pixels = decodePixels(codec, isBlueFirst ? JCS_EXT_BGR : JCS_EXT_RGB, 3);
      cut(pixels, 3, region);
      planes = format == NVJPEG_OUTPUT_RGBI || format == NVJPEG_OUTPUT_BGRI ? std::vector{pixels} : split(pixels);
    }
  });
}

nvjpegStatus_t encodePixels(const Bytes& rgb, int width, int height, const Quality& quality, Bytes& file) {
  return guarded([&] {
    Encoder encoder;
    encoder.start(width, height, 3, JCS_RGB, quality);
    encoder.begin(quality);
    while (encoder.codec.next_scanline < encoder.codec.image_height) {
      auto* row =
          const_cast<JSAMPROW>(rgb.data()) + size_t{encoder.codec.next_scanline} * static_cast<size_t>(width) * 3;
      jpeg_write_scanlines(&encoder.codec, &row, 1);
    }
    file = encoder.finish();
  });
}

nvjpegStatus_t encodePlanes(const std::vector<Plane>& planes, int width, int height, const Quality& quality,
                            Bytes& file) {
  return guarded([&] {
    Encoder encoder;
    auto& codec = encoder.codec;
    const bool isGray = planes.size() == 1;
    encoder.start(width, height, static_cast<int>(planes.size()), isGray ? JCS_GRAYSCALE : JCS_YCbCr, quality);
    codec.raw_data_in = TRUE;
    encoder.begin(quality);
    const int lines = codec.max_v_samp_factor * DCTSIZE;
    while (codec.next_scanline < codec.image_height) {
      const auto group = static_cast<size_t>(codec.next_scanline / static_cast<JDIMENSION>(lines));
      std::vector<Plane> padded(planes.size());  // rows of whole blocks, which repeat the edge
      std::vector<std::vector<JSAMPROW>> rows(planes.size());
      std::vector<JSAMPARRAY> arrays;
      for (size_t i = 0; i < planes.size(); ++i) {
        const Plane& from = planes[i];
        const auto perGroup = static_cast<size_t>(codec.comp_info[i].v_samp_factor) * DCTSIZE;
        const size_t bytes = size_t{codec.comp_info[i].width_in_blocks} * DCTSIZE;
        padded[i].data.resize(perGroup * bytes);
        for (size_t y = 0; y < perGroup; ++y) {
          const auto* const source = from.data.data() + std::min(group * perGroup + y, from.rows - 1) * from.rowBytes;
          auto* const row = padded[i].data.data() + y * bytes;
          for (size_t x = 0; x < bytes; ++x) row[x] = source[std::min(x, from.rowBytes - 1)];
          rows[i].push_back(row);
        }
        arrays.push_back(rows[i].data());
      }
      jpeg_write_raw_data(&codec, arrays.data(), static_cast<JDIMENSION>(lines));
    }
    file = encoder.finish();
  });
}

}  // namespace ordito::libs::jpeg
