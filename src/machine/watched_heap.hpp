// malloc() of kernels where a listener hears of every access: each piece is in the map of allocations, so that what is
// known of device memory is known of it. Pieces have room around them and are not given out again for a while, so that
// accesses beside them and late ones lead to no other piece.
#pragma once

#include <cstdint>

namespace ordito::machine {

/// Null if there is none left, or for no bytes.
void* allocateWatched(uint64_t bytes);
/// False if no piece begins there, or it was given back already.
bool freeWatched(void* pointer);
/// Has memory been given out that kernels have had before?
bool hasReusedWatched();

}  // namespace ordito::machine
