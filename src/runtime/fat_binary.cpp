// See fat_binary.hpp.
#include "runtime/fat_binary.hpp"

#include <cstring>

namespace ordito::runtime {
namespace {

struct FatBinaryHeader {
  static constexpr uint32_t kMagic = 0xba55ed50;
  uint32_t magic;
  uint16_t version;
  uint16_t headerBytes;
  uint64_t payloadBytes;
};

}  // namespace

std::vector<const void*> linkedImages(const std::vector<const void*>& wrappers) {
  std::vector<const void*> images;
  for (const void* pointer : wrappers) {
    const auto& wrapper = *static_cast<const FatBinaryWrapper*>(pointer);
    if (wrapper.version == 2 && wrapper.objects != nullptr) {
      for (const void* const* object = wrapper.objects; *object != nullptr; ++object) images.push_back(*object);
    } else if (wrappers.size() > 1) {
      images.push_back(wrapper.image);
    }
  }
  return images;
}

size_t fatBinarySize(const void* image) {
  FatBinaryHeader header;
  std::memcpy(&header, image, sizeof header);
  return header.magic == FatBinaryHeader::kMagic ? header.headerBytes + header.payloadBytes : 0;
}

}  // namespace ordito::runtime
