// Trials against the exact rules on races: random accesses of blocks that run one after the other. What the rules
// convict, a trial must doubt; and it must not doubt everything.
#include "rt/trial.hpp"

#include <gtest/gtest.h>

#include <random>

#include "check/launch.hpp"
#include "check/races.hpp"
#include "check/test_launch.hpp"
#include "machine/fault.hpp"
#include "machine/memory.hpp"

namespace ordito::check {
namespace {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using machine::SyncEvent;

/// What one warp does.
struct Step {
  enum class Kind : uint8_t { Access, BlockMeets, WarpMeets } kind = Kind::Access;
  AccessKind access{};
  AccessSpace space{};
  uint32_t warp = 0, lanes = ~0u, bytes = 4;
  bool isAffine = false;
  uint64_t base = 0;
  int64_t stride = 0;
  std::array<uint64_t, kLanes> addresses{};
};

/// Does the blocks' steps in the place of compiled code.
class Script final : public machine::Executable {
 public:
  Script(rt::Trial& trial, const std::vector<Step>& steps, uint64_t memory)
      : trial_(trial), steps_(steps), memory_(memory) {}
  machine::BlockStatus runBlock(const machine::BlockFrame& frame) const override {
    trial_.block({machine::BlockEvent::Kind::Begin, frame, frame.functions[0]});
    for (const Step& step : steps_) take(frame, step);
    trial_.block({machine::BlockEvent::Kind::End, frame, frame.functions[0]});
    return machine::BlockStatus::Ended;
  }
  void abandon(const machine::BlockFrame&) const override {}
  bool canSuspend() const override { return false; }
  size_t scratchBytes() const override { return 0; }
  size_t localBytes() const override { return 0; }

 private:
  void take(const machine::BlockFrame& frame, const Step& step) const {
    static constexpr uint32_t kAll[kLanes] = {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
                                              ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
                                              ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};
    if (step.kind == Step::Kind::BlockMeets) return trial_.allMet();
    if (step.kind == Step::Kind::WarpMeets) return trial_.meeting(&frame, step.warp, ~0u, kAll, true);
    const bool isShared = step.space == AccessSpace::Shared;
    const uint64_t from = isShared ? reinterpret_cast<uint64_t>(frame.shared) : memory_;
    const rt::AccessSite& site = siteOf(step);
    if (step.isAffine) return trial_.access(&frame, &site, step.warp, step.lanes, from + step.base, step.stride);
    std::array<uint64_t, kLanes> addresses = step.addresses;
    for (uint64_t& a : addresses) a += from;
    trial_.access(&frame, &site, nullptr, step.warp, step.lanes, addresses.data());
  }

  /// An instruction for each kind, space and size.
  static const rt::AccessSite& siteOf(const Step& step) {
    static std::map<std::tuple<AccessKind, AccessSpace, uint32_t>, rt::AccessSite> sites;
    const auto [it, isNew] = sites.try_emplace({step.access, step.space, step.bytes});
    if (isNew)
      it->second = {.at = {1, 0},
                    .kind = static_cast<uint32_t>(step.access),
                    .space = static_cast<uint32_t>(step.space),
                    .order = 0,
                    .scope = static_cast<uint32_t>(machine::MemoryScope::Gpu),
                    .bytes = step.bytes,
                    .number = static_cast<uint32_t>(sites.size() - 1)};
    return it->second;
  }

  rt::Trial& trial_;
  const std::vector<Step>& steps_;
  const uint64_t memory_;
};

class Fuzz {
 public:
  explicit Fuzz(uint32_t seed) : random_(seed), module_(testModule()) {
    memory_ = reinterpret_cast<uint64_t>(all_.data());
    machine::allocations().add({.address = memory_, .bytes = all_.size(), .kind = machine::MemoryKind::Device});
  }
  ~Fuzz() { machine::allocations().remove(memory_, machine::MemoryKind::Device); }

  struct Result {
    uint32_t missed = 0, racy = 0, doubted = 0;
  };
  Result run(uint32_t cases, uint32_t steps) {
    Result result;
    for (uint32_t c = 0; c < cases; ++c) {
      usual_ = pick(4);
      std::vector<std::vector<Step>> blocks(1 + pick(kBlocks));
      for (uint32_t b = 0; b < blocks.size(); ++b) blocks[b] = stepsOf(b, steps);
      const bool isRacy = convicts(blocks), isDoubted = doubts(blocks);
      result.missed += isRacy && !isDoubted;
      result.racy += isRacy;
      result.doubted += isDoubted;
    }
    return result;
  }

 private:
  uint32_t pick(uint32_t count) { return static_cast<uint32_t>(random_() % count); }

  /// Shared memory gets values first.
  std::vector<Step> stepsOf(uint32_t block, uint32_t count) {
    std::vector<Step> steps;
    for (uint32_t row = 0; row < kBytes / 128; ++row)
      steps.push_back({.access = AccessKind::Store,
                       .space = AccessSpace::Shared,
                       .warp = row % kWarps,
                       .isAffine = true,
                       .base = row * 128,
                       .stride = 4});
    steps.push_back({.kind = Step::Kind::BlockMeets});
    for (uint32_t s = 0; s < count; ++s) steps.push_back(randomStep(block));
    return steps;
  }

