// The calls around inlined code, as PTX says them (PTX ISA, "Debugging Directives: .loc": function_name, inlined_at),
// which LLVM 19 does not write. It is led there by files of made-up names, one for each chain of calls.
#pragma once

#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace ordito::nvvm {

class InlinedLines {
 public:
  /// Instructions of `module` that were inlined get files of made-up names.
  explicit InlinedLines(llvm::Module& module);
  /// `ptx`, made of that module, with what the names stand for.
  std::string written(const std::string& ptx) const;

 private:
  struct Place {
    std::string file, function;
    unsigned line = 0, column = 0;
  };
  using Chain = std::vector<Place>;  // the inlined place, whose line each .loc has, and the calls from the inside

  std::vector<Chain> chains_;
};

}  // namespace ordito::nvvm
