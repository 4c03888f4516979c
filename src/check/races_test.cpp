// The quick way of the rules on races against the exact one: random accesses, barriers and meetings of warps, and both
// must convict at the same step.
#include "check/races.hpp"

#include <gtest/gtest.h>

#include <random>

#include "check/launch.hpp"
#include "check/test_launch.hpp"

namespace ordito::check {
namespace {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using machine::SyncEvent;

/// One launch that both ways hear of.
class Judge {
 public:
  Judge(const ptx::Module& module, const std::shared_ptr<Races::Shared>& shared)
      : launch_(std::make_shared<Launch>(testLaunch(module))),
        races_(*launch_, shared, Races::first(*shared, launch_)) {}
  void accessed(const AccessEvent& e) { races_.accessed(e, findings_); }
  void synchronised(const SyncEvent& e) { races_.synchronised(e); }
  bool convicts() const { return !findings_.all().empty(); }

 private:
  Findings findings_;
  std::shared_ptr<Launch> launch_;
  Races races_;
};

class Fuzz {
 public:
  explicit Fuzz(uint32_t seed) : random_(seed) {
    for (uint32_t b = 0; b < kBlocks; ++b) frames_[b] = testFrame(b);
  }

  /// At how many of `steps` one convicts and the other does not, and how many of all the exact way has convicted.
  void run(uint32_t cases, uint32_t steps, bool isStrong, uint32_t* wrong, uint32_t* racy) {
    for (uint32_t c = 0; c < cases; ++c) {
      Judge quick(module_, Races::share()), exact(module_, Races::share(true));
      usual_ = pick(4);
      for (uint32_t s = 0; s < steps && !exact.convicts() && !quick.convicts(); ++s) step(quick, exact, isStrong);
      *wrong += quick.convicts() != exact.convicts();
      *racy += exact.convicts();
    }
  }

 private:
  uint32_t pick(uint32_t count) { return static_cast<uint32_t>(random_() % count); }

  void step(Judge& quick, Judge& exact, bool isStrong) {
    const uint32_t block = pick(kBlocks), warp = pick(kWarps);
    const machine::WarpSite at{frames_[block], module_.functions[0], 1 + pick(3), warp, ~0u};
    const uint32_t what = pick(isStrong ? 4000 : 12);
    if (what == 0) return tell(quick, exact, SyncEvent{.at = at, .kind = SyncEvent::Kind::BarrierDone});
    if (what == 1)
      return tell(quick, exact,
                  SyncEvent{.at = at, .kind = SyncEvent::Kind::WarpSync, .mask = ~0u, .ordersMemory = true});
    if (what == 2) {
      const uint32_t met[kWarps] = {~0u, ~0u, 0};
      return tell(quick, exact,
                  SyncEvent{.at = at, .kind = SyncEvent::Kind::BarrierDone, .number = 1, .threads = 64, .met = met});
    }
    access(quick, exact, at, isStrong);
  }

  static void tell(Judge& quick, Judge& exact, const SyncEvent& e) { quick.synchronised(e), exact.synchronised(e); }

  /// Mostly a thread's own place, so that it takes a while until something races.
  void access(Judge& quick, Judge& exact, machine::WarpSite at, bool isStrong) {
    AccessEvent e{.at = at, .kind = AccessKind::Load, .space = pick(2) ? AccessSpace::Shared : AccessSpace::Global};
    if (isStrong || pick(8) == 0) e.kind = AccessKind::Atomic, e.order = machine::MemoryOrder::Relaxed;
    if (!isStrong && pick(2)) e.kind = AccessKind::Store, e.order = machine::MemoryOrder::Weak;
    if (isStrong && pick(3000) == 0) e.kind = AccessKind::Load, e.order = machine::MemoryOrder::Weak;
    if (pick(4) == 0) e.at.lanes = 0xffffu << pick(17);
    if (pick(8) == 0) e.at.lanes = static_cast<uint32_t>(random_()) | 1u;
    e.bytes = isStrong ? 4 : 1u << pick(4);
    const uint64_t from = e.space == AccessSpace::Shared ? 0 : reinterpret_cast<uint64_t>(memory_.data());
    const uint32_t own = (at.warp * kLanes + (e.space == AccessSpace::Global ? at.frame.ctaid[0] * 96 : 0)) * 8;
    uint64_t addresses[kLanes], stored[kLanes];
    for (uint32_t l = 0; l < kLanes; ++l) addresses[l] = from + own + l * 8, stored[l] = pick(2);
    const uint32_t shape = isStrong ? pick(3) : pick(20);
    if (shape == 0 || (shape > 3 && usual_ == 0)) e.base = from + own, e.stride = 8;
    if (shape == 1) e.base = from + pick(16) * 8, e.stride = 0;
    if (shape == 2)
      for (uint64_t& a : addresses) a = from + pick(isStrong ? 8 : 200) * 8;
    if (shape == 3 || (shape > 3 && usual_ == 1)) e.base = from + at.warp * 256 + e.bytes * pick(2), e.stride = e.bytes;
    if (!e.base && !e.stride && shape != 1) e.addresses = addresses;
    if (e.kind == AccessKind::Store) e.stored = stored;
    quick.accessed(e), exact.accessed(e);
  }

  std::mt19937 random_;
  uint32_t usual_ = 0;
  const ptx::Module module_ = testModule();
  machine::BlockFrame frames_[kBlocks] = {};
  std::array<std::byte, size_t{kBlocks} * kWarps * kLanes * 8 + kBytes> memory_ alignas(128) = {};
};

TEST(Races, RowsConvictWhatWordsConvict) {
  uint32_t wrong = 0, racy = 0;
  Fuzz(1).run(4000, 30, false, &wrong, &racy);
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(racy, 1000u);
  EXPECT_LT(racy, 3999u);
}

TEST(Races, ThinnedRowsConvictTheSame) {
  uint32_t wrong = 0, racy = 0;
  Fuzz(2).run(8, 3000, true, &wrong, &racy);  // a row of shared memory is thinned from its 512th on
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(racy, 0u);
}

}  // namespace
}  // namespace ordito::check
