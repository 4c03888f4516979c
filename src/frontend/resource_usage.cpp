// See resource_usage.hpp. The words are those that scripts and students look for in ptxas's output; what we do not know
// (how long it took) is left out. Nothing is ever spilled here.
#include "frontend/resource_usage.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "machine/layout.hpp"
#include "registers/estimate.hpp"

namespace ordito::frontend {
namespace {

/// Where parameters begin in the constant bank 0. Since sm_90 ptxas does not count that bank.
constexpr uint32_t kParameterBase = 352;
constexpr uint32_t kFirstWithoutBank0 = 90;
constexpr uint64_t kBarriers = 16;

uint64_t bytesIn(const ptx::Module& module, ptx::Space space) {
  uint64_t bytes = 0;
  for (const ptx::Variable& variable : module.variables)
    if (variable.space == space && variable.linkage != ptx::Linkage::Extern) bytes += variable.size;
  return bytes;
}

/// One more than the largest number of a barrier; all of them if a register says which.
uint64_t barriersOf(const ptx::Function& kernel) {
  uint64_t barriers = 0;
  for (const ptx::Instruction& i : kernel.instructions) {
    if (i.info().effect != isa::Effect::Barrier || i.operands.empty()) continue;
    const ptx::Operand& which = i.operands[i.has(isa::ModifierKind::BarRed) ? 1 : 0];
    const bool isKnown = which.is(ptx::Operand::Kind::Integer) && which.bits < kBarriers;
    barriers = std::max(barriers, isKnown ? which.bits + 1 : which.is(ptx::Operand::Kind::None) ? 1 : kBarriers);
  }
  return barriers;
}

std::string linesFor(const ptx::Module& module, const ptx::Function& kernel, uint32_t sm) {
  const auto layout = machine::layoutKernel(module, kernel);
  std::string text = fmt::format(
      "ptxas info    : Compiling entry function '{0}' for 'sm_{1}'\n"
      "ptxas info    : Function properties for {0}\n"
      "    {2} bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used {3} registers, used {4} barriers",
      kernel.name, sm, layout.localBytes, registers::estimate(module, kernel, registers::targetFor(sm)),
      barriersOf(kernel));
  if (layout.localBytes) text += fmt::format(", {} bytes cumulative stack size", layout.localBytes);
  if (layout.staticSharedBytes) text += fmt::format(", {} bytes smem", layout.staticSharedBytes);
  if (sm < kFirstWithoutBank0) text += fmt::format(", {} bytes cmem[0]", kParameterBase + kernel.parameterBytes);
  return text + '\n';
}

}  // namespace

std::string resourceUsage(const ptx::Module& module, uint32_t sm) {
  std::string text = fmt::format("ptxas info    : {} bytes gmem", bytesIn(module, ptx::Space::Global));
  if (const uint64_t bytes = bytesIn(module, ptx::Space::Const)) text += fmt::format(", {} bytes cmem[3]", bytes);
  text += '\n';
  for (const ptx::Function& function : module.functions)
    if (function.isEntry && function.hasBody) text += linesFor(module, function, sm);
  return text;
}

}  // namespace ordito::frontend
