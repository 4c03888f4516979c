// Cuts a function at its branches, joins what only one jump leads to, and finds by iteration backwards which registers
// are read later. An instruction without effects whose results nobody reads counts as no reader, so that a value that
// only feeds itself round a loop is dead, too.
#include "ir/runs.hpp"

#include <algorithm>

namespace ordito::ir {
namespace {

using isa::Op;

bool endsThread(Op op) { return op == Op::Ret || op == Op::Exit || op == Op::Trap; }
bool isJump(const ptx::Instruction& i) { return i.op == Op::Bra && !i.guard; }
bool endsPiece(Op op) {
  return op == Op::Bra || op == Op::BrxIdx || op == Op::Call || op == Op::Brkpt || endsThread(op);
}

/// A set of registers.
class Registers {
 public:
  explicit Registers(size_t count) : words_((count + 63) / 64, 0) {}
  void add(ptx::RegisterId r) { words_[r / 64] |= uint64_t{1} << r % 64; }
  void drop(ptx::RegisterId r) { words_[r / 64] &= ~(uint64_t{1} << r % 64); }
  bool has(ptx::RegisterId r) const { return words_[r / 64] >> r % 64 & 1; }
  void add(const Registers& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  bool operator==(const Registers&) const = default;

 private:
  std::vector<uint64_t> words_;
};

struct Piece {
  uint32_t begin = 0, end = 0;  // instructions
  std::vector<uint32_t> successors;
  unsigned predecessors = 0;
  bool isContinued = false;  // ends neither the run by a branch nor the thread
};

class Finder {
 public:
  explicit Finder(const ptx::Function& f) : f_(f) {}

  Runs run() {
    cut();
    for (uint32_t p = 0; p < pieces_.size(); ++p) connect(p);
    for (const Piece& piece : pieces_)
      for (uint32_t s : piece.successors) ++pieces_[s].predecessors;
    findLive();
    join();
    return std::move(result_);
  }

 private:
  void cut() {
    const uint32_t count = static_cast<uint32_t>(f_.instructions.size());
    std::vector<uint32_t> at{0};
    for (uint32_t i = 0; i < count; ++i) {
      const ptx::Instruction& instruction = f_.instructions[i];
      if (endsPiece(instruction.op)) at.push_back(i + 1);
      if (instruction.op == Op::Bra) at.push_back(f_.labels[instruction.operands[0].label].instruction);
    }
    for (const ptx::BranchTargets& list : f_.branchTargets)
      for (uint32_t label : list.labels) at.push_back(f_.labels[label].instruction);
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    while (!at.empty() && at.back() >= count) at.pop_back();
    pieceAt_.assign(count, 0);
    for (uint32_t p = 0; p < at.size(); ++p) {
      pieces_.push_back({at[p], p + 1 < at.size() ? at[p + 1] : count, {}, 0, false});
      pieceAt_[at[p]] = p;
    }
  }

  void goTo(Piece& piece, uint32_t instruction) {
    if (instruction < pieceAt_.size()) piece.successors.push_back(pieceAt_[instruction]);
  }

  void connect(uint32_t p) {
    Piece& piece = pieces_[p];
    const ptx::Instruction& last = f_.instructions[piece.end - 1];
    if (last.op == Op::Bra) goTo(piece, f_.labels[last.operands[0].label].instruction);
    if (last.op == Op::BrxIdx)
      for (const ptx::BranchTargets& list : f_.branchTargets)
        for (uint32_t label : list.labels) goTo(piece, f_.labels[label].instruction);
    const bool fallsThrough = last.guard || !(isJump(last) || last.op == Op::BrxIdx || endsThread(last.op));
    if (fallsThrough) goTo(piece, piece.end);
    piece.isContinued = isJump(last) || !endsPiece(last.op);
  }

  /// Takes `live` from behind the instruction to before it; says whether the instruction is needed.
  bool step(const ptx::Instruction& instruction, Registers& live) const {
    bool isNeeded = instruction.info().effect != isa::Effect::Pure || instruction.has(isa::ModifierKind::Carry);
    forEachResult(instruction, [&](ptx::RegisterId r) { isNeeded |= live.has(r); });
    if (!isNeeded) return false;
    if (!instruction.guard) forEachResult(instruction, [&](ptx::RegisterId r) { live.drop(r); });
    if (endsThread(instruction.op)) addReturns(live);
    forEachSource(instruction, [&](ptx::RegisterId r) { live.add(r); });
    return true;
  }

  void addReturns(Registers& live) const {
    for (const ptx::Parameter& p : f_.returns)
      if (p.isRegister) live.add(p.reg);
  }

  Registers liveBehind(uint32_t p) const {
    Registers live(f_.registers.size());
    for (uint32_t s : pieces_[p].successors) live.add(before_[s]);
    if (pieces_[p].end == f_.instructions.size()) addReturns(live);
    return live;
  }

  void findLive() {
    before_.assign(pieces_.size(), Registers(f_.registers.size()));
    result_.isNeeded.assign(f_.instructions.size(), 0);
    for (bool changes = true; changes;) {
      changes = false;
      for (uint32_t p = static_cast<uint32_t>(pieces_.size()); p-- > 0;) {
        Registers live = liveBehind(p);
        for (uint32_t i = pieces_[p].end; i-- > pieces_[p].begin;)
          result_.isNeeded[i] = step(f_.instructions[i], live) ? 1 : 0;
        if (live == before_[p]) continue;
        before_[p] = std::move(live);
        changes = true;
      }
    }
  }

  /// May the run that `p` ends go on with `next`?
  bool goesOn(uint32_t p) const {
    const Piece& piece = pieces_[p];
    if (!piece.isContinued || piece.successors.size() != 1) return false;
    const uint32_t next = piece.successors[0];
    return next != 0 && pieces_[next].predecessors == 1;
  }

  void join() {
    std::vector<char> isTail(pieces_.size(), 0);
    for (uint32_t p = 0; p < pieces_.size(); ++p)
      if (goesOn(p)) isTail[pieces_[p].successors[0]] = 1;
    for (uint32_t p = 0; p < pieces_.size(); ++p)
      if (!isTail[p]) result_.runs.push_back(runFrom(p));
  }

  Runs::Run runFrom(uint32_t p) const {
    Runs::Run run;
    for (;; p = pieces_[p].successors[0]) {
      for (uint32_t i = pieces_[p].begin; i < pieces_[p].end; ++i) run.instructions.push_back(i);
      if (!goesOn(p)) break;
    }
    const Registers live = liveBehind(p);
    for (ptx::RegisterId r = 0; r < f_.registers.size(); ++r)
      if (live.has(r)) run.live.push_back(r);
    return run;
  }

  const ptx::Function& f_;
  std::vector<Piece> pieces_;
  std::vector<uint32_t> pieceAt_;  // by the first instruction of each
  std::vector<Registers> before_;  // by piece: what is read from there on
  Runs result_;
};

}  // namespace

Runs findRuns(const ptx::Function& function) {
  if (function.instructions.empty()) return {};
  return Finder(function).run();
}

}  // namespace ordito::ir
