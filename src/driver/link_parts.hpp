// What both linkers at run time, the driver's (cuLink…) and libnvJitLink, make of the parts that they are given: each
// part is PTX, and the product is one fat binary of them all, which is linked by name when it is loaded (link.cpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ptx/module.hpp"

namespace ordito::driver {

/// What is behind Error::code where a part cannot be linked.
enum LinkError : int { kNoImage = 200, kNoPtx = 209, kInvalidPart = 218, kYoungerPtx = 222 };

/// libcudadevrt.a holds what is part of the driver here, and our own is an archive of nothing.
bool isEmptyArchive(std::span<const std::byte> image);

/// A part's PTX: of a text, or of code for linking (link_code.hpp), itself; of a fat binary the one for compute
/// capability `capability` (80 for 8.0), or all of it if it is a linker's product; none of an empty archive. Where
/// `mayBeYounger`, PTX for younger GPUs does if there is no other.
Expected<std::vector<std::string>> partsIn(std::span<const std::byte> image, uint32_t capability, bool mayBeYounger);

/// The PTX of `part` with `most` registers for each thread of kernels that do not say themselves how many they may
/// take, as -maxrregcount has it.
std::string limitRegisters(ptx::Module part, uint32_t most);

/// The fat binary of a program's parts, with the functions of the device runtime that they call.
std::vector<std::byte> linkedImage(std::vector<std::string> parts);

/// One PTX of all parts.
Expected<std::string> linkedPtx(std::vector<std::string> parts);

}  // namespace ordito::driver
