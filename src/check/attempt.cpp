// See attempt.hpp.
#include "check/attempt.hpp"

#include <algorithm>
#include <cstring>

#include "check/touch.hpp"
#include "machine/lanes.hpp"

namespace ordito::check {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using machine::undefinedMemory;

namespace {

constexpr size_t kMostPages = 1 << 16;  // 256 MB

uint64_t begin(const AccessEvent& access, AccessSpace space) {
  return space == AccessSpace::Shared ? reinterpret_cast<uint64_t>(access.at.frame.shared) : 0;
}

/// Calls visit(address in the process, bytes).
template <class Visit>
void forEachPiece(const AccessEvent& access, Visit visit) {
  const uint64_t from = begin(access, access.space);
  if (const uint64_t bytes = bytesInOnePiece(access))
    visit(from + access.addressOf(static_cast<uint32_t>(std::countr_zero(access.at.lanes))), bytes);
  else
    machine::forEachLane(access.at.lanes, [&](uint32_t l) { visit(from + access.addressOf(l), access.bytes); });
}

}  // namespace

void Attempt::save(uint64_t address, uint64_t bytes) {
  for (uint64_t number = address / kPage; number * kPage < address + bytes; ++number) {
    if (number == lastPage_) continue;
    lastPage_ = number;
    std::unique_ptr<Page>& page = pages_[number];
    if (page) continue;
    page = std::make_unique<Page>();
    std::memcpy(page->bytes.data(), reinterpret_cast<const void*>(number * kPage), kPage);
    for (uint64_t k = 0; k < page->undefined.size(); ++k)
      page->undefined[k] = undefinedMemory()->at(number * kPage + k * kPiece, kPiece);
    hasFailed_ |= pages_.size() > kMostPages;
  }
}

/// Shared memory and that of threads are new in every block, and need not be saved.
void Attempt::allowed(const AccessEvent& access) {
  const bool writes = doesWrite(access.kind), reads = !writes || isAtomic(access.kind);
  const bool isGlobal = access.space == AccessSpace::Global;
  forEachPiece(access, [&](uint64_t address, uint64_t bytes) {
    if (reads && access.kind != AccessKind::Mbarrier) hasFailed_ |= !undefinedMemory()->isDefined(address, bytes);
    if (writes && isGlobal) save(address, bytes);
  });
}

void Attempt::accessed(const AccessEvent& access) {
  const auto define = [&](uint64_t address, uint64_t bytes) {
    undefinedMemory()->define(address, bytes, access.bytes);
  };
  if (access.kind == AccessKind::Copy)
    machine::forEachLane(access.at.lanes,
                         [&](uint32_t l) { define(begin(access, access.toSpace) + access.targets[l], access.bytes); });
  else if (doesWrite(access.kind) || access.kind == AccessKind::Mbarrier)
    forEachPiece(access, define);
}

/// A lane may take the value of one that does not take part.
void Attempt::synchronised(const machine::SyncEvent& sync) {
  if (sync.kind != machine::SyncEvent::Kind::WarpSync || sync.ordersMemory) return;
  hasFailed_ |= sync.at.lanes != ~0u || sync.mask != ~0u;
}

void Attempt::blockChanged(const machine::BlockEvent& block) {
  const auto change = [&](uint64_t address, uint64_t bytes) {
    if (block.kind == machine::BlockEvent::Kind::Begin)
      undefinedMemory()->undefine(address, bytes);
    else
      undefinedMemory()->define(address, bytes);
  };
  change(reinterpret_cast<uint64_t>(block.frame.shared), block.frame.totalSharedBytes);
  change(reinterpret_cast<uint64_t>(block.frame.local), block.frame.localBytes);
}

void Attempt::takeBack() {
  for (const auto& [number, page] : pages_) {
    std::memcpy(reinterpret_cast<void*>(number * kPage), page->bytes.data(), kPage);
    for (uint64_t k = 0; k < page->undefined.size(); ++k)
      undefinedMemory()->restore(number * kPage + k * kPiece, kPiece, page->undefined[k]);
  }
  pages_.clear();
}

}  // namespace ordito::check
