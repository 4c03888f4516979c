// Memory that ranks register. Those windows that all ranks register together (NCCL_WIN_COLL_SYMMETRIC) have numbers, by
// which ranks name each other's; to any other operation a registration makes no difference.
#pragma once

#include <memory>

#include "libs/handle_table.hpp"
#include "libs/nccl/communicator.hpp"

namespace ordito::libs::nccl {

struct Window {
  std::byte* memory;
  size_t size;
  Identity identity;  // of the communicator
  int rank;
  bool isSymmetric;
  uint64_t number;  // among the rank's symmetric windows, in the order in which they were registered

  bool isOf(const Identity& other, int otherRank) const {
    return isSymmetric && rank == otherRank && identity.number == other.number;
  }
  bool isOf(const Communicator& communicator) const { return isOf(communicator.identity(), communicator.rank()); }
  bool hasRoomFor(uint64_t offset, uint64_t bytes) const { return offset <= size && bytes <= size - offset; }
};

/// Those of all ranks of this process.
HandleTable<ncclWindow_t, Window>& windows();
/// A rank's symmetric window; null if there is none.
std::shared_ptr<const Window> symmetricWindow(const Identity& identity, int rank, uint64_t number);
/// Do bytes lie in one of the rank's symmetric windows?
bool areInWindow(const Communicator& communicator, const std::byte* data, size_t bytes);

}  // namespace ordito::libs::nccl
