// Where a kernel counts how often its blocks run. What runs into a block runs out of it, so of all edges of the flow
// graph only those outside of a spanning tree need a counter: the others follow (D. E. Knuth and F. R. Stevenson,
// "Optimal measurement points for program frequency counts", BIT 13, 1973; T. Ball and J. R. Larus, "Optimally
// profiling and tracing programs", TOPLAS 16, 1994). The tree takes the edges that run most; a loop's own branches cost
// little or nothing.
//
// The emitter marks blocks by calls of `kRunsMark`, which LLVM's passes may move along with the block, copy and drop,
// but not merge. This pass comes after them.
#pragma once

#include <llvm/IR/Function.h>

namespace ordito::jit {

/// void (i32 word): the code here runs once more.
inline constexpr const char* kRunsMark = "ordito_runs";
/// void (ptr out, ptr words, i64 count): hands the words over. Every return has one such call in its block.
inline constexpr const char* kAddCounters = "ordito_add_counters";

/// Replaces the marks of `f` by counters of edges, and stores what they say into the words before these are handed
/// over.
void placeCounters(llvm::Function& f);

}  // namespace ordito::jit
