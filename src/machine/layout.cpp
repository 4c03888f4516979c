// Finds what a kernel can reach by walking its calls, then gives each variable found the next offset that its alignment
// allows, in the order of declaration: module variables first, then function by function. Variables that nothing refers
// to take no room, as with ptxas.
#include "machine/layout.hpp"

#include <algorithm>
#include <set>

namespace ordito::machine {

namespace {

using ptx::Operand;
using ptx::Symbol;

constexpr uint32_t kModule = KernelLayout::kModule;

/// Does the instruction read what another block may just have written? See KernelLayout::mayAwaitBlocks.
bool looksAgain(const ptx::Instruction& instruction) {
  using isa::ModifierKind;
  const std::string_view space = instruction.mods.name(ModifierKind::Space);
  if (space == "shared" || space == "shared::cta" || space == "local") return false;
  if (instruction.op == isa::Op::Atom || instruction.op == isa::Op::AtomCas) return true;
  if (instruction.op != isa::Op::Ld) return false;
  const std::string_view order = instruction.mods.name(ModifierKind::Semantics);
  const std::string_view cache = instruction.mods.name(ModifierKind::CacheOp);
  return (!order.empty() && order != "weak") || cache == "cv" || cache == "cg";
}

/// A clock that a loop may wait for.
bool isClock(const Operand& operand) {
  using isa::Special;
  if (!operand.is(Operand::Kind::Special)) return false;
  switch (operand.special) {
    case Special::Clock:
    case Special::ClockHi:
    case Special::Clock64:
    case Special::Globaltimer:
    case Special::GlobaltimerLo:
    case Special::GlobaltimerHi: return true;
    default: return false;
  }
}

/// Every function and variable that execution starting in one kernel can touch.
class Reach {
 public:
  Reach(const ptx::Module& module, const ptx::Function& kernel) : module_(module) {
    for (uint32_t i = 0; i < module.functions.size(); ++i)
      if (&module.functions[i] == &kernel) visit(i);
  }

  std::set<uint32_t> functions;
  bool mayAwaitBlocks = false, readsClock = false;
  std::set<std::pair<uint32_t, uint32_t>> variables;  // keys of KernelLayout; module variables compare last

 private:
  void visit(uint32_t function) {
    if (!functions.insert(function).second) return;
    for (const ptx::Instruction& instruction : module_.functions[function].instructions) {
      mayAwaitBlocks |= looksAgain(instruction);
      for (const Operand& operand : instruction.operands) {
        readsClock |= isClock(operand);
        visit(function, operand);
      }
      if (instruction.op == isa::Op::Call && !instruction.operands[1].is(Operand::Kind::Symbol)) visitAll();
    }
  }

  void visitAll() {
    for (uint32_t i = 0; i < module_.functions.size(); ++i)
      if (!module_.functions[i].isEntry) visit(i);
  }

  void visit(uint32_t function, const Operand& operand) {
    for (const Operand& element : operand.elements) visit(function, element);
    uint32_t index = operand.symbol.index;
    switch (operand.symbol.kind) {
      case Symbol::Kind::Function:  // a kernel that this one launches runs in blocks of its own
        if (!module_.functions[index].isEntry) visit(index);
        break;
      case Symbol::Kind::ModuleVariable: variables.insert({kModule, index}); break;
      case Symbol::Kind::LocalVariable: variables.insert({function, index}); break;
      default: break;
    }
  }

  const ptx::Module& module_;
};

uint32_t alignUp(uint32_t offset, uint32_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

uint32_t place(uint32_t& end, const ptx::Variable& variable) {
  uint32_t offset = alignUp(end, std::max(variable.alignment, 1u));
  end = offset + uint32_t(variable.size);
  return offset;
}

bool isDynamic(const ptx::Variable& variable) {
  return variable.space == ptx::Space::Shared && (variable.count == 0 || variable.linkage == ptx::Linkage::Extern);
}

}  // namespace

KernelLayout layoutKernel(const ptx::Module& module, const ptx::Function& kernel) {
  KernelLayout layout;
  Reach reach(module, kernel);
  layout.mayAwaitBlocks = reach.mayAwaitBlocks;
  layout.readsClock = reach.readsClock;
  auto variableOf = [&](std::pair<uint32_t, uint32_t> key) -> const ptx::Variable& {
    return key.first == kModule ? module.variables[key.second] : module.functions[key.first].variables[key.second];
  };
  // Declaration order: module variables, whose function is the largest number, go first.
  std::vector<std::pair<uint32_t, uint32_t>> keys(reach.variables.begin(), reach.variables.end());
  std::sort(keys.begin(), keys.end(),
            [](auto a, auto b) { return std::pair(a.first + 1, a.second) < std::pair(b.first + 1, b.second); });

  uint32_t dynamicAlignment = 1;
  for (auto key : keys) {
    const ptx::Variable& variable = variableOf(key);
    if (isDynamic(variable))
      dynamicAlignment = std::max(dynamicAlignment, variable.alignment);
    else if (variable.space == ptx::Space::Shared)
      layout.sharedOffset[key] = place(layout.staticSharedBytes, variable);
    else if (variable.space == ptx::Space::Local)
      layout.localOffset[key] = place(layout.localBytes, variable);
  }
  layout.dynamicSharedOffset = alignUp(layout.staticSharedBytes, dynamicAlignment);
  for (auto key : keys)
    if (isDynamic(variableOf(key))) layout.sharedOffset[key] = layout.dynamicSharedOffset;
  return layout;
}

}  // namespace ordito::machine
