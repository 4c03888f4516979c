// Blocks that do what another has done need not be listened to.
//
// Where a kernel's addresses and conditions follow from the launch alone (proof_plan.hpp), the blocks of a launch fall
// into few classes: in the middle, at an edge, in a corner. One block of each is run as without proofs and watched: for
// each instruction the bytes that it touches, and for each condition that blockIdx goes into how far it was from coming
// out otherwise. That says exactly which other blocks are in its class, and the bytes that these touch are its own,
// shifted. What loaded data decides is left open where that does no harm: reads of objects that nobody writes, atomic
// operations on objects with no others, fetches from textures that nobody writes; these accesses are listened to in all
// blocks, for their bounds. Open accesses to shared memory count as if each lane had touched all of the array, and must
// not race even so; of those that data decides about counts what they could do at most (covers.hpp). What happens
// inside of a block (shared memory, local memory, barriers, races of its threads) is the same in all of a class. What
// remains is arithmetic on ranges: do the shifted ones stay in their objects, are they aligned, and do two blocks touch
// one byte, one of them with a write? If all of that is well and the watched blocks had no finding, the others have
// none either.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "check/footprint.hpp"
#include "check/launch.hpp"
#include "check/open_accesses.hpp"
#include "check/proof_plan.hpp"
#include "check/races.hpp"
#include "machine/image.hpp"

namespace ordito::check {

class Proof {
 public:
  /// What one instruction does to global memory in a block.
  struct Site {
    const ptx::Function* function;
    uint32_t line;
    bool writes, isStrong;
    uint32_t bytes;  // of a lane, at most
    ir::BlockStep step;
    Object object;
    Footprint touched;
  };

  /// Null where nothing can be said. `checksValues`: blocks may only read what has been written.
  static std::shared_ptr<Proof> of(const machine::LaunchEvent& event, std::shared_ptr<Launch> launch,
                                   bool checksValues);

  /// How many of `count` blocks, from that one on, are in a class that is known. 0: the block is the first of a class,
  /// and is watched from now on.
  uint32_t alike(const machine::BlockFrame& frame, uint32_t count);
  /// `isWritten`: somebody else sees to it that it reads only what has been written.
  void accessed(const machine::AccessEvent& access, bool isWritten);
  void comesToGuard(const machine::OperandsEvent& guard);
  void synchronised(const machine::SyncEvent& sync);
  void blockChanged(const machine::BlockEvent& block);
  /// Lines that are listened to in all blocks, and where their accesses must stay.
  const std::vector<OpenAccesses::Line>& openLines() const { return openLines_; }
  /// All classes are known.
  bool holds();
  bool usesGlobalAlone() const { return plan_.usesGlobalAlone; }
  /// Are there accesses of which all blocks must tell?
  bool leavesOpen() const { return plan_.leavesOpen(); }
  /// As it was before any block ran.
  std::shared_ptr<Proof> again() const;
  /// What the blocks that were not watched write is defined.
  void define() const;
  const std::vector<Object>& objects() const { return objects_; }
  /// How many blocks were not watched.
  uint64_t unwatched() const { return classOf_.size() - classes_.size(); }
  /// Calls visit(site, range) for the bytes that blocks touch which were not watched, of the sites that isWanted(site).
  template <class Visit, class Test>
  void forEachUnwatched(Visit visit, Test isWanted) const;

 private:
  struct Class {
    BlockNumber first;
    std::unordered_map<uint32_t, GuardMargin> margins;
    std::optional<std::vector<Limit>> limits;         // of all margins, once the block has run
    std::map<std::pair<uint32_t, bool>, Site> sites;  // by line and whether it writes
  };

  /// An object that open accesses go to.
  struct OpenObject {
    Object object;
    bool isRead = false, isChanged = false;   // anywhere
    std::vector<machine::Image> images = {};  // in it, of which any texel may be fetched
    bool isWritten() const;                   // what may be read
  };
  /// What open and covered accesses to shared memory could have touched, between two meetings of threads.
  struct MayRace {
    explicit MayRace(const std::shared_ptr<Launch>& launch)
        : shared(Races::share()), races(*launch, shared, Races::first(*shared, launch)) {}
    std::shared_ptr<Races::Shared> shared;
    Races races;
    Findings findings;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> lanes;  // by line and warp
  };

  Proof(ProofPlan plan, std::shared_ptr<Launch> launch, const BlockNumber& grid, bool checksValues)
      : plan_(std::move(plan)), launch_(std::move(launch)), grid_(grid), checksValues_(checksValues) {
    classOf_.resize(uint64_t{grid[0]} * grid[1] * grid[2]);
    if (!plan_.open.empty() || !plan_.covered.empty()) may_ = std::make_unique<MayRace>(launch_);
  }

