// Finds the section in the file that the variable was loaded from: section headers survive `strip`. See
// managed_section.hpp.
#include "runtime/managed_section.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string_view>

namespace ordito::runtime {
namespace {

constexpr std::string_view kSection = "ordito_managed";

/// Addresses relative to the load address; empty when there is no such section.
struct Range {
  uint64_t begin = 0, end = 0;
};

/// A file mapped for reading, or nothing.
class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status{};
    if (fstat(file, &status) == 0 && status.st_size > 0) {
      void* const mapped = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (mapped != MAP_FAILED)
        data_ = std::string_view(static_cast<const char*>(mapped), static_cast<size_t>(status.st_size));
    }
    close(file);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (!data_.empty()) munmap(const_cast<char*>(data_.data()), data_.size());
  }

  /// `count` objects at `offset`, or null if the file ends before.
  template <class T>
  const T* at(uint64_t offset, uint64_t count = 1) const {
    if (offset > data_.size() || count > (data_.size() - offset) / sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(data_.data() + offset);
  }
  std::string_view string(uint64_t offset) const {
    return offset < data_.size() ? data_.substr(offset).substr(0, data_.substr(offset).find('\0')) : std::string_view();
  }

 private:
  std::string_view data_;
};

Range findSection(const char* path) {
  const MappedFile file(path);
  const auto* const header = file.at<Elf64_Ehdr>(0);
  if (header == nullptr || std::string_view(reinterpret_cast<const char*>(header->e_ident), SELFMAG) != ELFMAG)
    return {};
  const auto* const sections = file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  if (sections == nullptr || header->e_shstrndx >= header->e_shnum) return {};
  const uint64_t names = sections[header->e_shstrndx].sh_offset;
  for (unsigned i = 0; i < header->e_shnum; ++i)
    if (file.string(names + sections[i].sh_name) == kSection)
      return {sections[i].sh_addr, sections[i].sh_addr + sections[i].sh_size};
  return {};
}

}  // namespace

bool isManagedShadow(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return false;
  static std::mutex mutex;
  static std::map<const link_map*, Range>& known = *new std::map<const link_map*, Range>;
  const std::scoped_lock lock(mutex);
  auto found = known.find(map);
  // The name of the executable itself is empty, and the one that dladdr gives is how it was typed.
  if (found == known.end())
    found = known.emplace(map, findSection(*map->l_name == '\0' ? "/proc/self/exe" : map->l_name)).first;
  const uint64_t relative = reinterpret_cast<uint64_t>(address) - map->l_addr;
  return relative >= found->second.begin && relative < found->second.end;
}

}  // namespace ordito::runtime
