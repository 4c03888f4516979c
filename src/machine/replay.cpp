// See replay.hpp.
#include "machine/replay.hpp"

namespace ordito::machine {

namespace {

// The thread sanitizer ends a process at a thread's second jump out of a signal's handler.
#if defined(__has_feature) && __has_feature(thread_sanitizer)
constexpr bool kMayFaultAgain = false;
#else
constexpr bool kMayFaultAgain = true;
#endif

/// Those whose thread the engine does not know by itself, and that come again when the block is run again.
bool isRepeatable(FaultKind kind) {
  return kind != FaultKind::BarrierDeadlock && kind != FaultKind::AddressWrap && kind != FaultKind::Unsupported;
}

/// LLVM may have made one access of two that stood on different paths, and then the line is one of theirs; the address
/// tells. That of shared memory is an offset to those who count from the block's window.
bool isSame(const Fault& seen, const Fault& fault, const BlockFrame& frame) {
  if (seen.kind != fault.kind) return false;
  if (fault.ptxLine == 0 || seen.ptxLine == fault.ptxLine) return true;
  const uint64_t window = reinterpret_cast<uint64_t>(frame.shared);
  const auto inWindow = window + static_cast<uint64_t>(int64_t{static_cast<int32_t>(seen.address)});
  return fault.kind == FaultKind::IllegalAddress && (seen.address == fault.address || inWindow == fault.address);
}

}  // namespace

void nameThread(const GridLaunch& launch, const BlockFrame& frame, Fault& fault) {
  if (!kMayFaultAgain || fault.namesThread || !launch.replay || !isRepeatable(fault.kind)) return;
  const std::shared_ptr<const Executable> replay = launch.replay();
  if (!replay) return;
  BlockFrame again = frame;  // what lay in shared memory is gone with the block
  again.counters = nullptr;
  again.resumes = 0;
  auto seen = runGuarded(*replay, again);
  if (!seen || !isSame(*seen, fault, frame)) return;
  fault = std::move(*seen);
}

}  // namespace ordito::machine
