// See memory_digest.hpp. Memory that another thread frees meanwhile is no fault.
#include "machine/memory_digest.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "machine/memory.hpp"
#include "machine/readable.hpp"

namespace ordito::machine {

void addMemory(Digest& digest, uint64_t address, uint64_t bytes) {
  constexpr uint64_t kPiece = 256 << 10;
  static thread_local std::vector<std::byte> piece(kPiece);
  for (uint64_t done = 0; done < bytes; done += kPiece) {
    const size_t got = copyReadable(piece.data(), address + done, std::min(kPiece, bytes - done));
    if (got) digest.add(std::string_view(reinterpret_cast<const char*>(piece.data()), got));
  }
}

void addAllocations(Digest& digest) {
  for (const Allocation& a : allocations().all()) addMemory(digest.add(a.address), a.address, a.bytes);
}

}  // namespace ordito::machine
