// See trial.hpp. Here is what is not done at each access: finding objects and allocations, blocks, time, and the end.
#include "rt/trial.hpp"

#include <algorithm>

#include "machine/fault.hpp"
#include "machine/lanes.hpp"
#include "machine/undefined.hpp"

namespace ordito::rt {

using machine::AccessKind;
using machine::AccessSpace;

namespace {

constexpr uint32_t kTime = 1u << cell::kTimeShift;

TrialOp opOf(AccessKind kind) {
  switch (kind) {
    case AccessKind::Store:
    case AccessKind::MatrixStore: return TrialOp::Write;
    case AccessKind::Atomic:
    case AccessKind::Reduction: return TrialOp::Strong;
    default: return TrialOp::Read;
  }
}

bool isInMemory(AccessSpace space) {
  return space == AccessSpace::Global || space == AccessSpace::Constant || space == AccessSpace::Generic;
}

}  // namespace

Trial::Trial(const Layout& layout, Find find, std::unique_ptr<TrialMemory> memory)
    : layout_(layout),
      find_(std::move(find)),
      loops_(trialLoops()),
      memory_(memory ? std::move(memory) : std::make_unique<TrialMemory>()),
      shared_(memory_->shared((layout.sharedBytes >> layout.sharedShift) + TrialStorage::kMargin)),
      sites_(64),
      warps_((layout.threads + machine::kWarpSize - 1) / machine::kWarpSize),
      now_(memory_->now) {
  step();
  launch_ = block_ = interval_ = now_;
}

void Trial::doubt(const BlockFrame* frame, const char* why) {
  reason_ = why;
  machine::raiseFault(*frame, machine::FaultKind::Unsupported, 0, 0, why);
}

// --- time

void Trial::step() {
  if (now_ >> cell::kTimeShift >= cell::kTimes - 2) rebase();
  memory_->now = now_ += kTime;
}

/// Times become small numbers again: cells of earlier launches are none, those of earlier blocks are one step old, and
/// those of the block keep their distances.
void Trial::rebase() {
  const uint32_t launch = launch_, block = block_, by = block - 2 * kTime;
  memory_->forEachPieceOfCells([&](uint32_t* cells, uint64_t count) {
    for (uint64_t k = 0; k < count; ++k) {
      const uint32_t old = cells[k];
      cells[k] = old < launch ? 0 : old < block ? kTime | (old & (kTime - 1)) : old - by;
    }
  });
  for (uint32_t* time : {&now_, &interval_, &block_}) *time -= by;
  for (uint32_t& time : warps_) time = std::max(time, block) - by;
  launch_ = kTime;
}

void Trial::block(const machine::BlockEvent& event) {
  if (event.kind == machine::BlockEvent::Kind::End) {
    isRunning_ = false;
    return;
  }
  if (isRunning_ || event.frame.resumes) doubt(&event.frame, "blocks wait for each other");
  isRunning_ = true;
  ++blocks_;
  step();
  block_ = interval_ = now_;
  std::ranges::fill(warps_, now_);
  if (++tag_ == 0) std::ranges::fill(local_, uint8_t{0}), tag_ = 1;
  if (local_.size() < event.frame.localBytes) local_.resize(event.frame.localBytes);
}

void Trial::allMet() {
  step();
  interval_ = now_;
  std::ranges::fill(warps_, now_);
}

/// Threads that are not there have ended.
void Trial::arrive(const BlockFrame* frame, uint32_t warp, uint32_t lanes) {
  const uint32_t there = std::min(layout_.threads - warp * machine::kWarpSize, machine::kWarpSize);
  const uint32_t all = there == machine::kWarpSize ? ~0u : (1u << there) - 1;
  if (lanes != all && layout_.mayLeave) doubt(frame, "a thread is missing at a barrier");
}

/// Only a warp that meets as a whole has met. What lanes exchange they take from lanes that are there.
void Trial::meeting(const BlockFrame* frame, uint32_t warp, uint32_t lanes, const uint32_t* members,
                    bool ordersMemory) {
  bool isWhole = lanes == ~0u, isFine = true;
  uint32_t named = ~0u;  // by all
  for (uint32_t l = 0; l < machine::kWarpSize && isWhole; ++l) named &= members[l];
  if (!isWhole || named != ~0u)
    machine::forEachLane(lanes, [&](uint32_t l) {
      isWhole &= members[l] == lanes;
      isFine &= (members[l] >> l & 1) != 0 && (members[l] & ~lanes) == 0;
    });
  if (!isFine || (!ordersMemory && !isWhole)) doubt(frame, "not all lanes of a warp are there");
  if (!ordersMemory || !isWhole) return;
  step();
  warps_[warp] = now_;
}

// --- where accesses go

/// The first access of an instruction.
Trial::Site& Trial::meet(const BlockFrame* frame, const AccessSite* site, uint64_t address) {
  if (site->number >= sites_.size()) sites_.resize(2 * size_t{site->number});
  Site& s = sites_[site->number];
  s = {.site = site,
       .function = &frame->functions[site->at.function],
       .op = opOf(static_cast<AccessKind>(site->kind)),
       .space = static_cast<AccessSpace>(site->space)};
  if (s.op == TrialOp::Strong && isInMemory(s.space) &&
      static_cast<machine::MemoryScope>(site->scope) < machine::MemoryScope::Gpu)
    doubt(frame, "an atomic operation of a block");
  const machine::AccessEvent event{.at = {*frame, *s.function, site->at.line, 0, 1},
                                   .kind = static_cast<AccessKind>(site->kind),
                                   .space = s.space == AccessSpace::Generic ? AccessSpace::Global : s.space,
                                   .bytes = site->bytes,
                                   .base = address};
  const auto object = find_(event);
  s.isFound = object || s.space == AccessSpace::Shared;
  s.high = layout_.sharedBytes;
  if (!object) return s.high *= s.space == AccessSpace::Shared, s;
  s.low = object->begin, s.high = object->begin + object->bytes, s.isOnlyRead = object->isOnlyRead;
  if (!isInMemory(s.space)) return s;
  s.storage = storageAt(s.low);
  if (!s.storage) doubt(frame, "memory that nobody knows");
  return s;
}

/// The access is not where the last one was.
void Trial::place(const BlockFrame* frame, Site& s, uint64_t low, uint64_t high) {
  if (s.isFound) doubt(frame, "an access outside of its object");
  s.storage = storageAt(low);
  if (!s.storage || high > s.storage->end()) doubt(frame, "an access to memory that does not exist");
  s.low = s.storage->begin, s.high = s.storage->end();
}

TrialStorage* Trial::storageAt(uint64_t address) {
  bool isNew = false;
  TrialStorage* const storage = memory_->at(address, layout_.globalShift, &isNew);
  if (isNew)
    storage->isWritten =
        !layout_.followsValues || machine::undefinedMemory()->isDefined(storage->begin, storage->bytes);
  return storage;
}

// --- afterwards

std::shared_ptr<const TrialUses> Trial::uses() const {
  std::vector<TrialUses::Site> sites;
  for (const Site& s : sites_)
    if (s.site && isInMemory(s.space))
      sites.push_back({s.function, s.site->at.line, s.site->bytes, static_cast<AccessKind>(s.site->kind),
                       s.op != TrialOp::Read, s.op == TrialOp::Strong, s.number()});
  return std::make_shared<TrialUses>(std::move(sites), memory_->used(), launch_);
}

}  // namespace ordito::rt
