// Finds the section in the file that the variable was loaded from: section headers survive `strip`. See
// elf_section.hpp.
#include "runtime/elf_section.hpp"

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
#include <string>
#include <string_view>
#include <utility>

namespace ordito::runtime {
namespace {

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

/// Addresses relative to the load address.
LoadedSection findSection(const char* path, std::string_view wanted) {
  const MappedFile file(path);
  const auto* const header = file.at<Elf64_Ehdr>(0);
  if (header == nullptr || std::string_view(reinterpret_cast<const char*>(header->e_ident), SELFMAG) != ELFMAG)
    return {};
  const auto* const sections = file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
  if (sections == nullptr || header->e_shstrndx >= header->e_shnum) return {};
  const uint64_t names = sections[header->e_shstrndx].sh_offset;
  for (unsigned i = 0; i < header->e_shnum; ++i)
    if (file.string(names + sections[i].sh_name) == wanted)
      return {sections[i].sh_addr, sections[i].sh_addr + sections[i].sh_size};
  return {};
}

}  // namespace

const link_map* loadedFileWith(const void* address) {
  dl_find_object found{};
  return _dl_find_object(const_cast<void*>(address), &found) == 0 ? found.dlfo_link_map : nullptr;
}

LoadedSection sectionBeside(const void* address, std::string_view name) {
  const link_map* const map = loadedFileWith(address);
  if (map == nullptr) return {};
  static std::mutex mutex;
  static auto& known = *new std::map<std::pair<const link_map*, std::string>, LoadedSection>;
  const std::scoped_lock lock(mutex);
  const std::pair key(map, std::string(name));
  auto found = known.find(key);
  if (found == known.end()) {
    // The name of the executable itself is empty.
    LoadedSection section = findSection(*map->l_name == '\0' ? "/proc/self/exe" : map->l_name, name);
    if (section.bytes() != 0) section = {section.begin + map->l_addr, section.end + map->l_addr};
    found = known.emplace(key, section).first;
  }
  return found->second;
}

}  // namespace ordito::runtime
