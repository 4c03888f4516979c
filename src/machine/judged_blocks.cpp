// See judged_blocks.hpp.
#include "machine/judged_blocks.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace ordito::machine {
namespace {

/// Which blocks have run, by number.
using Ran = std::vector<char>;

/// The blocks that are like no other, of those that have not run.
class FirstBlocks final : public Executable {
 public:
  FirstBlocks(const Executable& telling, BlockJudge& judge, Ran& ran) : telling_(telling), judge_(judge), ran_(ran) {}
  BlockStatus runBlock(const BlockFrame& frame) const override {
    std::lock_guard lock(mutex_);
    if (frame.resumes == 0 && (ran_[frame.block()] || judge_.alike(frame, 1))) return BlockStatus::Ended;
    ran_[frame.block()] = 1;
    return telling_.runBlock(frame);
  }
  BlockStatus runBlocks(BlockFrame& frame, uint32_t count) const override {
    std::lock_guard lock(mutex_);
    for (const uint64_t end = frame.block() + count;;) {
      const uint64_t block = frame.block();
      uint64_t next = block;
      if (frame.resumes == 0) next += ran_[block] ? 1 : judge_.alike(frame, static_cast<uint32_t>(end - block));
      if (next == block) {
        ran_[block] = 1, ++next;
        if (telling_.runBlock(frame) == BlockStatus::Suspended) return BlockStatus::Suspended;
      }
      frame.place(next == end ? end - 1 : next);
      if (next == end) return BlockStatus::Ended;
    }
  }
  std::optional<Digest> suspendedState(const BlockFrame& frame) const override {
    return telling_.suspendedState(frame);
  }
  void abandon(const BlockFrame& frame) const override { telling_.abandon(frame); }
  bool canSuspend() const override { return telling_.canSuspend(); }
  size_t scratchBytes() const override { return telling_.scratchBytes(); }
  size_t localBytes() const override { return telling_.localBytes(); }

 private:
  const Executable& telling_;
  BlockJudge& judge_;
  Ran& ran_;
  mutable std::mutex mutex_;
};

/// All others.
class OtherBlocks final : public Executable {
 public:
  OtherBlocks(const Executable& code, const Ran& ran) : code_(code), ran_(ran) {}
  BlockStatus runBlock(const BlockFrame& frame) const override {
    return ran_[frame.block()] ? BlockStatus::Ended : code_.runBlock(frame);
  }
  BlockStatus runBlocks(BlockFrame& frame, uint32_t count) const override {
    for (const uint64_t end = frame.block() + count;;) {
      const auto first = ran_.begin() + static_cast<std::ptrdiff_t>(frame.block()),
                 last = ran_.begin() + static_cast<std::ptrdiff_t>(end), next = std::find(first, last, 1);
      BlockStatus status = BlockStatus::Ended;
      if (next != first) status = code_.runBlocks(frame, static_cast<uint32_t>(next - first));
      if (status == BlockStatus::Suspended || frame.block() + 1 >= end) return status;
      frame.step();
    }
  }
  std::optional<Digest> suspendedState(const BlockFrame& frame) const override { return code_.suspendedState(frame); }
  void abandon(const BlockFrame& frame) const override { code_.abandon(frame); }
  bool canSuspend() const override { return code_.canSuspend(); }
  size_t scratchBytes() const override { return code_.scratchBytes(); }
  size_t localBytes() const override { return code_.localBytes(); }
  size_t nonTemporalBytes() const override { return code_.nonTemporalBytes(); }

 private:
  const Executable& code_;
  const Ran& ran_;
};

class JudgedLaunch {
 public:
  JudgedLaunch(const GridLaunch& launch, BlockJudge& judge,
               const std::function<std::shared_ptr<const Executable>()>& silent)
      : launch_(launch), judge_(judge), silent_(silent), ran_(launch.grid.count(), 0) {}

  /// Nothing: the judge has taken back what was done.
  std::optional<GridResult> run(const Executable& telling, bool mayTakeBack) {
    std::ranges::fill(ran_, 0);
    const auto isTakenBack = [&](const GridResult& result) {
      return mayTakeBack && judge_.takesBack(result.fault.has_value());
    };
    GridResult result = run(FirstBlocks(telling.latest(), judge_, ran_));
    if (isTakenBack(result)) return std::nullopt;
    if (!isOver(result) && !judge_.mayBeSilent()) {
      result = run(FirstBlocks(telling.latest(), judge_, ran_));
      if (isTakenBack(result)) return std::nullopt;
      // What has not run by now, the judge does not want to hear of: it must know that it will not.
      if (!isOver(result)) judge_.mayBeSilent();
    }
    if (isOver(result)) return result;
    const std::shared_ptr<const Executable> silent = silent_();
    return run(OtherBlocks(silent ? silent->latest() : telling.latest(), ran_));
  }

 private:
  GridResult run(const Executable& code) const {
    GridLaunch part = launch_;
    part.executable = &code;
    return scheduler().run(part);
  }
  bool isOver(const GridResult& result) const { return result.fault || std::ranges::find(ran_, 0) == ran_.end(); }

  const GridLaunch& launch_;
  BlockJudge& judge_;
  const std::function<std::shared_ptr<const Executable>()>& silent_;
  Ran ran_;
};

}  // namespace

GridResult runJudged(const GridLaunch& launch, const Executable& telling, BlockJudge& judge,
                     const std::function<std::shared_ptr<const Executable>()>& silent) {
  JudgedLaunch judged(launch, judge, silent);
  if (&telling != launch.executable)
    if (auto result = judged.run(telling, true)) return std::move(*result);
  return *judged.run(*launch.executable, false);
}

}  // namespace ordito::machine
