// Fat binaries: the container in which compilers put a program's kernels, once per architecture.
//
// An executable holds, for each object file with kernels, a *wrapper* that points to a fat binary: a header and a row
// of entries. An entry is PTX text (plain, or compressed with LZ4 or zstd) or machine code for one GPU (an ELF file).
// Ordito runs PTX; entries of machine code are reported so that whoever finds no PTX can say what there is instead. All
// integers are little-endian, and nothing here trusts one: an offset or a size is compared with what is there before it
// is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ordito::driver {

struct FatbinEntry {
  enum class Kind { Ptx, Elf, Other };

  Kind kind = Kind::Other;
  uint32_t arch = 0;  ///< Compute capability times ten: 80 for sm_80.
  std::string name;   ///< The source file, where the compiler noted it.
  std::string ptx;    ///< The text, without trailing NULs. Empty unless kind is Ptx.
};

/// Reads the fat binaries that `bytes` holds, one after another. PTX that occurs twice (compilers pack it for the real
/// and for the virtual architecture) is returned once.
Expected<std::vector<FatbinEntry>> readFatbin(std::span<const std::byte> bytes);

/// What a wrapper starts with.
constexpr uint32_t kWrapperMagic = 0x466243b1;

/// Whether `data` starts with these four bytes, lowest first. Reads no further than the first that differs: what is
/// behind a short text may be anything.
bool beginsWithMagic(const void* data, uint32_t magic);

/// Whether `data` starts like a fat binary.
bool isFatbin(std::span<const std::byte> data);

/// The length of the fat binary at `header`, header included, from the header alone; 0 if none starts there. For
/// callers who have a pointer and no length, such as cuModuleLoadFatBinary: at least 16 bytes must be readable.
std::size_t fatbinBytes(const void* header);

/// Reads all that the wrapper of `__cudaRegisterFatBinary` leads to, separately compiled parts included. (NVIDIA's own
/// device runtime, which nvcc links into such programs, is left out: the driver provides those functions itself.)
Expected<std::vector<FatbinEntry>> readFatbinWrapper(const void* wrapper);

enum class FatbinPacking { Plain, Lz4, Zstd };

/// What writeFatbin puts into one entry.
struct FatbinImage {
  FatbinEntry::Kind kind = FatbinEntry::Kind::Ptx;
  uint32_t arch = 0;
  std::string name;
  std::string bytes;
  FatbinPacking packing = FatbinPacking::Plain;
};

std::vector<std::byte> writeFatbin(std::span<const FatbinImage> images);

}  // namespace ordito::driver
