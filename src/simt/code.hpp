// SIMT code: a kernel's control flow as it will run on the host, with masks, versions and the order of masked blocks as
// explicit operations. The passes of this folder make it (build_code.hpp) and rewrite it (code_passes.hpp);
// the lowering to LLVM walks over it, an operation at a time, and decides nothing.
//
// Code is a list of regions (regions.hpp), each a list of basic blocks. An operation is done by a batch of warps: masks
// have a bit for each of its lanes. `run` stands for the instructions of a block of the kernel, whose types are the
// shapes of their values (ir/shape.hpp): uniform, segmented or vector. `ordito opt --passes=code` prints code,
// verify_code.hpp says what holds of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simt/regions.hpp"

namespace ordito::simt {

/// A mask by its number in the region; each is defined once, in a block that dominates its uses.
using MaskId = uint32_t;
/// All lanes of the batch.
inline constexpr MaskId kAllLanes = ~0u;

/// A block of code by its place in RegionCode::blocks.
using CodeBlockId = uint32_t;
inline constexpr CodeBlockId kNoCodeBlock = ~0u;
/// As a target: the region is over for this batch of warps. Who has not ended goes on where NextRegion said.
inline constexpr CodeBlockId kRegionEnd = ~0u - 1;

/// What an operation does. B, C: blocks of the kernel; R: a resume point; %a, %b: masks.
enum class CodeOp : uint8_t {
  // ---- operations that give a mask
  Live,       // lanes that have not ended
  Launched,   // lanes that exist: those of the last warp may not
  Kept,       // lanes that had not ended when the region before was over
  Given,      // lanes that the lane scheduler brings
  Condition,  // lanes on which a predicate holds, or does not
  And,        // %a and %b
  AndNot,     // %a and not %b
  Waiting,    // lanes that wait to run B
  // ---- what a lane is at
  SetLive,       // exactly %a have not ended
  EndAll,        // none
  Retire,        // the lanes %a end, or leave the region
  Wait,          // the lanes %a wait to run B, besides those that do
  ClearWaiting,  // nobody waits to run B
  // ---- instructions and values
  Run,         // the instructions of B for the lanes %a; `values` are written under the mask, and keep what others have
  Assign,      // the phis of C get what comes along the edge from B, in the lanes %a; others may get it for `values`
  RunThreads,  // the stretch from B to C for the lanes %a, one after the other, and the phis of C (by_thread.hpp)
  Forget,      // nobody will read `values` before they are written again
  // ---- synchronisation points
  CheckBarrier,   // the number of the barrier that ends B is one
  ReduceBarrier,  // the lanes %a bring what the barrier that ends B reduces
  Spill,          // what the region at R reads goes to its spill slots, for the lanes %a
  KeepShared,     // what all warps share has its value for the next region
  Park,           // the lanes %a stop at the synchronisation point that ends B; includes the assignments behind it
  BeginSpin,      // iterations of the spinning loop at B are counted from here
  CountSpin,      // one more, by the lanes %a together; after many they stop, and the region is over for them
  RunApart,       // the batch's warps start anew, one by one, in a function for single warps
  // ---- events (machine/events.hpp)
  EndEvent,    // the lanes %a come to the end of B
  TakenEvent,  // the lanes %a take the branch that ends B, no others do, and none are parted there
  PartEvent,   // of the lanes %a, the lanes %b take the branch that ends B
  ExitEvent,   // the lanes %a run B, an exit of which there is no other code
  // ---- ends of blocks
  Branch,         // to targets[0]
  BranchUniform,  // to targets[0] if the predicate, the same for all lanes, holds, else to targets[1]
  BranchOnBase,  // to targets[0] or [1] if the warp's base of a comparison decides it for all lanes, else to targets[2]
  BranchAny,     // to targets[0] if %a has a lane, else to targets[1]
  BranchWhole,   // to targets[0] if %a has all lanes, else to targets[1]
  BranchSpin,    // lanes %a repeat the spinning loop at B: to targets[0], or to targets[1] if none do or they stop
  NextRegion,    // the region is over for the batch, and the block goes on at R
  Trap,          // the kernel's trap that ends B
};

struct CodeOperation {
  CodeOp op = CodeOp::Branch;
  MaskId result = kAllLanes, a = kAllLanes, b = kAllLanes;
  BlockId block = ir::kNoBlock, to = ir::kNoBlock;  // of the kernel
  ValueId predicate = ir::kNoValue;
  bool negated = false;
  /// Run: %a has a lane. NextRegion: no lane has ended.
  bool isWhole = false;
  uint32_t resumePoint = 0;
  CodeBlockId targets[3] = {kNoCodeBlock, kNoCodeBlock, kNoCodeBlock};
  std::vector<ValueId> values = {};

  unsigned targetCount() const;
  bool isTerminator() const { return op >= CodeOp::Branch; }
  bool givesMask() const { return op <= CodeOp::Waiting; }
};

struct CodeBlock {
  std::string label;
  /// The block at whose end the values that registers hold are those at the start of this one; else it reads them from
  /// their slots.
  CodeBlockId inherits = kNoCodeBlock;
  std::vector<CodeOperation> operations;  // the last is the terminator
};

/// Where a batch of warps, or lanes that the scheduler brings, come into the code of a region.
struct CodeEntry {
  uint32_t resumePoint = 0;
  CodeBlockId block = 0;
};

struct RegionCode {
  Region region;
  bool isScheduled = false;  // run by the lane scheduler
  std::vector<CodeEntry> entries;
  std::vector<CodeBlock> blocks;  // each behind the one that it inherits from
  MaskId masks = 0;               // how many there are
};

struct Code {
  std::vector<RegionCode> regions;
};

/// Do the batch's warps start anew somewhere, in a function for single warps?
bool runsApart(const Code& code);

/// How the operation is called.
const char* nameOf(CodeOp op);
std::optional<CodeOp> codeOpNamed(std::string_view name);

std::string print(const Code& code, const Regions& regions);

}  // namespace ordito::simt
