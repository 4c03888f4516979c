// What the host offers, from LLVM's host detection, and LLVM's target machine for it.
#include "jit/target.hpp"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

namespace ordito::jit {

Target Target::host(const std::string& cpu) {
  Target t;
  t.cpu = cpu.empty() ? llvm::sys::getHostCPUName().str() : cpu;
  const auto features = llvm::sys::getHostCPUFeatures();
  auto has = [&](const char* name) {
    auto it = features.find(name);
    return it != features.end() && it->second;
  };
  if (cpu.empty()) {
    for (const auto& f : features)
      t.features += (t.features.empty() ? "" : ",") + std::string(f.second ? "+" : "-") + f.first().str();
    t.avx512 = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
    t.avx2 = has("avx2") && has("fma");
  } else {
    t.avx512 = cpu == "x86-64-v4";
    t.avx2 = t.avx512 || cpu == "x86-64-v3";
  }
  t.slowMaskedStores = t.avx2 && !t.avx512 && (t.cpu.starts_with("znver") || t.cpu.starts_with("bdver"));
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
