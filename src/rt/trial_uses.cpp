// See trial_uses.hpp.
#include "rt/trial_uses.hpp"

#include <algorithm>
#include <optional>

namespace ordito::rt {

TrialUses::TrialUses(std::vector<Site> sites, const std::vector<TrialStorage*>& used, uint32_t since)
    : sites_(std::move(sites)) {
  // Room that is not used costs nothing.
  uint64_t most = 0;
  for (const TrialStorage* storage : used) most += storage->touched.size() * TrialStorage::kChunk >> storage->shift;
  bytes_.reserve(most);
  for (const TrialStorage* storage : used) add(*storage, since);
}

void TrialUses::add(const TrialStorage& storage, uint32_t since) {
  allocations_.push_back({storage.begin, storage.bytes, storage.shift, storage.isWritten});
  for (uint64_t chunk = 0; chunk < storage.touched.size(); ++chunk) {
    if (storage.hasMarks(chunk)) addMarks(storage, chunk);
    if (storage.hasCells(chunk)) addCells(storage, chunk, since);
  }
}

namespace {

bool areAlike(const uint8_t* bytes, uint64_t count) {
  uint8_t differs = 0;
  for (uint64_t k = 0; k < count; ++k) differs |= bytes[k] ^ bytes[0];
  return differs == 0;
}

}  // namespace

void TrialUses::addMarks(const TrialStorage& storage, uint64_t chunk) {
  const uint64_t begin = storage.begin + chunk * TrialStorage::kChunk, units = storage.unitsOf(chunk);
  const uint8_t* const marks = storage.markOf(begin);
  const bool isUniform = areAlike(marks, units);
  pieces_.push_back({begin, static_cast<uint32_t>(units), static_cast<uint32_t>(allocations_.size() - 1), true,
                     isUniform, bytes_.size()});
  bytes_.insert(bytes_.end(), marks, marks + (isUniform ? std::min<uint64_t>(units, 1) : units));
}

void TrialUses::addCells(const TrialStorage& storage, uint64_t chunk, uint32_t since) {
  const uint64_t begin = storage.begin + chunk * TrialStorage::kChunk, units = storage.unitsOf(chunk);
  const uint32_t* const cells = storage.cellOf(begin);
  uint8_t how[TrialStorage::kChunk];
  for (uint64_t k = 0; k < units; ++k) {
    const uint32_t c = cells[k];
    const uint8_t touch = (c & cell::kKind) == cell::kStrong ? kStrong : kRead;
    how[k] = c < since ? kNothing : (c & cell::kDefined) ? kWritten : touch;
  }
  const uint64_t rows = ((units << storage.shift) + TrialStorage::kRow - 1) / TrialStorage::kRow;
  const uint8_t* const writers = storage.writers.data() + chunk * TrialStorage::kChunk / TrialStorage::kRow;
  const bool isUniform = areAlike(how, units) && areAlike(writers, rows);
  pieces_.push_back({begin, static_cast<uint32_t>(units), static_cast<uint32_t>(allocations_.size() - 1), false,
                     isUniform, bytes_.size()});
  bytes_.insert(bytes_.end(), how, how + (isUniform ? std::min<uint64_t>(units, 1) : units));
  bytes_.insert(bytes_.end(), writers, writers + (isUniform ? std::min<uint64_t>(rows, 1) : rows));
}

/// Calls each(run) for the runs of a piece.
template <class Each>
void TrialUses::forEachRun(const Piece& piece, Each each) const {
  if (piece.units == 0) return;
  const unsigned shift = allocations_[piece.allocation].shift;
  const uint8_t* const units = bytes_.data() + piece.at;
  const uint8_t* const writers = units + (piece.isUniform ? 1 : piece.units);
  const auto runAt = [&](uint64_t k, uint64_t end) {
    const uint8_t unit = units[piece.isUniform ? 0 : k];
    const uint64_t row = piece.isUniform ? 0 : (k << shift) / TrialStorage::kRow;
    const uint8_t site = piece.areMarks ? unit : unit >= kWritten ? writers[row] : uint8_t{0};
    const How how = piece.areMarks ? (unit ? kRead : kNothing) : static_cast<How>(unit);
    return Run{piece.begin + (k << shift), piece.begin + (end << shift), how, site};
  };
  if (piece.isUniform) return each(runAt(0, piece.units));
  for (uint64_t k = 0; k < piece.units; ++k) each(runAt(k, k + 1));
}

/// One that does such things, if it is not known which.
const TrialUses::Site* TrialUses::siteOf(const Run& run) const {
  const auto fits = [&](const Site& s) { return s.writes == (run.how != kRead) && s.isStrong == (run.how == kStrong); };
  const auto exact =
      std::ranges::find_if(sites_, [&](const Site& s) { return run.site && s.number == run.site && fits(s); });
  if (exact != sites_.end()) return &*exact;
  const auto any = std::ranges::find_if(sites_, fits);
  return any == sites_.end() ? nullptr : &*any;
}

/// Of the allocations that are wanted.
void TrialUses::spell(const std::vector<bool>& wanted, const Visit& visit) const {
  std::optional<Run> last;
  const auto tell = [&] {
    if (const Site* const site = last && last->how != kNothing ? siteOf(*last) : nullptr)
      visit(last->begin, last->end - last->begin, *site);
  };
  for (const Piece& piece : pieces_) {
    if (!wanted[piece.allocation]) continue;
    forEachRun(piece, [&](const Run& run) {
      if (last && last->end == run.begin && last->how == run.how && last->site == run.site) {
        last->end = run.end;
        return;
      }
      tell();
      last = run;
    });
  }
  tell();
}

void TrialUses::forEach(const Visit& visit) const { spell(std::vector<bool>(allocations_.size(), true), visit); }

void TrialUses::forEachWritten(const Visit& visit) const {
  std::vector<bool> wanted;
  for (const Allocation& a : allocations_) wanted.push_back(!a.wasWritten);
  spell(wanted, [&](uint64_t begin, uint64_t bytes, const Site& site) {
    if (site.writes && !site.isStrong) visit(begin, bytes, site);
  });
}

}  // namespace ordito::rt
