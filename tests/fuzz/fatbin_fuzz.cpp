// libFuzzer target: any bytes as a fat binary, and good fat binaries of each packing with bytes overwritten. What reads
// must be packed and read again to the same text.
//
//   cmake --preset asan && ninja -C build/asan fatbin_fuzz
//   build/asan/tests/fatbin_fuzz -max_len=512 -runs=1000000 corpus
//
// The first byte of an input chooses: 0 the rest is the image; else the rest is a row of edits, (position, value) in
// three bytes each, of an image that packs as the byte says.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver/fatbin.hpp"

namespace {

using namespace ordito::driver;

std::vector<std::byte> sample(unsigned kind) {
  std::string text = ".version 8.3\n.target sm_80\n.address_size 64\n";
  for (int k = 0; k < 12; ++k)
    text += ".visible .entry kernel(.param .u64 p)\n{\n  ld.param.u64 %rd1, [p];\n  ret;\n}\n";
  const auto packing = static_cast<FatbinPacking>(kind % 3);
  const FatbinImage images[] = {{FatbinEntry::Kind::Ptx, 80, "a.cu", text, packing},
                                {FatbinEntry::Kind::Elf, 90, "a.cu", std::string(64, '\x7f'), FatbinPacking::Plain},
                                {FatbinEntry::Kind::Ptx, 90, "", text + "// b", packing}};
  return writeFatbin(images);
}

std::vector<std::byte> imageOf(const uint8_t* data, size_t size) {
  if (size == 0 || data[0] == 0) {
    std::vector<std::byte> raw(size ? size - 1 : 0);
    if (!raw.empty()) std::memcpy(raw.data(), data + 1, raw.size());
    return raw;
  }
  static const std::vector<std::byte> samples[] = {sample(0), sample(1), sample(2)};
  std::vector<std::byte> image = samples[data[0] % 3];
  for (size_t k = 1; k + 2 < size; k += 3)
    image[(data[k] | data[k + 1] << 8) % image.size()] = static_cast<std::byte>(data[k + 2]);
  return image;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::vector<std::byte> image = imageOf(data, size);
  const auto entries = readFatbin(image);
  if (!entries) return 0;
  for (const FatbinEntry& e : *entries) {
    if (e.kind != FatbinEntry::Kind::Ptx) continue;
    const FatbinImage again = {e.kind, e.arch, e.name, e.ptx, FatbinPacking::Plain};
    const auto back = readFatbin(writeFatbin({&again, 1}));
    if (!back || back->size() != 1 || (*back)[0].ptx != e.ptx) {
      std::fprintf(stderr, "an entry of %zu bytes does not read back\n", e.ptx.size());
      std::abort();
    }
  }
  return 0;
}
