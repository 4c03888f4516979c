// Sections of the executable and the libraries that are loaded, found by name.
//
// Two things that compilers leave are known by their section only: which variables of a clang-built program are
// __managed__ (our headers put their host shadows into a section of their own, see include/host_defines.h), and how
// many fat binaries a file registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

struct link_map;

namespace ordito::runtime {

/// The executable or library that contains `address`; null if none does. Unlike dladdr() it does not look for the
/// symbol, which takes a millisecond in libraries of a million symbols, as PyTorch's are.
const link_map* loadedFileWith(const void* address);

/// A section in memory; empty if there is none of that name.
struct LoadedSection {
  uintptr_t begin = 0, end = 0;
  bool contains(const void* address) const {
    const auto value = reinterpret_cast<uintptr_t>(address);
    return value >= begin && value < end;
  }
  size_t bytes() const { return end - begin; }
};

/// The section `name` of the executable or library that contains `address`.
LoadedSection sectionBeside(const void* address, std::string_view name);

inline constexpr std::string_view kManagedSection = "ordito_managed";
inline constexpr std::string_view kWrapperSection = ".nvFatBinSegment";

}  // namespace ordito::runtime
