// A pass for clang, not part of the JIT: PTX says of each instruction which call brought it there.
//
// clang 19 gives inlined code the line of the function that it comes from and leaves out the calls, so a fault in
// atomicAdd would be one of our headers'. This pass puts them into the file's name: "a.cu:20 > b.cuh", the outermost
// call first, as the parser of PTX names what nvcc says with inlined_at (src/ptx/parser.cpp). What comes from a header
// of Ordito's own or of clang's gets the line of the program that calls it: nobody looks for a mistake in atomicAdd.
#include "frontend/inlined_lines_pass.hpp"

#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/FileSystem.h>
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

/// Is it a folder of Ordito's headers? They have one that no other toolkit has.
bool hasOurHeaders(StringRef folder) {
  static StringMap<bool> known;
  const auto [entry, isNew] = known.try_emplace(folder, false);
  if (isNew) entry->second = sys::fs::exists(folder + "/ordito/per_thread_stream.h");
  return entry->second;
}

bool isToolkits(const DILocation& at) {
  constexpr unsigned kDepth = 3;  // of folders below the toolkit's
  SmallString<256> whole(at.getFilename());
  if (sys::path::filename(whole).starts_with("__clang_")) return true;
  if (!sys::path::is_absolute(whole)) sys::path::append(whole = at.getDirectory(), at.getFilename());
  StringRef path = whole;
  for (unsigned k = 0; k < kDepth && sys::path::has_parent_path(path); ++k) {
    path = sys::path::parent_path(path);
    if (hasOurHeaders(path)) return true;
  }
  return false;
}

/// The innermost place that is not in a header of the toolkit; the instruction's own, if it has no other.
const DILocation* placeInProgram(const DILocation* own) {
  for (const DILocation* at = own; at; at = at->getInlinedAt())
    if (!isToolkits(*at)) return at;
  return own;
}

void nameCalls(Function& function, DISubprogram& subprogram) {
  LLVMContext& context = function.getContext();
  for (Instruction& i : instructions(function)) {
    const DILocation* own = i.getDebugLoc();
    if (!own || !own->getInlinedAt()) continue;
    const DILocation* at = placeInProgram(own);
    const bool isInlined = at->getInlinedAt();
    const StringRef name = isInlined ? sys::path::filename(at->getFilename()) : at->getFilename();
    auto* file = DIFile::get(context, callsAround(*at) + name.str(), isInlined ? "" : at->getDirectory());
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
