// See racing_kernel.hpp.
#include "jit/racing_kernel.hpp"

#include <time.h>
#include <x86intrin.h>

namespace ordito::jit {

uint64_t threadNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

machine::BlockStatus RacingKernel::run(const CompiledKernel& variant, Race::Variant which, machine::BlockFrame& frame,
                                       uint32_t count) const {
  if (race_.isOver()) return variant.CompiledKernel::runBlocks(frame, count);
  if (!entered_.load(std::memory_order_relaxed)) return runAlone(frame, count);
  const uint64_t first = frame.block(), start = rules_.clock();
  const machine::BlockStatus status = variant.CompiledKernel::runBlocks(frame, count);
  if (race_.ran(which, frame.block() - first + 1, rules_.clock() - start) && callbacks_.end)
    callbacks_.end(*race_.winner(), race_.perBlock(*race_.winner()));
  return status;
}

machine::BlockStatus RacingKernel::runAlone(machine::BlockFrame& frame, uint32_t count) const {
  if (spent_.load(std::memory_order_relaxed) > rules_.patience) return CompiledKernel::runBlocks(frame, count);
  const uint64_t start = __rdtsc();
  const machine::BlockStatus status = CompiledKernel::runBlocks(frame, count);
  const uint64_t ticks = __rdtsc() - start, before = spent_.fetch_add(ticks, std::memory_order_relaxed);
  const bool isTheOne = before <= rules_.patience && before + ticks > rules_.patience;
  if (isTheOne && callbacks_.askForContender) callbacks_.askForContender();
  return status;
}

}  // namespace ordito::jit
