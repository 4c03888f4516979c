// What is counted of a loop that is run thread by thread, where a GPU would count what warps do. The lanes of an
// innermost loop begin together and meet in front of each iteration, so it is enough to know what each lane did in
// which iteration: rt/iteration_counts.hpp puts that together. Here is decided what each lane has to leave.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.hpp"
#include "ir/loops.hpp"

namespace ordito::simt {

using ir::BlockId;
using ir::Instruction;
struct StretchInputs;
class ThreadCosts;

struct CountedIterations {
  static constexpr uint32_t kNone = ~0u;
  enum class Decision : uint8_t {
    Jumps,
    LeavesIfTaken,  // the only way out of the loop: it has been taken in the last iteration, and never before
    LeavesElse,
    Logged
  };
  struct Block {
    BlockId block;
    Decision decision = Decision::Jumps;
    uint32_t row = kNone;                           // Logged: says in which iterations the branch was taken
    std::array<uint32_t, 2> targets{kNone, kNone};  // in `blocks`; none where an edge leaves the loop or leads back
  };
  /// An instruction that may be off.
  struct Guard {
    const Instruction* instruction;
    uint32_t block, row;
  };
  enum class Kind : uint8_t {
    Same,     // all lanes read one place
    Walk,     // the address grows by a constant: the row has where it was last
    Anywhere  // the list has the sector of each iteration, or the index
  };
  struct Access {
    const Instruction* instruction;
    uint32_t block;
    Kind kind;
    bool isStore;
    bool isLogged;           // by this access; not by one before it at the same address
    uint32_t place = kNone;  // a row or a list
    int32_t step = 0;        // of a walk, bytes
    /// Anywhere in an array: that begins at a value which all lanes share, in elements of 1 to 8 bytes, at an index of
    /// 32 bits. So the index says where a lane is.
    struct Element {
      ir::ValueId array = ir::kNoValue, index = ir::kNoValue;
      unsigned bytes = 1;
      bool isSigned = false;
    };
    std::optional<Element> element = {};
  };
  /// Each behind those that lead to it, the header first.
  std::vector<Block> blocks;
  std::vector<Guard> guards;
  std::vector<Access> accesses;
  uint32_t rows = 1, lists = 0;  // the first row has the iterations that a lane has begun
};

/// Why they cannot be counted; nothing if they can.
std::string_view obstacleToCounting(const ir::Loop& loop, const StretchInputs& inputs);

CountedIterations countedIterations(const ir::Loop& loop, const StretchInputs& inputs, const ThreadCosts& costs);

std::string print(const CountedIterations& counted, const ir::Function& function);

}  // namespace ordito::simt
