// Reading memory that may not be there: a page that nobody may read, or that another thread unmaps meanwhile, is no
// fault.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ordito::machine {

/// Copies what can be read of the bytes at `address`, and says how many that were.
size_t copyReadable(std::byte* to, uint64_t address, size_t bytes);

}  // namespace ordito::machine
