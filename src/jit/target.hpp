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
  /// vmaskmov stores are microcoded on AMD before AVX-512: 12 ns for 8 lanes where scalar stores take 2 (measured on a
  /// Zen 3).
  bool slowMaskedStores = false;
  /// SLEEF's vector width for float and the suffix of its functions ("avx2", "avx512f", "sse2").
  unsigned mathLanes = 4;
  std::string mathSuffix = "sse2";

  /// `cpu` empty: this machine. "x86-64-v2/v3/v4": that level.
  static Target host(const std::string& cpu);
  std::unique_ptr<llvm::TargetMachine> machine() const;
};

}  // namespace ordito::jit
