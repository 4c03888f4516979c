// How the checker avoids to listen to each block of each launch (checker.hpp): launches are tried, blocks that others
// say all of run silently, and those that tell are tried on compiled code first.
#include <algorithm>

#include "check/checker.hpp"
#include "machine/undefined.hpp"

namespace ordito::check {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using Lock = std::lock_guard<std::mutex>;

namespace {

/// Grids of fewer are tried, even if blocks could speak for each other.
constexpr uint64_t kFewBlocks = 64;

/// The allocations that a kernel writes to; or any, where an address may be any.
class WrittenAllocations {
 public:
  WrittenAllocations(Launch& launch, const TrialPlan& plan, const machine::BlockFrame& frame) {
    for (const TrialPlan::Line& at : plan.writes) {
      const auto object = launch.objectOf(
          {.at = {frame, *at.function, at.line, 0, 1}, .kind = AccessKind::Store, .space = AccessSpace::Global});
      if (object)
        begins_.push_back(beginOf(object->begin));
      else
        areAll_ = true;
    }
  }
  bool contains(uint64_t address) const {
    return areAll_ || std::ranges::find(begins_, beginOf(address)) != begins_.end();
  }

 private:
  static uint64_t beginOf(uint64_t address) {
    const auto allocation = machine::allocations().find(address);
    return allocation ? allocation->address : address;
  }
  std::vector<uint64_t> begins_;
  bool areAll_ = false;
};

}  // namespace

/// Of one launch (proof.hpp).
class Checker::Judge final : public machine::BlockJudge {
 public:
  Judge(Checker& checker, Running& running) : checker_(checker), running_(running) {}
  uint32_t alike(const machine::BlockFrame& frame, uint32_t count) override {
    Lock lock(checker_.mutex_);
    if (checker_.isEnough(running_)) return count;
    return running_.proof ? running_.proof->alike(frame, count) : 0;
  }
  void* trial() override {
    Lock lock(checker_.mutex_);
    return running_.trial.get();
  }
  bool isWell(bool hasFault) override {
    Lock lock(checker_.mutex_);
    return checker_.isWell(running_, hasFault);
  }
  bool mayBeSilent() override {
    Lock lock(checker_.mutex_);
    const std::shared_ptr<const Proof> proof = running_.proof;
    const bool mayBe = checker_.mayBeSilent(running_);
    if (running_.open)
      for (const OpenAccesses::Line& line : proof->openLines()) lines_.push_back(line.line);
    return mayBe;
  }
  bool needsValues() const override {
    Lock lock(checker_.mutex_);
    return checker_.needsValues(running_);
  }
  bool takesBack(bool hasFault) override {
    Lock lock(checker_.mutex_);
    return checker_.takesBack(running_, hasFault);
  }
  std::vector<uint32_t> linesToTell() const override { return lines_; }

