// See line_tables.hpp. What a compile unit emits is fixed when it is made, so each gets a successor that emits
// directives only.
#include "libs/nvvm/line_tables.hpp"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include <map>

namespace ordito::nvvm {
namespace {

llvm::DICompileUnit* withDirectivesOnly(const llvm::DICompileUnit& unit) {
  return llvm::DICompileUnit::getDistinct(
      unit.getContext(), unit.getSourceLanguage(), unit.getFile(), unit.getProducer(), unit.isOptimized(),
      unit.getFlags(), unit.getRuntimeVersion(), unit.getSplitDebugFilename(), llvm::DICompileUnit::DebugDirectivesOnly,
      nullptr, nullptr, nullptr, nullptr, nullptr, 0, unit.getSplitDebugInlining(), unit.getDebugInfoForProfiling(),
      unit.getNameTableKind(), unit.getRangesBaseAddress(), unit.getSysRoot(), unit.getSDK());
}

bool asksForLines(const llvm::Module& module) {
  return llvm::any_of(module.debug_compile_units(), [](const llvm::DICompileUnit* unit) {
    return unit->getEmissionKind() == llvm::DICompileUnit::DebugDirectivesOnly;
  });
}

}  // namespace

void keepLines(llvm::Module& module, bool lines) {
  if (!lines && !asksForLines(module)) {
    llvm::StripDebugInfo(module);
    return;
  }
  llvm::stripNonLineTableDebugInfo(module);
  std::map<llvm::DICompileUnit*, llvm::DICompileUnit*> successors;
  llvm::DebugInfoFinder finder;
  finder.processModule(module);
  for (llvm::DICompileUnit* unit : finder.compile_units()) successors[unit] = withDirectivesOnly(*unit);
  for (llvm::DISubprogram* function : finder.subprograms())
    if (const auto found = successors.find(function->getUnit()); found != successors.end())
      function->replaceUnit(found->second);
  llvm::NamedMDNode* units = module.getNamedMetadata("llvm.dbg.cu");
  if (!units) return;
  units->clearOperands();
  for (const auto& [unit, successor] : successors) units->addOperand(successor);
}

}  // namespace ordito::nvvm
