// PTX ISA, "Parallel Synchronization and Communication Instructions": barriers, fences and atomics. (Votes, matches and
// reductions of a warp are in warp.cpp.)
#include <fmt/format.h>

#include <atomic>

#include "interp/executor.hpp"
#include "machine/memory_order.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;

namespace {

constexpr uint64_t kBarriers = 16;

}  // namespace

uint32_t Executor::barrierNumber(size_t operand) {
  const uint64_t barrier = read(operand, Type::u32);
  if (barrier >= kBarriers)
    fault(machine::FaultKind::IllegalInstruction, 0,
          fmt::format("barrier {}; a block has barriers 0 to {}", barrier, kBarriers - 1));
  return uint32_t(barrier);
}

uint32_t Executor::barrierThreads(size_t operand) {
  const uint64_t count = read(operand, Type::u32);
  if (count % machine::kWarpSize != 0)
    fault(machine::FaultKind::IllegalInstruction, 0,
          fmt::format("barrier with {} threads, which is no multiple of the warp size", count));
  return uint32_t(count);
}

/// bar.arrive: the threads are counted and go on. A whole warp counts as 32 threads even if some of its lanes do not
/// exist.
void Executor::arriveOnly() {
  raiseBarrier(SyncKind::BarrierArrive, 0, 1);
  const bool whole = active_ == warp_.live();
  bool counted = false;
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    uint32_t& arrivals = block_.arrivals[barrierNumber(0)];
    if (barrierThreads(1) == 0)
      fault(machine::FaultKind::IllegalInstruction, 0, "bar.arrive with a count of 0 threads");
    if (!whole)
      ++arrivals;
    else if (!counted)
      arrivals += machine::kWarpSize;
    counted = true;
  }
}

/// The lanes stop until Block finds the barrier complete. Negative operand numbers mean that the instruction has no
/// such operand.
void Executor::arrive(uint32_t barrierOperand, int countOperand, int valueOperand) {
  raiseBarrier(SyncKind::BarrierWait, int(barrierOperand), countOperand);
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    thread_->barrier = barrierNumber(barrierOperand);
    thread_->barrierThreads =
        countOperand >= 0 && present(size_t(countOperand)) ? barrierThreads(size_t(countOperand)) : 0;
    thread_->barrierByWarp = !instruction_->info().form.mnemonic.starts_with("barrier") || has(ModifierKind::Aligned);
    thread_->barrierValue = valueOperand >= 0 && readPredicate(size_t(valueOperand));
    thread_->state = Thread::State::AtBarrier;
  }
}

void Executor::BarSync() { arrive(0, 1, -1); }
void Executor::BarrierSync() { arrive(0, 1, -1); }
void Executor::BarArrive() { arriveOnly(); }
void Executor::BarrierArrive() { arriveOnly(); }
void Executor::BarRed() { arrive(1, 2, 3); }
void Executor::BarrierRed() { arrive(1, 2, 3); }

void Executor::finishBarrier(Thread& waiting, uint64_t arrived, uint64_t trueValues) {
  thread_ = &waiting;
  instruction_ = &waiting.top().plan->source->instructions[waiting.top().pc - 1];
  switch (instruction_->mods[ModifierKind::RedOp]) {
    case mod<ModifierKind::RedOp>("popc").value: return write(0, Type::u32, trueValues);
    case mod<ModifierKind::RedOp>("and").value: return writePredicate(0, trueValues == arrived);
    case mod<ModifierKind::RedOp>("or").value: return writePredicate(0, trueValues != 0);
    default: return;
  }
}

void Executor::Membar() { Fence(); }
void Executor::Fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  raiseSync({.kind = SyncKind::Fence,
             .order = machine::fenceOrder(*instruction_),
             .scope = machine::memoryScope(*instruction_),
             .number = machine::fencedProxies(*instruction_)});
}

// One block sees its own writes in order, whatever proxy they go through.
void Executor::FenceProxy() { Fence(); }
void Executor::FenceProxySpace() { Fence(); }
void Executor::FenceProxyGeneric() { Fence(); }
void Executor::FenceRestricted() { Fence(); }
void Executor::MembarProxy() { Fence(); }
void Executor::FenceMbarrierInit() { Fence(); }

// A cluster is one block: arriving only announces, and waiting is a barrier of its own number behind the others.
void Executor::BarrierClusterArrive() { Fence(); }
void Executor::BarrierClusterWait() {
  raiseBarrier(SyncKind::BarrierWait, -1, -1);
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    thread_->barrier = kBarriers;
    thread_->barrierThreads = 0;
    thread_->barrierValue = false;
    thread_->state = Thread::State::AtBarrier;
  }
}

/// Grids are launched one after the other, so whatever one depends on is there.
void Executor::GridDepControl() {}

void Executor::AtomExch128() { atomic128(false); }
void Executor::AtomCas128() { atomic128(true); }
void Executor::AtomVector() { vectorAtomic(true); }
void Executor::RedVector() { vectorAtomic(false); }
void Executor::AtomCas() { atomicInstruction(true); }
void Executor::Atom() { atomicInstruction(true); }
void Executor::Red() { atomicInstruction(false); }

}  // namespace ordito::interp