  Step randomStep(uint32_t block) {
    Step s{.warp = pick(kWarps)};
    const uint32_t what = pick(8);
    if (what < 2) return s.kind = what ? Step::Kind::WarpMeets : Step::Kind::BlockMeets, s;
    s.space = pick(2) ? AccessSpace::Shared : AccessSpace::Global;
    s.access = pick(8) == 0 ? AccessKind::Atomic : pick(2) ? AccessKind::Store : AccessKind::Load;
    if (pick(4) == 0) s.lanes = 0xffffu << pick(17);
    if (pick(8) == 0) s.lanes = static_cast<uint32_t>(random_()) | 1u;
    s.bytes = 4u << pick(2);
    const uint32_t own = (s.warp * kLanes + (s.space == AccessSpace::Global ? block * 96 : 0)) * 8;
    const uint32_t shape = pick(20), size = s.bytes;
    s.isAffine = true, s.base = own, s.stride = 8;
    if (shape == 0) s.base = pick(16) * 8, s.stride = 0;
    if (shape == 1 || (shape > 2 && usual_ == 1)) s.base = s.warp * 256 + size * pick(2), s.stride = size;
    if (shape == 2 || (shape > 2 && usual_ == 2)) {
      s.isAffine = false;
      const bool isAny = shape == 2;
      for (uint32_t l = 0; l < kLanes; ++l) s.addresses[l] = isAny ? pick(100) * 8 : own + (l ^ 5) * 8;
    }
    return s;
  }

  machine::BlockFrame frameOf(uint32_t block) {
    machine::BlockFrame frame = testFrame(block);
    frame.shared = shared_.data();
    frame.functions = module_.functions.data();
    return frame;
  }

  bool convicts(const std::vector<std::vector<Step>>& blocks) {
    auto launch = std::make_shared<Launch>(testLaunch(module_));
    const auto shared = Races::share(true);
    Races races(*launch, shared, Races::first(*shared, launch));
    Findings findings;
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      const machine::BlockFrame frame = frameOf(b);
      for (const Step& s : blocks[b]) tell(races, findings, frame, s);
      races.blockChanged({machine::BlockEvent::Kind::End, frame, module_.functions[0]});
    }
    return findings.total() > 0;
  }

  void tell(Races& races, Findings& findings, const machine::BlockFrame& frame, const Step& s) {
    const machine::WarpSite at{frame, module_.functions[0], 1, s.warp, s.lanes};
    if (s.kind == Step::Kind::BlockMeets) return races.synchronised({.at = at, .kind = SyncEvent::Kind::BarrierDone});
    if (s.kind == Step::Kind::WarpMeets)
      return races.synchronised({.at = at, .kind = SyncEvent::Kind::WarpSync, .mask = ~0u, .ordersMemory = true});
    const uint64_t from = s.space == AccessSpace::Shared ? 0 : memory_;
    AccessEvent e{.at = at, .kind = s.access, .space = s.space, .bytes = s.bytes};
    if (s.access == AccessKind::Atomic) e.order = machine::MemoryOrder::Relaxed, e.scope = machine::MemoryScope::Gpu;
    uint64_t addresses[kLanes];
    for (uint32_t l = 0; l < kLanes; ++l)
      addresses[l] = from + (s.isAffine ? s.base + l * static_cast<uint64_t>(s.stride) : s.addresses[l]);
    e.addresses = addresses;
    races.accessed(e, findings);
  }

  bool doubts(const std::vector<std::vector<Step>>& blocks) {
    const rt::Trial::Layout layout{.sharedBytes = kBytes,
                                   .threads = kWarps * kLanes,
                                   .globalShift = 2,
                                   .sharedShift = 2,
                                   .followsValues = false,
                                   .mayLeave = false};
    rt::Trial trial(layout, [](const AccessEvent&) { return std::nullopt; }, std::move(kept_));
    bool isFine = true;
    for (uint32_t b = 0; isFine && b < blocks.size(); ++b) {
      machine::BlockFrame frame = frameOf(b);
      isFine = !machine::runGuarded(Script(trial, blocks[b], memory_), frame);
    }
    kept_ = trial.releaseMemory();
    kept_->restart();
    return !isFine;
  }

  std::mt19937 random_;
  uint32_t usual_ = 0;
  const ptx::Module module_;
  uint64_t memory_ = 0;
  std::unique_ptr<rt::TrialMemory> kept_;
  std::array<std::byte, size_t{kBlocks} * kWarps * kLanes * 8 + 2 * kBytes> all_ alignas(128) = {};
  std::array<std::byte, 2 * kBytes> shared_ alignas(128) = {};
};

TEST(Trial, DoubtsWhatTheRulesConvict) {
  const Fuzz::Result result = Fuzz(1).run(6000, 12);
  EXPECT_EQ(result.missed, 0u);
  EXPECT_GT(result.racy, 1500u);
  EXPECT_LT(result.racy, 5500u);
  EXPECT_LT(result.doubted - result.racy, (6000 - result.racy) * 6 / 10);  // much of what is right is not doubted
}

}  // namespace
}  // namespace ordito::check