 private:
  Checker& checker_;
  Running& running_;  // the launch has not ended
  std::vector<uint32_t> lines_;
};

std::unique_ptr<machine::BlockJudge> Checker::judge(const machine::LaunchEvent& launch) {
  if (!options_.proves) return nullptr;
  Lock lock(mutex_);
  const auto it = running_.find(launch.launch);
  if (it == running_.end()) return nullptr;
  Running& r = *it->second;
  if (launch.grid.count() > 1 && !r.plan.mayWriteConstants)
    r.unbegun = Proof::of(launch, r.known, options_.followsValues);
  if (r.unbegun) r.proof = r.unbegun->again();
  const bool isCheap =
      r.proof && !r.proof->leavesOpen() && launch.grid.count() >= kFewBlocks && !unproved_.contains(&r.plan);
  if (options_.tries && !isCheap) r.trial = trialOf(r, launch);
  return r.launch.hasUnorderedBlocks() ? std::make_unique<Judge>(*this, r) : nullptr;
}

/// So many findings of one launch say what there is to say; it is not listened to any more.
bool Checker::isEnough(const Running& r) const {
  constexpr uint64_t kEnough = 100'000;
  return (r.attempt ? r.attempt->findings.total() : findings_.total() - r.findingsBefore) >= kEnough;
}

/// Where each instruction's accesses must stay; what the kernel writes to is found when the first asks.
std::unique_ptr<rt::Trial> Checker::trialOf(Running& r, const machine::LaunchEvent& launch) {
  if (!r.plan.trial || !r.launch.hasUnorderedBlocks() || r.launch.takesHeap()) return nullptr;
  const rt::Trial::Layout layout{.sharedBytes = r.launch.sharedBytes(launch),
                                 .threads = r.launch.threads(),
                                 .globalShift = r.plan.trial->globalShift,
                                 .sharedShift = r.plan.trial->sharedShift,
                                 .followsValues = options_.followsValues,
                                 .mayLeave = !r.plan.bypass || !r.plan.bypass->isEmpty()};
  auto written = std::make_shared<std::optional<WrittenAllocations>>();
  const auto find = [&r, written](const AccessEvent& access) -> std::optional<rt::Trial::Object> {
    const auto object = r.launch.objectOf(access);
    if (!object || access.space == AccessSpace::Shared)
      return object ? std::optional(rt::Trial::Object{object->begin, object->bytes}) : std::nullopt;
    if (!*written) *written = WrittenAllocations(r.launch, *r.plan.trial, access.at.frame);
    return rt::Trial::Object{object->begin, object->bytes, !(*written)->contains(object->begin)};
  };
  return std::make_unique<rt::Trial>(layout, find, std::move(trialMemory_));
}

bool Checker::isWell(Running& r, bool hasFault) {
  const std::unique_ptr<rt::Trial> trial = std::move(r.trial);
  const bool isIt = !hasFault && trial->blocks() == r.launch.blocks();
  if (isIt) {
    const auto uses = trial->uses();
    if (options_.followsValues)
      uses->forEachWritten([](uint64_t begin, uint64_t bytes, const rt::TrialUses::Site& site) {
        machine::undefinedMemory()->define(begin, bytes, site.width);
      });
    operations_.tried(r.operation, r.launch, uses);
    blocks_.tried += trial->blocks();
  } else {
    trial->takeBack();
  }
  trialMemory_ = trial->releaseMemory();
  trialMemory_->restart();
  return isIt;
}

bool Checker::isAllWritten() const {
  return std::ranges::all_of(live_, [](const auto& entry) {
    return machine::undefinedMemory()->isDefined(entry.second.address, entry.second.bytes);
  });
}

/// Where all memory has been written there is nothing to follow; otherwise it is tried without. Code without loops is
/// done in the interpreter before it would be compiled.
bool Checker::needsValues(Running& r) {
  if (!options_.followsValues || (r.proof && r.proof->usesGlobalAlone() && isAllWritten())) return false;
  if (!options_.tries || !r.plan.isRepeatable || !r.plan.hasLoops || r.launch.takesHeap()) return true;
  r.attempt = std::make_unique<Attempt>();
  return false;
}

bool Checker::takesBack(Running& r, bool hasFault) {
  if (!r.attempt || (!hasFault && !r.attempt->hasFailed())) return false;
  const std::unique_ptr<Attempt> attempt = std::move(r.attempt);
  attempt->takeBack();
  const auto shared = Races::share();
  r.begin(shared, Races::first(*shared, r.known));
  if (r.unbegun) r.proof = r.unbegun->again();
  r.told = 0;
  return true;
}

/// It has not failed.
void Checker::endAttempt(Running& r) {
  if (const auto attempt = std::move(r.attempt)) findings_.add(std::move(attempt->findings));
}

/// What the silent blocks do is known all the same: later operations are compared with it. But not where there were so
/// many findings that nobody listens any more.
bool Checker::mayBeSilent(Running& r) {
  const std::shared_ptr<Proof> proof = std::move(r.proof);
  const bool hasFindings = r.attempt ? r.attempt->findings.total() > 0 : findings_.total() != r.findingsBefore;
  const bool areEnough = isEnough(r);
  const bool holds = proof && !hasFindings && proof->holds();
  if (proof && !hasFindings && !holds) unproved_.insert(&r.plan);
  if (!areEnough && !holds) return false;
  endAttempt(r);
  r.isProved = true;
  if (areEnough) {
    blocks_.unheard += r.launch.blocks() - r.told;
    if (options_.followsValues) machine::noteWrittenAnywhere();
    return true;
  }
  blocks_.proved += proof->unwatched();
  if (options_.followsValues) proof->define();
  operations_.repeated(r.operation, proof);
  if (proof->openLines().empty()) return true;
  r.open = std::make_shared<OpenAccesses>(r.launch.number(), proof->openLines());
  operations_.opened(r.operation, r.open);
  open_.store(r.open.get(), std::memory_order_release);
  return true;
}

}  // namespace ordito::check
