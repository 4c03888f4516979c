// See emission_context.hpp.
#include "jit/emission_context.hpp"

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugInfoMetadata.h>

namespace ordito::jit {

LlvmValue EmissionContext::helper(const char* name, llvm::Type* result, llvm::ArrayRef<LlvmValue> arguments,
                                  bool noReturn) {
  std::vector<llvm::Type*> types;
  for (LlvmValue a : arguments) types.push_back(a->getType());
  auto callee = module.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
  auto* f = llvm::cast<llvm::Function>(callee.getCallee());
  f->addFnAttr(llvm::Attribute::NoUnwind);
  auto* call = b.CreateCall(callee, arguments);
  if (noReturn) call->setDoesNotReturn();
  return call;
}

LlvmValue EmissionContext::frameField(size_t offset, llvm::Type* type, const char* name) {
  auto* load = b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offset), name);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(b.getContext(), {}));
  return load;
}

LlvmValue EmissionContext::launchCounters() {
  return b.CreateLoad(b.getPtrTy(),
                      b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offsetof(machine::BlockFrame, counters)));
}

void EmissionContext::refuse(const Instruction& i, const std::string& what) {
  throw Refusal{fmt::format("kernel '{}', PTX line {}: {} ({}); run with ORDITO_ENGINE=interp, or see 'ordito isa'",
                            plan.function.kernel->name, i.line, what, isa::manualSyntax(i.info()))};
}

LlvmValue EmissionContext::pointer(LlvmValue address, int64_t offset) {
  LlvmValue p = b.CreateIntToPtr(address, b.getPtrTy());
  return offset ? b.CreateGEP(b.getInt8Ty(), p, b.getInt64(static_cast<uint64_t>(offset))) : p;
}

LlvmValue EmissionContext::dummyAddress() {
  return b.CreatePtrToInt(scratchAddress(plan.kept.spills.dummy), b.getInt64Ty());
}

/// Keeps LLVM from moving or merging volatile and atomic accesses; a block runs on one host thread, so nothing more is
/// needed on x86 for single accesses.
void EmissionContext::compilerFence() {
  b.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent, llvm::SyncScope::SingleThread);
}

/// Address of the first warp's copy. All copies of one value lie together, so that neighbouring warps share pages and
/// prefetch streams.
LlvmValue EmissionContext::scratchAddress(size_t offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), memory.scratch, offset);
}

/// That of one of the warps that advance together, whose copy has `bytesPerWarp`.
LlvmValue EmissionContext::scratchOfWarp(size_t offset, size_t bytesPerWarp, unsigned part) {
  const size_t stride = simt::SpillSlots::stride(bytesPerWarp);
  LlvmValue first = b.CreateMul(at.firstWarp, b.getInt32(static_cast<uint32_t>(stride)));
  return b.CreateInBoundsGEP(b.getInt8Ty(), scratchAddress(offset + part * stride), first);
}

LlvmValue EmissionContext::sharedBytes() {
  return frameField(offsetof(machine::BlockFrame, totalSharedBytes), b.getInt32Ty(), "sharedbytes");
}

LlvmValue EmissionContext::inMemory(LlvmValue vector) {
  auto* place = llvm::IRBuilder<>(entry).CreateAlloca(vector->getType());
  b.CreateStore(vector, place);
  return place;
}

/// Lane vectors side by side in memory, for a helper to read or fill.
llvm::AllocaInst* EmissionContext::laneArrays(llvm::Type* element, unsigned count) {
  return llvm::IRBuilder<>(entry).CreateAlloca(
      llvm::ArrayType::get(llvm::FixedVectorType::get(element, kLanes), count));
}

LlvmValue EmissionContext::laneArray(llvm::AllocaInst* arrays, unsigned k) {
  return b.CreateConstInBoundsGEP2_64(arrays->getAllocatedType(), arrays, 0, k);
}

llvm::Function* EmissionContext::declare(const std::string& name, llvm::ArrayRef<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(b.getInt32Ty(), parameters, false);
  return llvm::cast<llvm::Function>(module.getOrInsertFunction(name, type).getCallee());
}

/// Line tables, so that a fault in the machine code can name its line of PTX.
void EmissionContext::beginLines(const std::string& name) {
  llvm::DIBuilder di(module);
  if (!module.getModuleFlag("Debug Info Version"))
    module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  auto* file = di.createFile("kernel.ptx", ".");
  di.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "ordito", true, "", 0, "", llvm::DICompileUnit::LineTablesOnly);
  auto* lines = di.createFunction(file, name, name, file, 1, di.createSubroutineType(di.getOrCreateTypeArray({})), 1,
                                  llvm::DINode::FlagZero,
                                  llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  function->setSubprogram(lines);
  di.finalize();
  setLine(plan.function.kernel->line);
}

void EmissionContext::setLine(uint32_t line) {
  at.line = line;
  b.SetCurrentDebugLocation(llvm::DILocation::get(b.getContext(), line, 0, function->getSubprogram()));
}

}  // namespace ordito::jit
