// See memory_digest.hpp. The system call copies what can be read and says how much that was, so memory that another
// thread frees meanwhile, or a page that nobody may read, is no fault.
#include "machine/memory_digest.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "machine/memory.hpp"

namespace ordito::machine {

void addMemory(Digest& digest, uint64_t address, uint64_t bytes) {
  constexpr uint64_t kPiece = 256 << 10;
  static thread_local std::vector<char> piece(kPiece);
  for (uint64_t done = 0; done < bytes; done += kPiece) {
    const iovec here{piece.data(), std::min(kPiece, bytes - done)};
    const iovec there{reinterpret_cast<void*>(address + done), here.iov_len};
    const ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    if (got > 0) digest.add(std::string_view(piece.data(), static_cast<size_t>(got)));
  }
}

void addAllocations(Digest& digest) {
  for (const Allocation& a : allocations().all()) addMemory(digest.add(a.address), a.address, a.bytes);
}

}  // namespace ordito::machine
