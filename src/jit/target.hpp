// The host processor as the code generator sees it, and how masks are kept on it.
#pragma once

#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
}

namespace ordito::jit {

struct Target {
  std::string cpu;       // LLVM's name
  std::string features;  // "+avx2,…"
  bool avx512 = false;
  bool avx2 = false;
  bool f16c = false;        // converts halves
  bool fastGather = false;  // AVX2: LLVM uses the processor's instructions to gather; else it takes lanes one by one
  /// vmaskmov stores are microcoded on AMD's processors: 12 ns for 8 lanes where scalar stores take 2 (measured on a
  /// Zen 3). What matters is the processor that runs the code, whichever it is compiled for.
  bool slowMaskedStores = false;
  /// Of the first data cache of this machine: how many lines a set of it holds.
  unsigned cacheWays = 8;
  /// SLEEF's vector width for float and the suffix of its functions ("avx2", "avx512f", "sse2").
  unsigned mathLanes = 4;
  std::string mathSuffix = "sse2";

  /// `cpu` empty: this machine. Else one that LLVM knows by this name, as "x86-64-v3" or "znver3".
  static Target host(const std::string& cpu);
  std::unique_ptr<llvm::TargetMachine> machine() const;
};

}  // namespace ordito::jit
