// See readable.hpp. The system call copies what can be read and says how much that was.
#include "machine/readable.hpp"

#include <sys/uio.h>
#include <unistd.h>

namespace ordito::machine {

size_t copyReadable(std::byte* to, uint64_t address, size_t bytes) {
  const iovec here{to, bytes};
  const iovec there{reinterpret_cast<void*>(address), bytes};
  const ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
  return got > 0 ? static_cast<size_t>(got) : 0;
}

}  // namespace ordito::machine
