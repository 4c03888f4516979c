// Arrays of structures for random kernels: members of a thread's own structure, loaded and stored in any order.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <functional>
#include <string>

namespace ordito::fuzz {

inline constexpr unsigned kMostStructures = 3 * 256, kMostMembers = 17;  // threads of a grid; elements of one

/// Each size of a structure has an array of its own.
inline std::string structuresDeclaration() {
  return fmt::format(".global .align 16 .b8 structures[{}];\n", kMostStructures * kMostMembers * 8 * 4 * kMostMembers);
}

/// `below`: a random number; `to` and `from`: a register of a kind to write, or to read; `guard`: of an instruction.
inline std::string accessStructure(const std::function<unsigned(unsigned)>& below,
                                   const std::function<std::string(char)>& to,
                                   const std::function<std::string(char)>& from,
                                   const std::function<std::string()>& guard) {
  const unsigned members = 1 + below(kMostMembers), size = below(5);
  const unsigned bytes = size == 0 ? 8 : size == 1 ? (below(2) ? 1 : 2) : 4;
  const unsigned array = (members - 1) * 4 + static_cast<unsigned>(std::countr_zero(bytes));
  std::string s = fmt::format("  mov.u64 %a0, structures;\n  mad.wide.u32 %a0, %gid, {}, %a0;\n", members * bytes);
  for (unsigned k = 1 + below(8); k > 0; --k) {
    const char kind = bytes < 4 ? 'h' : bytes == 4 ? "rrf"[below(3)] : "lld"[below(3)];
    static constexpr const char* kTypes[] = {"u8", "u16", "b32", "b64"};
    const char* type = kind == 'f' ? "f32" : kind == 'd' ? "f64" : kTypes[std::countr_zero(bytes)];
    const unsigned place = array * kMostStructures * kMostMembers * 8 + below(members) * bytes;
    s += below(2) ? fmt::format("  {}ld.global.{} {}, [%a0+{}];\n", guard(), type, to(kind), place)
                  : fmt::format("  {}st.global.{} [%a0+{}], {};\n", guard(), type, place, from(kind));
  }
  return s;
}

}  // namespace ordito::fuzz
