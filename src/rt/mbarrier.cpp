// An mbarrier as compiled code works on it (PTX ISA, "Parallel Synchronization and Communication Instructions:
// mbarrier"). It lies in shared memory, which one host thread owns, so plain loads and stores do, lane after lane.
#include "rt/mbarrier.hpp"

#include <fmt/format.h>

#include <bit>

#include "machine/fault.hpp"

namespace ordito::rt {

namespace {

constexpr uint64_t kMostArrivals = (1u << 20) - 1;

/// The object's 64 bits, lowest first: arrivals of each phase, arrivals that this phase lacks (where
/// mbarrier.pending_count looks), bytes that are announced and not there, the number of the phase.
struct Bits {
  uint64_t expected : 20, missing : 20;
  int64_t bytes : 22;
  uint64_t phase : 2;

  void endPhaseIfComplete() {
    if (missing || bytes) return;
    ++phase;
    missing = expected;
  }
};
static_assert(sizeof(Bits) == sizeof(uint64_t));

}  // namespace

uint64_t workOnMbarrier(const machine::BlockFrame* frame, uint32_t line, uint32_t work, uint64_t address,
                        uint64_t operand) {
  auto refuse = [&](machine::FaultKind kind, const std::string& why) {
    machine::raiseFault(*frame, kind, line, address, why.c_str());
  };
  const uint64_t offset = address - reinterpret_cast<uint64_t>(frame->shared);
  if (offset >= frame->totalSharedBytes)
    refuse(machine::FaultKind::IllegalAddress, "an mbarrier must lie in shared memory");
  auto* object = reinterpret_cast<Bits*>(address);
  const Bits before = *object;
  Bits now = before;
  auto arrive = [&](uint64_t count, bool drops) {
    if (count > now.missing)
      refuse(machine::FaultKind::IllegalInstruction,
             fmt::format("{} arrivals at an mbarrier that waits for {}", count, uint64_t{now.missing}));
    now.missing -= count;
    if (drops) now.expected -= count;
    now.endPhaseIfComplete();
  };
  auto passes = [&](bool isOver) {
    frame->phaseSteps += isOver;
    return isOver;
  };
  switch (static_cast<MbarrierWork>(work)) {
    case MbarrierWork::Init:
      if (operand == 0 || operand > kMostArrivals)
        refuse(machine::FaultKind::IllegalInstruction, fmt::format("mbarrier.init with a count of {}", operand));
      now = {};
      now.expected = now.missing = operand;
      break;
    case MbarrierWork::Inval: now = {}; break;
    case MbarrierWork::ExpectTx: now.bytes += static_cast<int64_t>(operand); break;
    case MbarrierWork::CompleteTx:
      now.bytes -= static_cast<int64_t>(operand);
      now.endPhaseIfComplete();
      break;
    case MbarrierWork::Arrive: arrive(operand, false); break;
    case MbarrierWork::Drop: arrive(operand, true); break;
    case MbarrierWork::ArriveExpectTx:
      now.bytes += static_cast<int64_t>(operand);
      arrive(1, false);
      break;
    case MbarrierWork::DropExpectTx:
      now.bytes += static_cast<int64_t>(operand);
      arrive(1, true);
      break;
    case MbarrierWork::CopiesArrive: arrive(1, false); break;
    case MbarrierWork::Test: return passes(before.phase != operand >> 62);
    case MbarrierWork::TestParity: return passes((before.phase & 1) != (operand & 1));
  }
  ++frame->phaseSteps;
  *object = now;
  return std::bit_cast<uint64_t>(before);
}

}  // namespace ordito::rt
