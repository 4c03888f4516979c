// PTX ISA, "Asynchronous copy" and "mbarrier". A copy is finished before the next instruction starts, which is one of
// the orders that the manual allows; so groups are always complete, and an arrival that waits for copies happens at
// once.
#include <fmt/format.h>

#include <cstring>

#include "interp/executor.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Type;
using machine::AccessKind;
using ptx::Operand;
using ptx::Space;

/// Bytes beyond the given source size are zeros; with a predicate that holds, all are. A null source is for the
/// hardware to refuse, not for a sanitizer.
__attribute__((no_sanitize("nonnull-attribute"))) void Executor::CpAsync() {
  const unsigned bytes = unsigned(read(2, Type::u32));
  uint64_t wanted = bytes;
  const Operand& size = operand(3);
  const bool isPolicy = has(ModifierKind::CacheHint) && !present(4);
  if (present(3) && !isPolicy) {
    const bool isPredicate =
        size.is(Operand::Kind::Register) && isa::isPredicate(thread_->top().plan->source->registers[size.reg].type);
    wanted = isPredicate ? (readPredicate(3) ? 0 : bytes) : read(3, Type::u32);
  }
  if (wanted > bytes)
    fault(machine::FaultKind::IllegalInstruction, 0, fmt::format("cp.async of {} bytes reads {}", bytes, wanted));
  std::byte buffer[16]{};
  Place from = locate(1, bytes, {AccessKind::Load, unsigned(wanted)});
  if (wanted != 0) std::memcpy(buffer, from.pointer, wanted);
  const Place to = locateIn(Space::Shared, 0, bytes, {AccessKind::Store});
  accesses_.addCopy(thread_->lane, from.address, to.address, bytes, unsigned(wanted));
  std::memcpy(to.pointer, buffer, bytes);
}

void Executor::CpAsyncCommit() { raiseSync({.kind = SyncKind::CopyCommit}); }
void Executor::CpAsyncWait() { raiseSync({.kind = SyncKind::CopyWait, .number = uint32_t(read(0, Type::u32))}); }
void Executor::CpAsyncWaitAll() { raiseSync({.kind = SyncKind::CopyWaitAll}); }

namespace {

/// The 64 bits of an mbarrier, which the manual calls opaque.
struct Mbarrier {
  static constexpr unsigned kCountBits = 20;
  uint64_t expected, pending;  // arrivals per phase; still missing in this one
  int64_t transactions;        // bytes that are still to come
  uint64_t phase;              // counts up; its lowest bit is the parity

  explicit Mbarrier(uint64_t bits)
      : expected(lowBits(bits, kCountBits)),
        pending(lowBits(bits >> kCountBits, kCountBits)),
        transactions(signExtend(bits >> 2 * kCountBits, 22)),
        phase(bits >> 62) {}
  uint64_t bits() const {
    return expected | pending << kCountBits | lowBits(uint64_t(transactions), 22) << 2 * kCountBits | phase << 62;
  }
  void advance() {
    if (pending != 0 || transactions != 0) return;
    phase = (phase + 1) & 3;
    pending = expected;
  }
};

}  // namespace

/// change(barrier) on the object at operand `address`; gives its old bits.
template <class F>
uint64_t Executor::mbarrier(size_t address, F change) {
  return changeMbarrier(locate(address, 8, {AccessKind::Mbarrier}), change);
}

void Executor::touchMbarrier(const Place& place) {
  if (place.space != Space::Shared)
    fault(machine::FaultKind::IllegalAddress, place.address, "an mbarrier must lie in shared memory");
  touch(machine::AccessKind::Mbarrier, place, 8);
}

template <class F>
uint64_t Executor::changeMbarrier(const Place& place, F change) {
  touchMbarrier(place);
  ++block_.frame.phaseSteps;
  const uint64_t old = load(place, 8).lo;
  Mbarrier barrier(old);
  change(barrier);
  store(place, 8, {barrier.bits(), 0});
  return old;
}

void Executor::MbarrierInit() {
  const uint64_t count = read(1, Type::u32);
  if (count == 0 || count >> Mbarrier::kCountBits)
    fault(machine::FaultKind::IllegalInstruction, 0, fmt::format("mbarrier.init with a count of {}", count));
  mbarrier(0, [&](Mbarrier& b) {
    b.expected = b.pending = count;
    b.transactions = 0;
    b.phase = 0;
  });
  raiseMbarrier(SyncKind::MbarrierInit, 0, uint32_t(count));
}

void Executor::MbarrierInval() {
  mbarrier(0, [](Mbarrier& b) { b = Mbarrier(0); });
  raiseMbarrier(SyncKind::MbarrierInvalidate, 0, 0);
}

void Executor::MbarrierExpectTx() {
  mbarrier(0, [&](Mbarrier& b) { b.transactions += int64_t(read(1, Type::u32)); });
}

void Executor::MbarrierCompleteTx() {
  mbarrier(0, [&](Mbarrier& b) {
    b.transactions -= int64_t(read(1, Type::u32));
    b.advance();
  });
}

