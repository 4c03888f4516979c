// See passes.hpp. Building the graph and SSA form come before all of them: they make the IR that passes work on.
#include "ir/passes.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "ir/if_convert.hpp"
#include "ir/print.hpp"
#include "ir/single_batch.hpp"
#include "ir/specialise.hpp"
#include "ir/sync_points.hpp"

namespace ordito::ir {
namespace {

void dropBarriers(Function& function, const LaunchShape& launch) {
  if (auto without = withoutPlainBarriers(function, findSyncPoints(Analyses(function), launch)))
    function = std::move(*without);
}

constexpr Pass kPasses[] = {
    {"if-convert", "short divergent branches become selections", ifConvert},
    {"specialise", "copies of code for distances that all lanes share", specialise},
    {"drop-barriers", "barriers of a block whose warps all run side by side become jumps", dropBarriers},
};

}  // namespace

std::span<const Pass> passes() { return kPasses; }

const Pass* findPass(std::string_view name) {
  for (const Pass& pass : kPasses)
    if (pass.name == name) return &pass;
  return nullptr;
}

void runPass(const Pass& pass, Function& function, const LaunchShape& launch) {
  pass.run(function, launch);
  if (!verifiesPasses()) return;
  if (const auto ok = verify(function); !ok) failBehind(pass.name, ok.error().message, print(function));
}

bool verifiesPasses() {
#ifdef ORDITO_VERIFY_PASSES
  return true;
#else
  return false;
#endif
}

void failBehind(std::string_view pass, std::string_view problem, std::string_view text) {
  fmt::print(stderr, "internal error: behind the pass {}: {}\n{}", pass, problem, text);
  std::abort();
}

}  // namespace ordito::ir
