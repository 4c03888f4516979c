// Code that is linked later (nvrtcGetLTOIR, libNVVM's -gen-lto): a mark that begins with the number by which programs
// know such code and tells it from NVIDIA's, PTX for those who link that, and behind a zero LLVM's bitcode, where there
// is one, for who optimises across parts.
#pragma once

#include <string>
#include <string_view>

namespace ordito {

inline constexpr std::string_view kLinkCodeNumber = "\xed\x43\x4e\x7f";
inline constexpr std::string_view kLinkCodeMark = "\xed\x43\x4e\x7fOrdito: PTX\n";

inline std::string asLinkCode(std::string_view ptx, std::string_view bitcode) {
  std::string code = std::string(kLinkCodeMark).append(ptx);
  return bitcode.empty() ? code : code.append(1, '\0').append(bitcode);
}

/// Begins as such code does, but was made by another compiler.
inline bool isForeignLinkCode(std::string_view bytes) {
  return bytes.starts_with(kLinkCodeNumber) && !bytes.starts_with(kLinkCodeMark);
}

/// Such code without its mark; what is none stays as it is. The PTX ends at the first zero.
inline std::string_view withoutLinkCodeMark(std::string_view bytes) {
  return bytes.substr(bytes.starts_with(kLinkCodeMark) ? kLinkCodeMark.size() : 0);
}

/// The bitcode of such code; empty if there is none. It is words of 4 bytes, and the code may be a text that ends in a
/// zero.
inline std::string_view bitcodeOf(std::string_view bytes) {
  const size_t zero = bytes.starts_with(kLinkCodeMark) ? bytes.find('\0') : std::string_view::npos;
  const std::string_view rest = zero == std::string_view::npos ? std::string_view() : bytes.substr(zero + 1);
  return rest.starts_with("BC") ? rest.substr(0, rest.size() / 4 * 4) : std::string_view();
}

}  // namespace ordito
