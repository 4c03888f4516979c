// A pass for clang, not part of the JIT: PTX says of each instruction which call brought it there.
//
// clang 19 gives inlined code the line of the function that it comes from and leaves out the calls, so a fault in
// atomicAdd would be one of our headers'. This pass puts them into the file's name: "a.cu:20 > b.cuh", the outermost
// call first, as the parser of PTX names what nvcc says with inlined_at (src/ptx/parser.cpp).
#include "frontend/inlined_lines_pass.hpp"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Path.h>

#include <string>

namespace {

using namespace llvm;

/// Template libraries inline deeply: of longer chains the outermost calls and the last place are named.
constexpr unsigned kMostCalls = 4;

std::string placeOf(const DILocation& at, bool isOutermost) {
  const StringRef file = isOutermost ? at.getFilename() : sys::path::filename(at.getFilename());
  return file.str() + ":" + std::to_string(at.getLine());
}

/// The calls around an inlined instruction.
std::string callsAround(const DILocation& at) {
  SmallVector<const DILocation*> calls;
  for (const DILocation* call = at.getInlinedAt(); call; call = call->getInlinedAt()) calls.push_back(call);
  std::string text;
  for (size_t k = calls.size(); k-- > 0;) {
    if (calls.size() - k > kMostCalls) return text + "... > ";
    text += placeOf(*calls[k], k + 1 == calls.size()) + " > ";
  }
  return text;
}

void nameCalls(Function& function, DISubprogram& subprogram) {
  LLVMContext& context = function.getContext();
  for (Instruction& i : instructions(function)) {
    const DILocation* at = i.getDebugLoc();
    if (!at || !at->getInlinedAt()) continue;
    auto* file = DIFile::get(context, callsAround(*at) + sys::path::filename(at->getFilename()).str(), "");
    auto* scope = DILexicalBlockFile::get(context, &subprogram, file, 0);
    i.setDebugLoc(DILocation::get(context, at->getLine(), at->getColumn(), scope));
  }
}

}  // namespace

PreservedAnalyses InlinedLinesPass::run(Module& module, ModuleAnalysisManager&) {
  for (Function& function : module)
    if (DISubprogram* subprogram = function.getSubprogram()) nameCalls(function, *subprogram);
  return PreservedAnalyses::all();
}
