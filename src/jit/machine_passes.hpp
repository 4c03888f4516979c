// Which of LLVM's passes from IR to machine code run on kernels.
#pragma once

#include <llvm/IR/LegacyPassManager.h>

#include <set>
#include <string_view>

namespace ordito::jit {

/// Hands passes on to a pass manager, without those that can do nothing for a kernel. They are known by their names,
/// which is all that LLVM offers for passes of a target.
class MachinePasses : public llvm::legacy::PassManagerBase {
 public:
  /// `hurries`: for baseline code.
  MachinePasses(llvm::legacy::PassManagerBase& to, bool hurries);
  void add(llvm::Pass* pass) override;
  /// Names of the list that LLVM has not added: it has renamed them.
  const std::set<std::string_view>& unmet() const { return unmet_; }

 private:
  llvm::legacy::PassManagerBase& to_;
  const bool hurries_;
  std::set<std::string_view> unmet_;
};

}  // namespace ordito::jit
