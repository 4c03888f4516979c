// The listener behind `ordito check`: hears of every access, asks each rule, and writes what they found when the
// process ends. On when ORDITO_CHECK names a file.
//
// One mutex guards everything. The command runs kernels on one host thread, so that events come in the order in which
// memory changed.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

#include "check/api_errors.hpp"
#include "check/attempt.hpp"
#include "check/initialisation.hpp"
#include "check/kernel_plan.hpp"
#include "check/launch.hpp"
#include "check/misuse.hpp"
#include "check/operations.hpp"
#include "check/proof.hpp"
#include "check/races.hpp"
#include "machine/listener.hpp"
#include "machine/memory.hpp"
#include "rt/trial.hpp"

namespace ordito::check {

struct Options {
  std::string path;
  bool wantsLeaks = false;
  bool followsValues = true;  // else nothing is said of uninitialised memory
  bool proves = true;         // else every block is listened to
  bool tries = true;          // launches are tried on compiled code that keeps no details
};

class Checker : public machine::Listener {
 public:
  explicit Checker(Options options) : options_(std::move(options)) {}

  bool wantsAccesses() const override { return true; }
  bool wantsUndefined() const override { return options_.followsValues; }
  bool holdsHost() const override { return operations_.holdsHost(); }
  uint32_t allowed(const machine::AccessEvent& access) override;
  void accessed(const machine::AccessEvent& access) override;
  void synchronised(const machine::SyncEvent& sync) override;
  std::unique_ptr<machine::BlockJudge> judge(const machine::LaunchEvent& launch) override;
  void comesToGuard(const machine::OperandsEvent& guard) override;
  void blockChanged(const machine::BlockEvent& block) override;
  void usedUndefined(const machine::UndefinedEvent& use) override;
  void heapFrees(const machine::HeapFreeEvent& event) override;
  void rowsMove(const machine::RowsEvent& rows) override;
  void childLaunched(const machine::ChildLaunchEvent& child) override;
  void launchBegan(const machine::LaunchEvent& launch) override;
  void launchEnded(const machine::LaunchEvent& launch) override;
  void allocated(const machine::Allocation& allocation) override;
  void freed(const machine::Allocation& allocation) override;
  void operationSubmitted(const machine::StreamEvent& event, std::span<const machine::StreamPoint> after) override;
  void operationBegan(const machine::StreamEvent& event) override;
  void operationEnded(const machine::StreamEvent& event) override;
  void graphNodeBegan(const machine::GraphNodeEvent& node) override;
  void hostWaited(machine::StreamPoint point) override;
  void hostWaitedForAll(uint64_t context) override;
  void callFailed(const machine::FailedCallEvent& event) override;
  void lastErrorRead() override;
  void flush() override;

 private:
  struct Running {
    Running(std::shared_ptr<Launch> what, const KernelPlan& kernel) : known(std::move(what)), plan(kernel) {}
    void begin(std::shared_ptr<Races::Shared> shared, Family::Member self) {
      races.emplace(launch, std::move(shared), self);
      misuse.emplace(launch, plan.bypass);
    }
    const std::shared_ptr<Launch> known;
    const KernelPlan& plan;
    Launch& launch = *known;
    std::optional<Races> races;
    std::optional<Misuse> misuse;
    machine::StreamPoint operation;        // that it is part of
    std::shared_ptr<const Proof> unbegun;  // may be null
    std::shared_ptr<Proof> proof;          // that goes on
    std::unique_ptr<rt::Trial> trial;      // while all blocks are tried
    std::unique_ptr<Attempt> attempt;      // while those that tell are tried without following values
    uint64_t findingsBefore = 0;           // it began
    uint64_t told = 0;                     // blocks
    bool isProved = false;                 // only bounds are asked for, and bytes noted
    std::shared_ptr<OpenAccesses> open;
  };
  class Judge;
  const KernelPlan& planOf(const machine::LaunchEvent& launch);
  std::unique_ptr<rt::Trial> trialOf(Running& running, const machine::LaunchEvent& launch);
  bool isWell(Running& running, bool hasFault);
  bool needsValues(Running& running);
  bool takesBack(Running& running, bool hasFault);
  void endAttempt(Running& running);
  bool isEnough(const Running& running) const;
  bool mayBeSilent(Running& running);
  Findings& findingsOf(Running& running) { return running.attempt ? running.attempt->findings : findings_; }
  uint32_t allowedLanes(Running& running, const machine::AccessEvent& access);
  uint32_t allowedInMemory(const machine::AccessEvent& access);
  void accessedMemory(const machine::AccessEvent& access, bool isImage);
  bool isAllWritten() const;
  Running* running(const machine::BlockFrame& frame);
  bool isInside(Running& running, const machine::AccessEvent& access);
  bool isAligned(Running& running, const machine::AccessEvent& access);
  void addBadSurface(Running& running, const machine::AccessEvent& access);
  void addOutside(Running& running, const machine::AccessEvent& access, const Object* object);
  bool isOfConstant(Running& running, const machine::AccessEvent& access);
  /// The allocation that was there; null if memory there was never freed, or is in use again.
  const machine::Allocation* freedAt(uint64_t address) const;
  void addBadFree(const Running& running, const machine::WarpSite& lane, uint64_t address, bool isTwice);
  void addLeaks();

  const Options options_;
  mutable std::mutex mutex_;
  Findings findings_;
  BlockCounts blocks_;
  Initialisation initialisation_;
  ApiErrors apiErrors_;
  Operations operations_;
  std::map<std::pair<uint64_t, uint64_t>, CallSite> submitted_;     // by stream and number
  std::unordered_map<uint64_t, std::unique_ptr<Running>> running_;  // by the launch's number
  std::map<std::string, KernelPlan> plans_;                         // by digest and name of the kernel
  std::set<const KernelPlan*> unproved_;                            // a proof has failed, so that they are tried first
  std::unique_ptr<rt::TrialMemory> trialMemory_;
  // Launches by kernels that have not begun.
  std::unordered_map<uint64_t, std::pair<std::shared_ptr<Races::Shared>, Family::Member>> children_;
  std::map<uint64_t, machine::Allocation> live_, freed_;  // by address
  std::atomic<OpenAccesses*> open_ = nullptr;  // of the launch that was proved last; it is asked without a lock
};

/// The process's checker; null when nobody asked for it.
machine::Listener* listener();

}  // namespace ordito::check
