// A kernel's machine code as the rest of the machine sees it, alone, and with better code to come.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "jit/code_cache.hpp"
#include "machine/kernel.hpp"
#include "machine/listener.hpp"
#include "machine/memory_digest.hpp"
#include "rt/trial.hpp"

namespace ordito::jit {

using BlockFunction = uint32_t (*)(const machine::BlockFrame*, uint32_t blocks);

/// What one copy of a kernel's code asks for.
struct Needs {
  size_t scratch, local, streamed;
  CounterTerms counters;
  bool runsRanges;
  Needs(const CompiledObject& k, size_t threads)
      : scratch(k.scratchBytes),
        local(k.localBytes * threads),
        streamed(k.nonTemporalBytes),
        counters(k.counters),
        runsRanges(k.runsRanges) {}
};

/// A kernel's code, whatever runs it.
class Kernel : public machine::Executable {
 public:
  explicit Kernel(const Needs& needs) : needs_(needs) {}
  bool canSuspend() const override { return true; }
  std::optional<Digest> suspendedState(const machine::BlockFrame& frame) const override {
    Digest state;
    for (const auto [memory, bytes] : {std::pair<const std::byte*, uint64_t>{frame.scratch, needs_.scratch},
                                       {frame.local, needs_.local},
                                       {frame.shared, frame.totalSharedBytes}})
      machine::addMemory(state, reinterpret_cast<uint64_t>(memory), bytes);
    return state;
  }
  size_t scratchBytes() const override { return needs_.scratch; }
  size_t localBytes() const override { return needs_.local; }
  size_t nonTemporalBytes() const override { return needs_.streamed; }
  size_t counterWords() const override { return needs_.counters.words; }
  void addCounters(const uint64_t* words, machine::SiteCounters& sites) const override {
    needs_.counters.addTo(words, sites);
  }

 private:
  const Needs needs_;
};

class CompiledKernel : public Kernel {
 public:
  /// `heard`: the kernel's number in its module, where listeners hear of its blocks.
  CompiledKernel(BlockFunction f, const Needs& needs, std::optional<size_t> heard)
      : Kernel(needs), function_(f), heard_(heard), runsRanges_(needs.runsRanges) {}
  machine::BlockStatus runBlock(const machine::BlockFrame& frame) const override {
    using Kind = machine::BlockEvent::Kind;
    if (heard_ && frame.resumes == 0) tell(Kind::Begin, frame);
    const auto status = static_cast<machine::BlockStatus>(function_(&frame, 1));
    if (heard_ && status == machine::BlockStatus::Ended) tell(Kind::End, frame);
    return status;
  }

  machine::BlockStatus runBlocks(machine::BlockFrame& frame, uint32_t count) const override {
    if (!runsRanges_) return Kernel::runBlocks(frame, count);
    return static_cast<machine::BlockStatus>(function_(&frame, count));
  }

 private:
  void tell(machine::BlockEvent::Kind kind, const machine::BlockFrame& frame) const {
    const machine::BlockEvent event{kind, frame, frame.functions[*heard_]};
    if (frame.trial)
      static_cast<rt::Trial*>(frame.trial)->block(event);
    else
      machine::raise(event);
  }
  const BlockFunction function_;
  const std::optional<size_t> heard_;
  const bool runsRanges_;
};

/// Baseline code, until there is optimised code.
class TieringKernel final : public CompiledKernel {
 public:
  using CompiledKernel::CompiledKernel;
  /// Once.
  void tierUp(std::shared_ptr<const Executable> optimised) {
    optimised_ = std::move(optimised);
    published_.store(optimised_.get(), std::memory_order_release);
    isFinal_ = true;
  }
  void stay() { isFinal_ = true; }
  /// There is optimised code, or there will never be any.
  bool isFinal() const { return isFinal_; }
  const Executable& latest() const override {
    const Executable* optimised = published_.load(std::memory_order_acquire);
    return optimised ? optimised->latest() : *this;
  }

 private:
  std::shared_ptr<const Executable> optimised_;
  std::atomic<const Executable*> published_{nullptr};
  std::atomic<bool> isFinal_{false};
};

}  // namespace ordito::jit
