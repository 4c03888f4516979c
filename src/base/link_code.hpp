// Code that is linked later (nvrtcGetLTOIR, libNVVM's -gen-lto): PTX, behind the number that programs know such code by
// and a mark that tells it from NVIDIA's.
#pragma once

#include <string>
#include <string_view>

namespace ordito {

inline constexpr std::string_view kLinkCodeNumber = "\xed\x43\x4e\x7f";
inline constexpr std::string_view kLinkCodeMark = "\xed\x43\x4e\x7fOrdito: PTX\n";

inline std::string asLinkCode(std::string_view ptx) { return std::string(kLinkCodeMark).append(ptx); }

/// Begins as such code does, but was made by another compiler.
inline bool isForeignLinkCode(std::string_view bytes) {
  return bytes.starts_with(kLinkCodeNumber) && !bytes.starts_with(kLinkCodeMark);
}

/// The PTX of such code; what is none stays as it is.
inline std::string_view withoutLinkCodeMark(std::string_view bytes) {
  return bytes.substr(bytes.starts_with(kLinkCodeMark) ? kLinkCodeMark.size() : 0);
}

}  // namespace ordito
