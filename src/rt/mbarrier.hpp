// What compiled code asks of an mbarrier: the run-time half of jit/mbarrier.cpp.
#pragma once

#include <cstdint>

#include "machine/kernel.hpp"

namespace ordito::rt {

enum class MbarrierWork : uint32_t {
  Init,
  Inval,
  ExpectTx,
  CompleteTx,
  Arrive,
  ArriveExpectTx,
  Drop,
  DropExpectTx,
  CopiesArrive,  // cp.async.mbarrier.arrive.noinc
  Test,          // by state
  TestParity,
};

/// One lane's `work` on the mbarrier at `address`; gives the state before it, or for a test whether the phase is over.
uint64_t workOnMbarrier(const machine::BlockFrame* frame, uint32_t line, uint32_t work, uint64_t address,
                        uint64_t operand);

}  // namespace ordito::rt
