// cp.async.bulk as compiled code does it: at once, with the checks that a GPU's copy engine makes.
#include "rt/bulk_copy.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <utility>

#include "machine/fault.hpp"
#include "rt/mbarrier.hpp"

namespace ordito::rt {

namespace {

constexpr uint64_t kUnit = 16;  // of sizes and addresses

/// Should the host refuse an address inside memmove, the hint says which line asked for it.
void copyWithHint(uint32_t line, uint64_t target, uint64_t source, uint64_t bytes) {
  machine::faultHint() = {line, false, {}};
  std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), bytes);
  machine::faultHint() = {};
}

}  // namespace

void copyInBulk(const machine::BlockFrame* frame, uint32_t line, uint32_t shared, uint64_t target, uint64_t source,
                uint64_t bytes, uint64_t mbarrier) {
  auto refuse = [&](machine::FaultKind kind, uint64_t address, const std::string& why) {
    machine::raiseFault(*frame, kind, line, address, why.c_str());
  };
  if (bytes % kUnit != 0)
    refuse(machine::FaultKind::IllegalInstruction, 0,
           fmt::format("cp.async.bulk of {} bytes, which is no multiple of {}", bytes, kUnit));
  for (const auto& [address, isShared] :
       {std::pair{target, shared & kSharedTarget}, {source, shared & kSharedSource}}) {
    const uint64_t offset = address - reinterpret_cast<uint64_t>(frame->shared), all = frame->totalSharedBytes;
    if (isShared && (offset > all || bytes > all - offset))
      refuse(machine::FaultKind::IllegalAddress, offset,
             fmt::format("cp of {} bytes at offset {:#x} of shared memory, of which the block has {} bytes", bytes,
                         offset, all));
    if (address % kUnit != 0)
      refuse(machine::FaultKind::MisalignedAddress, address,
             fmt::format("cp.async.bulk at {:#x}, which is no multiple of {}", address, kUnit));
  }
  copyWithHint(line, target, source, bytes);
  if (shared & kSharedTarget)
    workOnMbarrier(frame, line, static_cast<uint32_t>(MbarrierWork::CompleteTx), mbarrier, bytes);
}

}  // namespace ordito::rt
