// How the values of a kernel differ between the blocks of a launch: block b's is block 0's plus b × a step.
//
// With the grid, the block and the parameters known, most addresses are made of threadIdx, counters of loops and
// constants, which all blocks share, and of blockIdx times a constant. Then what one block does says what the others
// do, and nobody needs to watch them (check/proof.hpp). Loops need no bounds: that a counter is the same in all blocks
// holds for each of its values.
//
// Arithmetic modulo 2^32 is exact here as long as nobody looks at the carry. Who does is a *guard*: a comparison, a
// widening, a minimum, an `or` that stands for a sum. What is said of values behind one holds for those blocks in which
// it comes out as in the block that was watched; its operands there say which these are. A value made of what a kernel
// has loaded is *varying*, and so is all that is computed, or joins, under a condition that varies: the rule of
// divergence, for blocks in place of lanes (Coutinho et al., "Divergence Analysis and Optimizations", PACT 2011).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/ir.hpp"

namespace ordito::ir {

using BlockStep = std::array<int64_t, 3>;  // for each block further in x, y, z

struct BlockForm {
  enum class Kind : uint8_t {
    Unknown,  // never defined
    Shifted,  // by `step`
    Between,  // what is the greater or the lesser of several: shifted by no more and no less than those of `steps`
    Varying,
  };
  Kind kind = Kind::Unknown;
  BlockStep step{};
  std::vector<BlockStep> steps{};
  std::optional<int64_t> number{};  // that all threads of all blocks have
  bool operator==(const BlockForm&) const = default;
  /// Between is known to comparisons only.
  bool isVarying() const { return kind == Kind::Varying || kind == Kind::Between; }
  /// By any of them; none: it is varying.
  std::vector<BlockStep> shifts() const { return kind == Kind::Shifted ? std::vector{step} : steps; }
  /// The same in all blocks.
  bool isSame() const { return kind == Kind::Shifted && step == BlockStep{}; }
};

/// What the analysis may know of a launch.
struct LaunchNumbers {
  std::array<uint32_t, 3> grid = {0, 0, 0}, block = {1, 1, 1};  // a grid of 0: not known
  const std::byte* parameters = nullptr;                        // null: not known
};

/// An instruction whose operands are told so that block forms hold (machine/events.hpp, OperandsEvent).
struct GuardOperands {
  enum class Kind : uint8_t { None, Less, LessOrEqual, Equal, Widen, Or };  // Less: a < b and a >= b, and so on
  Kind kind = Kind::None;
  size_t a = 0, b = 0;  // operands; the same for a widening
  isa::Type type{};     // as which they are read
  explicit operator bool() const { return kind != Kind::None; }
};
GuardOperands guardOperands(const ptx::Instruction& i);

class BlockForms {
 public:
  BlockForms(const Function& function, const LaunchNumbers& launch);

  const BlockForm& operator[](ValueId v) const { return forms_[v]; }
  /// Of a source, or of the address that a memory operand names.
  BlockForm formOf(const ptx::Operand& operand) const;
  /// Do the blocks differ in which of their threads come here, or how often?
  bool isVarying(BlockId b) const { return varying_[b]; }
  /// Does the instruction run in all blocks alike, but for guards?
  bool isAlike(BlockId b, const Instruction& i) const;

 private:
  bool visit(BlockId b);
  bool set(ValueId v, BlockForm form);
  BlockForm phi(BlockId b, const Phi& phi) const;
  BlockForm result(const Instruction& i, isa::Type type) const;
  BlockForm computed(const Instruction& i) const;
  BlockForm sum(const Instruction& i, int64_t sign) const;
  BlockForm product(const Instruction& i) const;
  BlockForm bits(const Instruction& i) const;
  BlockForm extreme(const Instruction& i) const;
  BlockForm comparison(const Instruction& i) const;
  BlockForm loaded(const Instruction& i, isa::Type type) const;
  BlockForm special(isa::Special s) const;
  void markInfluence(BlockId b);

  const Function& f_;
  const LaunchNumbers launch_;
  std::vector<BlockForm> forms_;
  std::vector<char> varying_, joins_;  // joins: what meets here came on ways that vary
  std::vector<uint32_t> postDominator_;
};

std::string print(const BlockForms& forms, const Function& function);

}  // namespace ordito::ir
