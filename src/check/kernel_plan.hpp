// What the checker finds out about a kernel before it runs, once for all its launches.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "check/bypass.hpp"

namespace ordito::check {

/// How a kernel can be tried (rt/trial.hpp).
struct TrialPlan {
  struct Line {
    const ptx::Function* function;
    uint32_t line;
  };
  unsigned globalShift = 2, sharedShift = 4;  // no access is of fewer bytes than 1 << shift
  std::vector<Line> writes;                   // to global memory, atomic operations among them

  /// Nothing where the kernel does what trials do not know: order between blocks, barriers of some threads, copies that
  /// go on, calls that the outside would notice twice, loops that wait.
  static std::optional<TrialPlan> of(const ptx::Module& module, const ir::Function& function);
};

struct KernelPlan {
  bool isRepeatable = false;  // it calls nothing that the outside would notice twice
  bool hasLoops = false;
  bool mayWriteConstants = false;            // neither trials nor proofs look for that
  std::shared_ptr<const BypassPlan> bypass;  // null: nothing can be said
  std::optional<TrialPlan> trial;
  static KernelPlan of(const ptx::Module& module, const ptx::Function& kernel);
};

}  // namespace ordito::check
