// A kernel of which two variants race (race.hpp): at first the favourite runs alone, and when it has run for so long
// that a faster one would be worth its compilation, the contender is asked for.
#pragma once

#include <functional>

#include "jit/compiled_kernel.hpp"
#include "jit/race.hpp"

namespace ordito::jit {

/// Nanoseconds that the calling thread has had of a processor.
uint64_t threadNanoseconds();

class RacingKernel final : public CompiledKernel {
 public:
  struct Rules {
    uint64_t patience = 150'000'000;  // ticks of the processor's clock that the favourite runs alone: some 50 ms
    Race::Rules race = {};
    uint64_t (*clock)() = threadNanoseconds;
  };
  /// Each is called once, if at all, by a thread that runs blocks.
  struct Callbacks {
    std::function<void()> askForContender;
    std::function<void(Race::Variant winner, double nanosecondsPerBlock)> end;
  };

  RacingKernel(BlockFunction favourite, const Needs& needs, const Rules& rules)
      : CompiledKernel(favourite, needs, std::nullopt), rules_(rules), race_(rules.race) {}
  /// Before it runs.
  void set(Callbacks callbacks) { callbacks_ = std::move(callbacks); }
  /// Once: the race begins.
  void enter(BlockFunction contender, const Needs& needs) {
    contender_ = std::make_unique<const Other>(contender, needs, *this);
    entered_.store(contender_.get(), std::memory_order_release);
  }

  const Executable& latest() const override {
    const Executable* contender = entered_.load(std::memory_order_acquire);
    return contender && race_.turn() == Race::Variant::Contender ? *contender : *this;
  }
  machine::BlockStatus runBlocks(machine::BlockFrame& frame, uint32_t count) const override {
    return run(*this, Race::Variant::Favourite, frame, count);
  }

 private:
  /// The contender.
  class Other final : public CompiledKernel {
   public:
    Other(BlockFunction f, const Needs& needs, const RacingKernel& favourite)
        : CompiledKernel(f, needs, std::nullopt), favourite_(favourite) {}
    machine::BlockStatus runBlocks(machine::BlockFrame& frame, uint32_t count) const override {
      return favourite_.run(*this, Race::Variant::Contender, frame, count);
    }

   private:
    const RacingKernel& favourite_;
  };

  machine::BlockStatus run(const CompiledKernel& variant, Race::Variant which, machine::BlockFrame& frame,
                           uint32_t count) const;
  machine::BlockStatus runAlone(machine::BlockFrame& frame, uint32_t count) const;

  const Rules rules_;
  Callbacks callbacks_;
  mutable Race race_;
  mutable std::atomic<uint64_t> spent_{0};  // ticks of the favourite alone
  std::unique_ptr<const Other> contender_;
  std::atomic<const Executable*> entered_{nullptr};
};

}  // namespace ordito::jit
