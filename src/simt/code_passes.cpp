// See code_passes.hpp.
#include "simt/code_passes.hpp"

#include <algorithm>

#include "ir/passes.hpp"
#include "simt/verify_code.hpp"

namespace ordito::simt {
namespace {

constexpr CodePass kPasses[] = {
    {"build-code", "the kernel's control flow with masks and versions, and all events",
     [](Code& code, const CodeInputs& inputs) { code = buildCode(inputs); }},
    {"drop-events", "events go where nobody listens", dropEvents},
    {"dead-masks", "masks go that nobody reads", dropDeadMasks},
};

void checkBehind(const CodePass& pass, const Code& code, const CodeInputs& inputs) {
  if (!ir::verifiesPasses()) return;
  if (const auto problem = verify(code, inputs)) ir::failBehind(pass.name, *problem, print(code, inputs.regions));
}

bool isEvent(const CodeOperation& o) { return o.op >= CodeOp::EndEvent && o.op <= CodeOp::ExitEvent; }

/// Removes the masks that nothing read behind them needs. Blocks are in an order in which uses follow definitions, so
/// one walk from the end to the start sees all uses before the definition.
void dropDeadMasks(RegionCode& region) {
  std::vector<char> isRead(region.masks, 0);
  for (auto block = region.blocks.rbegin(); block != region.blocks.rend(); ++block) {
    auto& operations = block->operations;
    for (auto o = operations.rbegin(); o != operations.rend(); ++o) {
      if (o->givesMask() && !isRead[o->result]) continue;
      for (MaskId mask : {o->a, o->b})
        if (mask != kAllLanes) isRead[mask] = 1;
    }
    std::erase_if(operations, [&](const CodeOperation& o) { return o.givesMask() && !isRead[o.result]; });
  }
}

}  // namespace

void dropEvents(Code& code, const CodeInputs& inputs) {
  if (inputs.facts.counters || inputs.facts.accesses) return;
  for (RegionCode& region : code.regions)
    for (CodeBlock& block : region.blocks) std::erase_if(block.operations, isEvent);
}

void dropDeadMasks(Code& code, const CodeInputs&) {
  for (RegionCode& region : code.regions) dropDeadMasks(region);
}

bool runsApart(const Code& code) {
  for (const RegionCode& region : code.regions)
    for (const CodeBlock& block : region.blocks)
      for (const CodeOperation& o : block.operations)
        if (o.op == CodeOp::RunApart) return true;
  return false;
}

std::span<const CodePass> codePasses() { return kPasses; }

const CodePass* findCodePass(std::string_view name) {
  for (const CodePass& pass : kPasses)
    if (pass.name == name) return &pass;
  return nullptr;
}

Code makeCode(const CodeInputs& inputs, std::string_view last, PassTimes* times) {
  Code code;
  for (const CodePass& pass : kPasses) {
    timed(times, pass.name, [&] { pass.run(code, inputs); });
    checkBehind(pass, code, inputs);
    if (pass.name == last) break;
  }
  return code;
}

}  // namespace ordito::simt
