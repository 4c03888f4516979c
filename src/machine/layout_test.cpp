// layoutKernel on modules built by hand: offsets, alignment, reachability and dynamic shared memory.
#include "machine/layout.hpp"

#include <gtest/gtest.h>

namespace ordito::machine {
namespace {

ptx::Variable variable(ptx::Space space, uint64_t size, uint32_t alignment) {
  ptx::Variable v;
  v.space = space;
  v.type = isa::Type::b8;
  v.count = v.size = size;
  v.alignment = alignment;
  if (size == 0) v.linkage = ptx::Linkage::Extern;
  return v;
}

ptx::Operand symbol(ptx::Symbol::Kind kind, uint32_t index) {
  ptx::Operand operand;
  operand.kind = ptx::Operand::Kind::Symbol;
  operand.symbol = {kind, index};
  return operand;
}

void use(ptx::Function& function, ptx::Symbol::Kind kind, uint32_t index) {
  ptx::Instruction mov;
  mov.op = isa::Op::Mov;
  mov.operands = {ptx::Operand{}, symbol(kind, index)};
  function.instructions.push_back(mov);
}

void call(ptx::Function& function, ptx::Operand target) {
  ptx::Instruction call;
  call.op = isa::Op::Call;
  call.operands = {ptx::Operand{}, std::move(target), ptx::Operand{}, ptx::Operand{}};
  function.instructions.push_back(call);
}

using Kind = ptx::Symbol::Kind;
constexpr uint32_t kModule = KernelLayout::kModule;

/// Module: shared a (6 bytes), b (8, aligned 8), unused (100), dynamic (aligned 16); kernel 0 calls function 1;
/// function 2 is called by nobody.
ptx::Module sample() {
  ptx::Module m;
  m.variables = {variable(ptx::Space::Shared, 6, 2), variable(ptx::Space::Shared, 8, 8),
                 variable(ptx::Space::Shared, 100, 4), variable(ptx::Space::Shared, 0, 16),
                 variable(ptx::Space::Global, 40, 4)};
  m.functions.resize(3);
  m.functions[0].isEntry = true;
  m.functions[0].variables = {variable(ptx::Space::Local, 5, 4), variable(ptx::Space::Param, 8, 8)};
  m.functions[1].variables = {variable(ptx::Space::Local, 16, 16), variable(ptx::Space::Shared, 4, 4)};
  m.functions[2].variables = {variable(ptx::Space::Local, 1000, 4)};
  use(m.functions[2], Kind::LocalVariable, 0);
  use(m.functions[0], Kind::ModuleVariable, 0);
  use(m.functions[0], Kind::LocalVariable, 0);
  use(m.functions[0], Kind::LocalVariable, 1);
  call(m.functions[0], symbol(Kind::Function, 1));
  use(m.functions[1], Kind::ModuleVariable, 1);
  use(m.functions[1], Kind::ModuleVariable, 3);
  use(m.functions[1], Kind::ModuleVariable, 4);
  use(m.functions[1], Kind::LocalVariable, 0);
  use(m.functions[1], Kind::LocalVariable, 1);
  return m;
}

TEST(Layout, PlacesSharedVariablesOfReachableFunctions) {
  ptx::Module m = sample();
  KernelLayout layout = layoutKernel(m, m.functions[0]);
  EXPECT_EQ(layout.sharedOffset.at({kModule, 0}), 0u);
  EXPECT_EQ(layout.sharedOffset.at({kModule, 1}), 8u);
  EXPECT_EQ(layout.sharedOffset.at({1, 1}), 16u);
  EXPECT_EQ(layout.staticSharedBytes, 20u);
  EXPECT_FALSE(layout.sharedOffset.contains({kModule, 2}));
  EXPECT_FALSE(layout.sharedOffset.contains({kModule, 4}));
}

TEST(Layout, StartsDynamicMemoryAtTheLargestAlignment) {
  ptx::Module m = sample();
  KernelLayout layout = layoutKernel(m, m.functions[0]);
  EXPECT_EQ(layout.dynamicSharedOffset, 32u);
  EXPECT_EQ(layout.sharedOffset.at({kModule, 3}), 32u);
}

TEST(Layout, PlacesLocalVariables) {
  ptx::Module m = sample();
  KernelLayout layout = layoutKernel(m, m.functions[0]);
  EXPECT_EQ(layout.localOffset.at({0, 0}), 0u);
  EXPECT_EQ(layout.localOffset.at({1, 0}), 16u);
  EXPECT_EQ(layout.localBytes, 32u);
}

TEST(Layout, IndirectCallsReachEveryFunction) {
  ptx::Module m = sample();
  ptx::Operand reg;
  reg.kind = ptx::Operand::Kind::Register;
  call(m.functions[0], reg);
  EXPECT_EQ(layoutKernel(m, m.functions[0]).localBytes, 1032u);
}

TEST(Layout, FindsLoadsThatMayAwaitOtherBlocks) {
  ptx::Module m = sample();
  EXPECT_FALSE(layoutKernel(m, m.functions[0]).mayAwaitBlocks);
  ptx::Instruction load;
  load.op = isa::Op::Ld;
  m.functions[1].instructions.push_back(load);
  EXPECT_FALSE(layoutKernel(m, m.functions[0]).mayAwaitBlocks) << "a plain load is not repeated by the compiler";
  auto& added = m.functions[1].instructions.back();
  added.mods[isa::ModifierKind::Semantics] = isa::mod<isa::ModifierKind::Semantics>("volatile").value;
  EXPECT_TRUE(layoutKernel(m, m.functions[0]).mayAwaitBlocks);
  added.mods[isa::ModifierKind::Space] = isa::mod<isa::ModifierKind::Space>("shared").value;
  EXPECT_FALSE(layoutKernel(m, m.functions[0]).mayAwaitBlocks) << "shared memory is the block's own";
}

}  // namespace
}  // namespace ordito::machine
