// The list of passes to leave out names passes that LLVM has.
#include "jit/machine_passes.hpp"

#include <gtest/gtest.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "jit/target.hpp"

namespace ordito::jit {
namespace {

TEST(MachinePasses, EveryNameOnTheListIsAPassOfThisLlvm) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  const auto machine = Target::host({}).machine();
  llvm::legacy::PassManager manager;
  MachinePasses passes(manager, true);
  llvm::MCContext* context = nullptr;
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream out(object);
  ASSERT_FALSE(machine->addPassesToEmitMC(passes, context, out));
  for (std::string_view name : passes.unmet()) ADD_FAILURE() << "LLVM has no pass of this name: " << name;
}

}  // namespace
}  // namespace ordito::jit
