// What holds between passes, in SSA form:
//   * blocks end at blocks that exist; predecessors are exactly the blocks that lead here; the entry has none; every
//     block can be reached from it
//   * a value has one definition at most, and where it has one, that dominates every use (a phi uses its inputs at the
//     ends of the predecessors; a barrier's result is defined behind the barrier); one without is undefined on purpose
//   * a phi has an input for each predecessor, of the type of its value
//   * guards and conditions are predicates; a guarded destination has its old value, of the same type
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/ir.hpp"

namespace ordito::ir {
namespace {

using Kind = Terminator::Kind;

class Verifier {
 public:
  explicit Verifier(const Function& f) : f_(f), spillSlot_(f.values.size(), kNoBlock), position_(f.values.size(), 0) {}

  std::optional<std::string> run() {
    if (f_.blocks.empty()) error("a function without blocks");
    for (block_ = 0; block_ < f_.blocks.size(); ++block_) targets();
    if (problem_) return problem_;
    edges();
    define();
    if (problem_) return problem_;
    idom_ = immediateDominators(controlFlow(f_), 0);
    for (block_ = 0; block_ < f_.blocks.size() && !problem_; ++block_) uses();
    return problem_;
  }

 private:
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    if (!problem_) problem_ = fmt::format("B{}: {}", block_, fmt::format(format, std::forward<Args>(args)...));
  }

  std::string name(ValueId v) const {
    return v < f_.values.size() ? fmt::format("{} (value {})", f_.values[v].name, v) : fmt::format("value {}", v);
  }

  void targets() {
    const Terminator& end = f_.blocks[block_].end;
    for (unsigned k = 0; k < end.targetCount(); ++k)
      if (end.target[k] >= f_.blocks.size()) error("it goes to no block");
  }

  void edges() {
    Function expected;
    expected.blocks.resize(f_.blocks.size());
    for (BlockId b = 0; b < f_.blocks.size(); ++b) expected.blocks[b].end = f_.blocks[b].end;
    fillPredecessors(expected);
    for (block_ = 0; block_ < f_.blocks.size(); ++block_) {
      auto found = f_.blocks[block_].predecessors, right = expected.blocks[block_].predecessors;
      std::sort(found.begin(), found.end());
      std::sort(right.begin(), right.end());
      if (found != right) error("its predecessors are not the blocks that lead to it");
      if (block_ == 0 && !right.empty()) error("the entry has a predecessor");
      if (block_ > 0 && right.empty()) error("nothing leads to it");
    }
  }

  /// Phis are defined at position 0, instruction i at i + 1, a barrier's result behind all of them.
  void define() {
    for (block_ = 0; block_ < f_.blocks.size(); ++block_) {
      const Block& block = f_.blocks[block_];
      size_t position = 0;
      auto add = [&](ValueId v, unsigned) {
        if (v >= f_.values.size()) return error("it defines {}, which does not exist", name(v));
        if (spillSlot_[v] != kNoBlock) error("{} has two definitions", name(v));
        spillSlot_[v] = block_;
        position_[v] = position;
      };
      for (const Phi& phi : block.phis) add(phi.value, 0);
      for (const Instruction& i : block.code) ++position, forEachDefinition(i, add);
      position += 2;
      if (block.end.kind == Kind::Barrier) forEachDefinition(block.end.barrier, add);
    }
  }

  void uses() {
    const Block& block = f_.blocks[block_];
    for (const Phi& phi : block.phis) phiUses(block, phi);
    size_t position = 0;
    for (const Instruction& i : block.code) instruction(i, ++position);
    const Terminator& end = block.end;
    if (end.kind == Kind::Barrier) instruction(end.barrier, position + 1);
    if (end.kind != Kind::Branch) return;
    use(end.condition, block_, position + 1);
    if (!problem_) predicate(end.condition, "condition");
  }

  void phiUses(const Block& block, const Phi& phi) {
    if (phi.incoming.size() != block.predecessors.size())
      return error("the phi of {} has {} inputs for {} predecessors", name(phi.value), phi.incoming.size(),
                   block.predecessors.size());
    for (size_t p = 0; p < phi.incoming.size(); ++p) {
      use(phi.incoming[p], block.predecessors[p], ~size_t{0});
      if (!problem_) sameType(phi.incoming[p], phi.value);
    }
  }

  void instruction(const Instruction& i, size_t position) {
    forEachUse(i, [&](ValueId v) { use(v, block_, position); });
    if (problem_) return;
    if (i.guard) predicate(i.guard.reg, "guard");
    forEachDefinition(i, [&](ValueId v, unsigned k) {
      if (!i.guard || k >= i.prior.size() || v == i.carryOut) return;
      if (i.prior[k] == kNoValue) return error("line {}: a guarded result without its old value", i.line);
      sameType(i.prior[k], v);
    });
  }

  /// `v` is used in `b`, before what stands at `position`.
  void use(ValueId v, BlockId b, size_t position) {
    if (v >= f_.values.size()) return error("it uses {}, which does not exist", name(v));
    if (spillSlot_[v] == kNoBlock) return;
    const bool before = spillSlot_[v] == b ? position_[v] < position : dominates(idom_, spillSlot_[v], b);
    if (!before) error("{} is used where its definition in B{} does not reach", name(v), spillSlot_[v]);
  }

  void predicate(ValueId v, std::string_view what) {
    if (!isa::isPredicate(f_.values[v].type)) error("the {} {} is no predicate", what, name(v));
  }

  void sameType(ValueId a, ValueId b) {
    if (f_.values[a].type != f_.values[b].type) error("{} and {} differ in type", name(a), name(b));
  }

  const Function& f_;
  BlockId block_ = 0;
  std::optional<std::string> problem_;
  std::vector<BlockId> spillSlot_;  // by value: the block that defines it
  std::vector<size_t> position_;    // by value: where in the block
  std::vector<uint32_t> idom_;
};

}  // namespace

Expected<> verify(const Function& function) {
  if (auto problem = Verifier(function).run())
    return fail("{} (kernel '{}')", *problem, function.kernel ? function.kernel->name : "");
  return {};
}

}  // namespace ordito::ir
