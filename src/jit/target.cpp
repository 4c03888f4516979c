// What the host offers, from LLVM's host detection, and LLVM's target machine for it.
#include "jit/target.hpp"

#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <unistd.h>

namespace ordito::jit {

namespace {

/// What LLVM knows of a processor by its name; null if it knows none of that name.
std::unique_ptr<llvm::MCSubtargetInfo> processor(const std::string& name) {
  llvm::InitializeNativeTarget();
  const std::string triple = llvm::sys::getProcessTriple();
  std::string error;
  const auto* target = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> any(target->createMCSubtargetInfo(triple, "", ""));
  if (!any->isCPUStringValid(name)) return nullptr;
  return std::unique_ptr<llvm::MCSubtargetInfo>(target->createMCSubtargetInfo(triple, name, ""));
}

}  // namespace

Target Target::host(const std::string& cpu) {
  const std::string host = llvm::sys::getHostCPUName().str();
  auto named = cpu.empty() ? nullptr : processor(cpu);
  if (!cpu.empty() && !named)
    fmt::print(stderr, "ordito: LLVM knows no processor '{}' (ORDITO_CPU); compiling for this one, {}\n", cpu, host);
  Target t;
  t.cpu = named ? cpu : host;
  const auto features = llvm::sys::getHostCPUFeatures();
  auto has = [&](const std::string& name) {
    if (named) return named->checkFeatures("+" + name);
    auto it = features.find(name);
    return it != features.end() && it->second;
  };
  if (!named)
    for (const auto& f : features)
      t.features += (t.features.empty() ? "" : ",") + std::string(f.second ? "+" : "-") + f.first().str();
  // LLVM 19 compares vectors of halves wrongly with these instructions; without, halves are widened as everywhere else.
  t.features += std::string(t.features.empty() ? "" : ",") + "-avx512fp16";
  t.avx512 = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  t.avx2 = has("avx2") && has("fma");
  t.f16c = has("f16c");
  if (t.avx2 && !t.avx512) {
    const auto tuning = processor(t.cpu);
    t.fastGather = tuning && tuning->checkFeatures("+fast-gather");
  }
  t.slowMaskedStores = t.avx2 && !t.avx512 && (host.starts_with("znver") || host.starts_with("bdver"));
  if (const long ways = sysconf(_SC_LEVEL1_DCACHE_ASSOC); ways > 0 && ways <= 64)
    t.cacheWays = static_cast<unsigned>(ways);
  t.mathLanes = t.avx512 ? 16 : t.avx2 ? 8 : 4;
  t.mathSuffix = t.avx512 ? "avx512f" : t.avx2 ? "avx2" : "sse2";
  return t;
}

std::unique_ptr<llvm::TargetMachine> Target::machine() const {
  const std::string triple = llvm::sys::getProcessTriple();
  std::string error;
  const auto* target = llvm::TargetRegistry::lookupTarget(triple, error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // PTX says where to fuse
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, cpu, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, true));
}

}  // namespace ordito::jit
