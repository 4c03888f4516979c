// Threads that go past a barrier or a warp operation at which others wait for them.
//
// Threads that have ended count as there, and PTX has no word for "return": that a thread is missing says nothing. But
// where it has done something in code that follows on the instruction on every way, and from which no way leads back,
// it did not return early: it has left the instruction out. What compilers have merged into such code, as the stores in
// front of two returns, says nothing; lines tell (-lineinfo). (CUDA guide, "Synchronization Functions": a barrier in
// conditional code is allowed only if the condition evaluates identically across the block.)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/ir.hpp"
#include "machine/events.hpp"

namespace ordito::check {

/// Of a kernel: which accesses and comparisons stand behind which synchronisations, by lines of the PTX.
class BypassPlan {
 public:
  static std::shared_ptr<const BypassPlan> of(const ir::Function& kernel);

  /// A bit for each synchronisation that the line stands behind.
  uint64_t behind(uint32_t line) const {
    const auto it = behind_.find(line);
    return it == behind_.end() ? 0 : it->second;
  }
  /// Of a synchronisation; 0 if nothing stands behind it.
  uint64_t bitOf(uint32_t line) const {
    const auto it = bits_.find(line);
    return it == bits_.end() ? 0 : it->second;
  }
  bool isEmpty() const { return behind_.empty(); }

 private:
  explicit BypassPlan(const ir::Function& function);
  void add(const ir::Function& function, const std::vector<uint32_t>& postDominator, ir::BlockId block, size_t from,
           uint32_t line);

  std::unordered_map<uint32_t, uint64_t> behind_, bits_;
};

class Bypass {
 public:
  /// A thread that has gone past, and where it was seen.
  struct Thread {
    uint32_t number, line;
  };
  /// One that goes past a warp operation, at a line, at which others have waited for it.
  struct Late {
    uint32_t thread, line, waiter;
  };
  explicit Bypass(std::shared_ptr<const BypassPlan> plan) : plan_(std::move(plan)) {}

  /// Lanes come to an instruction that is told.
  std::optional<Late> comesTo(const machine::WarpSite& at);
  void blockEnded(uint64_t block) { blocks_.erase(block); }
  /// They have met at a warp operation that names `mask`. Others of it may come to it by themselves, before or later:
  /// compiled code waits for nobody who can only come by another way.
  void met(const machine::WarpSite& at, uint32_t mask);
  /// One of the `lanes` of a warp that has gone past the synchronisation at a line.
  std::optional<Thread> past(uint64_t block, uint32_t warp, uint32_t lanes, uint32_t line) const;

 private:
  struct Seen {
    uint64_t bits = 0, met = 0, awaited = 0;
    uint32_t line = 0;                      // of the first that was told
    uint32_t awaitedAt = 0, awaitedBy = 0;  // the line, a thread
  };
  std::vector<Seen>& threadsOf(const machine::BlockFrame& frame);

  const std::shared_ptr<const BypassPlan> plan_;
  std::unordered_map<uint64_t, std::vector<Seen>> blocks_;  // by thread
};

}  // namespace ordito::check