/// Operand 2 says how many bytes from operand 1 to operand 0. `mbarrier`: the address of the one that is completed.
unsigned Executor::bulkCopy(Space to, Space from, uint64_t mbarrier) {
  constexpr unsigned kUnit = 16;
  const auto bytes = unsigned(read(2, Type::u32));
  if (bytes % kUnit != 0)
    fault(machine::FaultKind::IllegalInstruction, 0,
          fmt::format("cp.async.bulk of {} bytes, which is no multiple of {}", bytes, kUnit));
  const Place target = locateIn(to, 0, bytes, {AccessKind::Store, bytes, false}),
              source = locateIn(from, 1, bytes, {AccessKind::Load, bytes, false});
  for (const Place& place : {target, source})
    if (place.address % kUnit != 0)
      fault(machine::FaultKind::MisalignedAddress, place.address,
            fmt::format("cp.async.bulk at {:#x}, which is no multiple of {}", place.address, kUnit));
  raiseBulkCopy(target, source, bytes, mbarrier);
  if (mayChange(target)) std::memmove(target.pointer, source.pointer, bytes);
  return bytes;
}

/// The barrier learns of the bytes at once. A cluster has one block, so .shared::cluster is the block's own memory.
void Executor::bulkCopyToShared(Space from) {
  const Place barrier = locateIn(Space::Shared, 3, 8, {AccessKind::Mbarrier});
  const unsigned bytes = bulkCopy(Space::Shared, from, barrier.address);
  changeMbarrier(barrier, [&](Mbarrier& b) {
    b.transactions -= int64_t(bytes);
    b.advance();
  });
  raiseSync({.kind = SyncKind::MbarrierBulk, .address = barrier.address});
}

void Executor::CpBulkLoad() { bulkCopyToShared(Space::Global); }
void Executor::CpBulkShared() { bulkCopyToShared(Space::Shared); }

void Executor::CpBulkStore() { bulkCopy(Space::Global, Space::Shared); }
void Executor::CpBulkPrefetch() {}
void Executor::CpBulkCommit() { raiseSync({.kind = SyncKind::BulkCommit}); }
void Executor::CpBulkWait() {
  raiseSync({.kind = has(isa::ModifierKind::ReadOfSource) ? SyncKind::BulkWaitRead : SyncKind::BulkWait,
             .number = uint32_t(read(0, Type::u32))});
}

/// All forms of arrive: `expects` bytes are announced first; an arrival that drops is not expected in later phases.
void Executor::mbarrierArrive(uint64_t count, uint64_t expects, bool drops) {
  const uint64_t state = mbarrier(1, [&](Mbarrier& b) {
    if (count > b.pending)
      fault(machine::FaultKind::IllegalInstruction, 0,
            fmt::format("{} arrivals at an mbarrier that waits for {}", count, b.pending));
    b.transactions += int64_t(expects);
    b.pending -= count;
    if (drops) b.expected -= count;
    b.advance();
  });
  raiseMbarrier(SyncKind::MbarrierArrive, 1, uint32_t(count));
  write(0, Type::b64, state);
}

void Executor::MbarrierArrive() { mbarrierArrive(present(2) ? read(2, Type::u32) : 1, 0, false); }
void Executor::MbarrierArriveNoComplete() { mbarrierArrive(read(2, Type::u32), 0, false); }
void Executor::MbarrierArriveExpectTx() { mbarrierArrive(1, read(2, Type::u32), false); }
void Executor::MbarrierDrop() { mbarrierArrive(present(2) ? read(2, Type::u32) : 1, 0, true); }
void Executor::MbarrierDropNoComplete() { mbarrierArrive(read(2, Type::u32), 0, true); }
void Executor::MbarrierDropExpectTx() { mbarrierArrive(1, read(2, Type::u32), true); }

/// Without .noinc the arrival was not counted in advance, so it changes nothing.
void Executor::CpAsyncMbarrierArrive() {
  raiseMbarrier(SyncKind::MbarrierCopies, 0, 1);
  if (!has(ModifierKind::NoIncrement)) return;
  mbarrier(0, [](Mbarrier& b) {
    --b.pending;
    b.advance();
  });
}

uint64_t Executor::mbarrierPhase() {
  const Place place = locate(1, 8, {AccessKind::Mbarrier});
  touchMbarrier(place);
  return Mbarrier(load(place, 8).lo).phase;
}

void Executor::mbarrierTested(bool isOver) {
  block_.frame.phaseSteps += isOver;
  if (isOver) raiseMbarrier(SyncKind::MbarrierPassed, 1, 0);
  writePredicate(0, isOver);
}

/// True when the phase that `state` belongs to is over.
void Executor::mbarrierTest() { mbarrierTested(Mbarrier(read(2, Type::b64)).phase != mbarrierPhase()); }

/// True when the phase of that parity is over, that is when the current one has the other.
void Executor::mbarrierTestParity() { mbarrierTested((mbarrierPhase() & 1) != (read(2, Type::u32) & 1)); }

void Executor::MbarrierTestWait() { mbarrierTest(); }
void Executor::MbarrierTryWait() { mbarrierTest(); }
void Executor::MbarrierTestParity() { mbarrierTestParity(); }
void Executor::MbarrierTryParity() { mbarrierTestParity(); }

void Executor::MbarrierPendingCount() { write(0, Type::u32, Mbarrier(read(1, Type::b64)).pending); }

}  // namespace ordito::interp
