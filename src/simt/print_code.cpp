// SIMT code as text.
#include <fmt/format.h>

#include <iterator>

#include "ir/print.hpp"
#include "simt/code.hpp"

namespace ordito::simt {
namespace {

struct Syntax {
  CodeOp op;
  const char* name;
  unsigned targets;
};

constexpr Syntax kSyntax[] = {
    {CodeOp::Live, "live", 0},
    {CodeOp::Launched, "launched", 0},
    {CodeOp::Kept, "kept", 0},
    {CodeOp::Given, "given", 0},
    {CodeOp::Condition, "condition", 0},
    {CodeOp::And, "and", 0},
    {CodeOp::AndNot, "and-not", 0},
    {CodeOp::Waiting, "waiting", 0},
    {CodeOp::SetLive, "set-live", 0},
    {CodeOp::EndAll, "end-all", 0},
    {CodeOp::Retire, "retire", 0},
    {CodeOp::Wait, "wait", 0},
    {CodeOp::ClearWaiting, "clear-waiting", 0},
    {CodeOp::Run, "run", 0},
    {CodeOp::Assign, "assign", 0},
    {CodeOp::RunThreads, "run-threads", 0},
    {CodeOp::Forget, "forget", 0},
    {CodeOp::CheckBarrier, "check-barrier", 0},
    {CodeOp::ReduceBarrier, "reduce-barrier", 0},
    {CodeOp::Spill, "spill", 0},
    {CodeOp::KeepShared, "keep-shared", 0},
    {CodeOp::Park, "park", 0},
    {CodeOp::BeginSpin, "begin-spin", 0},
    {CodeOp::CountSpin, "count-spin", 0},
    {CodeOp::RunApart, "run-apart", 0},
    {CodeOp::EndEvent, "end-event", 0},
    {CodeOp::TakenEvent, "taken-event", 0},
    {CodeOp::PartEvent, "part-event", 0},
    {CodeOp::ExitEvent, "exit-event", 0},
    {CodeOp::Branch, "branch", 1},
    {CodeOp::BranchUniform, "branch-uniform", 2},
    {CodeOp::BranchOnBase, "branch-on-base", 3},
    {CodeOp::BranchAny, "branch-any", 2},
    {CodeOp::BranchWhole, "branch-whole", 2},
    {CodeOp::BranchSpin, "branch-spin", 2},
    {CodeOp::NextRegion, "next-region", 0},
    {CodeOp::Trap, "trap", 0},
};

constexpr bool isInOrder() {
  for (size_t k = 0; k < std::size(kSyntax); ++k)
    if (static_cast<size_t>(kSyntax[k].op) != k) return false;
  return true;
}
static_assert(isInOrder());

const Syntax& syntaxOf(CodeOp op) { return kSyntax[static_cast<size_t>(op)]; }

std::string print(const CodeOperation& o, const ir::Function& f, const std::vector<BlockId>& resumePoints) {
  std::string text = o.givesMask() ? fmt::format("m{} = {}", o.result, syntaxOf(o.op).name) : syntaxOf(o.op).name;
  if (o.block != ir::kNoBlock) text += fmt::format(" B{}", o.block);
  if (o.to != ir::kNoBlock) text += fmt::format(" -> B{}", o.to);
  if (o.op == CodeOp::Spill || o.op == CodeOp::NextRegion) text += fmt::format(" B{}", resumePoints[o.resumePoint]);
  if (o.predicate != ir::kNoValue) text += fmt::format(" {}{}", o.negated ? "not " : "", ir::valueName(f, o.predicate));
  if ((o.op == CodeOp::AndNot || o.op == CodeOp::PartEvent || o.op == CodeOp::SetLive) && o.a == kAllLanes)
    text += " all";
  for (MaskId mask : {o.a, o.b})
    if (mask != kAllLanes) text += fmt::format(" m{}", mask);
  if (!o.values.empty()) text += o.op == CodeOp::Run ? " keeping" : o.op == CodeOp::Assign ? " freely" : "";
  for (ValueId v : o.values) text += " " + ir::valueName(f, v);
  for (unsigned k = 0; k < o.targetCount(); ++k)
    text += o.targets[k] == kRegionEnd ? (k ? ", end" : " end") : fmt::format("{} .{}", k ? "," : "", o.targets[k]);
  if (o.isWhole) text += o.op == CodeOp::Run ? ", not empty" : ", whole";
  return text;
}

}  // namespace

unsigned CodeOperation::targetCount() const { return syntaxOf(op).targets; }

const char* nameOf(CodeOp op) { return syntaxOf(op).name; }

std::optional<CodeOp> codeOpNamed(std::string_view name) {
  for (const Syntax& syntax : kSyntax)
    if (syntax.name == name) return syntax.op;
  return std::nullopt;
}

std::string print(const Code& code, const Regions& regions) {
  const ir::Function& f = *regions.function;
  const auto& resumePoints = regions.resumePoints;
  std::string text;
  for (const RegionCode& region : code.regions) {
    for (const CodeEntry& entry : region.entries)
      text += fmt::format("region from B{}{}: .{}\n", resumePoints[entry.resumePoint],
                          region.isScheduled ? ", scheduled" : "", entry.block);
    for (CodeBlockId b = 0; b < region.blocks.size(); ++b) {
      const CodeBlock& block = region.blocks[b];
      text += fmt::format(".{}: {}", b, block.label);
      text += block.inherits == kNoCodeBlock ? "\n" : fmt::format(", behind .{}\n", block.inherits);
      for (const CodeOperation& o : block.operations) text += "  " + print(o, f, resumePoints) + "\n";
    }
  }
  return text;
}

}  // namespace ordito::simt
