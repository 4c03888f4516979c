// A stand-in for fatbinary, for people who call clang with --cuda-path set to our toolkit folder: packs the PTX that
// ptxas passed on. Takes `--create out --image=profile=sm_80,file=in` and clang 19's `--image3=kind=elf,sm=80,file=in`.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "driver/fatbin.hpp"

namespace {

using namespace ordito::driver;

/// The value of `key=` in a comma-separated list.
std::string field(std::string_view list, std::string_view key) {
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string_view part = list.substr(at, end - at);
    if (part.starts_with(key)) return std::string(part.substr(key.size()));
    at = end + 1;
  }
  return {};
}

uint32_t archOf(const std::string& name) {
  const auto digits = name.find_first_of("0123456789");
  return digits == std::string::npos ? 0 : static_cast<uint32_t>(std::atoi(name.c_str() + digits));
}

bool addImage(std::vector<FatbinImage>& images, std::string_view description) {
  const std::string path = field(description, "file=");
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "fatbinary (Ordito): cannot read '%s'\n", path.c_str());
    return false;
  }
  FatbinImage image;
  image.bytes.assign(std::istreambuf_iterator<char>(file), {});
  image.arch = archOf(field(description, "profile=") + field(description, "sm="));
  image.kind = image.bytes.starts_with("\177ELF") ? FatbinEntry::Kind::Elf : FatbinEntry::Kind::Ptx;
  // Our ptxas ends its PTX with a NUL. Clang hands over the same PTX as machine code and as PTX.
  if (image.kind == FatbinEntry::Kind::Ptx) image.bytes.resize(std::min(image.bytes.find('\0'), image.bytes.size()));
  for (const auto& other : images) {
    if (other.bytes == image.bytes) return true;
  }
  images.push_back(std::move(image));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::string output;
  std::vector<FatbinImage> images;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--create" && i + 1 < argc) output = argv[++i];
    if (argument.starts_with("--create=")) output = argument.substr(9);
    const bool isImage = argument.starts_with("--image=") || argument.starts_with("--image3=");
    if (isImage && !addImage(images, argument.substr(argument.find('=') + 1))) return 1;
  }
  if (output.empty()) {
    std::fprintf(stderr,
                 "fatbinary (Ordito): usage: fatbinary --create out.fatbin --image=profile=sm_80,file=in.ptx\n");
    return 1;
  }
  const auto bytes = writeFatbin(images);
  std::ofstream file(output, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return file.flush() ? 0 : 1;
}