  void giveUp() { isOpen_ = false; }
  void findOpenObjects(const machine::BlockFrame& frame);
  bool findOpenTexture(uint32_t line, uint64_t handle);
  void touchOpen(const machine::AccessEvent& access);
  void touchAll(const machine::AccessEvent& access);
  void mayTouch(const machine::AccessEvent& access, const Object& object);
  void mayStore(const machine::AccessEvent& access);
  bool areOpenObjectsFine() const;
  uint32_t alikeInRow(Class& one, const BlockNumber& block, uint32_t count) const;
  void touch(const machine::AccessEvent& access, bool writes, const uint32_t* sizes);
  bool readsWhatIsWritten(const machine::AccessEvent& access) const;
  Site* siteOf(const machine::AccessEvent& access, bool writes);
  template <class Visit>
  bool forEachBlock(Visit visit) const;
  template <class Visit>
  bool forEachSite(const Object& object, Visit visit) const;
  bool staysInside() const;
  bool staysInside(const Class& c, const Site& site) const;
  bool isDefined() const;
  bool collectObjects();
  bool isRaceFree(const Object& object) const;
  std::optional<bool> liesApart(const Object& object) const;
  bool comparesBlocks(const Object& object) const;

  static constexpr size_t kMostClasses = 64;
  static constexpr uint64_t kMostBlocks = uint64_t{1} << 24;

  const ProofPlan plan_;
  const std::shared_ptr<Launch> launch_;
  const BlockNumber grid_;
  const bool checksValues_;
  bool isOpen_ = true;
  std::vector<Class> classes_;
  std::vector<uint8_t> classOf_;  // by number of the block
  LastOperands lastOperands_;     // of the block that is watched
  uint8_t last_ = 0;              // of the block that was asked about last
  std::vector<Object> objects_;   // that the sites lie in; those that are written come first
  size_t written_ = 0;
  std::map<uint64_t, OpenObject> openObjects_;  // of global memory, by begin
  std::vector<OpenAccesses::Line> openLines_;
  bool knowsOpenObjects_ = false;
  std::unique_ptr<MayRace> may_;  // null: there are none such
};

/// Ranges of neighbouring blocks are often neighbours: they are visited as one.
template <class Visit, class Test>
void Proof::forEachUnwatched(Visit visit, Test isWanted) const {
  for (size_t c = 0; c < classes_.size(); ++c)
    for (const auto& [key, site] : classes_[c].sites) {
      if (!isWanted(site)) continue;
      const auto ranges = site.touched.ranges();
      std::vector<Range> waiting;
      int64_t last = 0;  // where the watched block is
      std::unordered_map<int64_t, bool> seen;
      bool repeats = false;
      for (size_t d = 0; d < 3; ++d) repeats |= site.step[d] == 0 && std::array{grid_[0], grid_[1], grid_[2]}[d] > 1;
      forEachBlock([&](uint8_t of, const BlockNumber& block) {
        const int64_t by = distance(site.step, classes_[c].first, block);
        if (of != c || by == 0 || (by == last && !waiting.empty())) return true;
        if (repeats && !seen.try_emplace(by).second) return true;
        last = by;
        for (size_t k = 0; k < ranges.size(); ++k) {
          const Range r{ranges[k].begin + static_cast<uint64_t>(by), ranges[k].end + static_cast<uint64_t>(by)};
          if (waiting.size() < ranges.size()) {
            waiting.push_back(r);
          } else if (waiting[k].end == r.begin) {
            waiting[k].end = r.end;
          } else {
            visit(site, waiting[k]);
            waiting[k] = r;
          }
        }
        return true;
      });
      for (const Range& r : waiting) visit(site, r);
    }
}

/// Calls visit(class, site) for those in the object, until it answers false; says whether it never has.
template <class Visit>
bool Proof::forEachSite(const Object& object, Visit visit) const {
  for (const Class& c : classes_)
    for (const auto& [key, site] : c.sites)
      if (site.object.begin == object.begin && !visit(c, site)) return false;
  return true;
}

/// Calls visit(class, block) for all blocks in order, until it answers false; says whether it never has.
template <class Visit>
bool Proof::forEachBlock(Visit visit) const {
  uint64_t number = 0;
  BlockNumber block{};
  for (block[2] = 0; block[2] < grid_[2]; ++block[2])
    for (block[1] = 0; block[1] < grid_[1]; ++block[1])
      for (block[0] = 0; block[0] < grid_[0]; ++block[0], ++number)
        if (!visit(classOf_[number], block)) return false;
  return true;
}

}  // namespace ordito::check
