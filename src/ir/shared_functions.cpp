// See shared_functions.hpp. A frame holds, in this order: the number of the call site, the function's parameters,
// results and local variables, and room for the registers that live across a call in it. The frame of a callee follows
// the caller's.
#include "ir/shared_functions.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/build.hpp"
#include "ir/ir.hpp"
#include "ptx/local_objects.hpp"

namespace ordito::ir {
namespace {

using isa::ModifierKind;
using isa::Op;
using isa::Type;
using ptx::Operand;
using ptx::Symbol;
using Index = uint32_t;

constexpr uint32_t kSiteBytes = 8, kFrameAlignment = 16;

Operand variableOperand(Index variable, Operand::Kind kind) {
  Operand o;
  o.kind = kind;
  o.symbol = {Symbol::Kind::LocalVariable, variable};
  return o;
}

Operand at(ptx::RegisterId base, int64_t offset) {
  Operand o;
  o.kind = Operand::Kind::Address;
  o.reg = base;
  o.offset = offset;
  return o;
}

struct Layout {
  std::map<Index, uint32_t> offset;  // of variables
  uint32_t saved = 0;                // where the registers begin
  uint32_t bytes = 0;
};

/// Of a call.
struct Site {
  uint32_t number;
  Index resume;  // the label behind it
};

class Lowering {
 public:
  Lowering(ptx::Function& f, const std::vector<SharedBody>& bodies, std::vector<std::pair<uint32_t, uint32_t>>& origin,
           bool hasZones)
      : f_(f), bodies_(bodies), origin_(origin), hasZones_(hasZones) {}

  Stack run() {
    fp_ = newRegister("%frame", Type::b64);
    next_ = newRegister("%callee", Type::b64);
    stack_ = newVariable();
    for (const SharedBody& body : bodies_) layOut(body);
    numberSites();
    const std::vector<ptx::Instruction> old = std::move(f_.instructions);
    f_.instructions.clear();
    old_ = &old;
    std::vector<uint32_t> newIndex(old.size() + 1);
    const size_t labels = f_.labels.size();
    for (Index i = 0; i < old.size(); ++i) {
      newIndex[i] = here();
      body_ = bodyAt(i);
      line_ = old[i].line;
      if (callee(old[i]))
        call(i);
      else if (body_ && i + 1 == body_->last)
        giveBack(*body_);
      else
        copy(old[i]);
    }
    newIndex[old.size()] = here();
    for (size_t l = 0; l < labels; ++l) f_.labels[l].instruction = newIndex[f_.labels[l].instruction];
    for (const auto& [label, where] : placed_) f_.labels[label].instruction = where;
    return describe();
  }

 private:
  // Numbers and names

  Index here() const { return static_cast<Index>(f_.instructions.size()); }

  ptx::RegisterId newRegister(const char* name, Type type) {
    f_.registers.push_back({name, type});
    return static_cast<ptx::RegisterId>(f_.registers.size() - 1);
  }

  Index newVariable() {
    ptx::Variable v;
    v.name = "stack";
    v.space = ptx::Space::Local;
    v.type = Type::b8;
    v.count = v.size = stackBytes();
    v.alignment = kFrameAlignment;
    f_.variables.push_back(v);
    origin_.push_back({~0u, 0});
    return static_cast<Index>(f_.variables.size() - 1);
  }

  uint64_t stackBytes() const { return hasZones_ ? kStackBytesWithZones : kStackBytes; }

  Index newLabel() {
    f_.labels.push_back({"resume", 0});
    return static_cast<Index>(f_.labels.size() - 1);
  }
  void place(Index label) { placed_[label] = here(); }

  const SharedBody* bodyAt(Index i) const {
    for (const SharedBody& b : bodies_)
      if (i >= b.first && i < b.last) return &b;
    return nullptr;
  }

  /// The function of `bodies` that the instruction calls, or null.
  const SharedBody* callee(const ptx::Instruction& i) const {
    if (i.op != Op::Call || i.operands[1].symbol.kind != Symbol::Kind::Function) return nullptr;
    for (const SharedBody& b : bodies_)
      if (b.function == i.operands[1].symbol.index) return &b;
    return nullptr;
  }

  // Frames

  void layOut(const SharedBody& body) {
    Layout& frame = frames_[&body];
    ptx::LocalPlaces places{.end = kSiteBytes, .hasZones = hasZones_};
    // What a function outside the module is given and gives back does not live across a call.
    std::set<Index> ordinary;
    for (Index i = body.first; i < body.last; ++i) {
      const ptx::Instruction& inst = f_.instructions[i];
      if (inst.op != Op::Call || callee(inst)) continue;
      for (const Operand& list : inst.operands)
        for (const Operand& o : list.elements)
          if (o.symbol.kind == Symbol::Kind::LocalVariable) ordinary.insert(o.symbol.index);
    }
    for (Index v = body.variables.first; v < body.variables.second; ++v) {
      const ptx::Variable& variable = f_.variables[v];
      if (variable.space == ptx::Space::Shared || ordinary.count(v)) continue;
      frame.offset[v] = static_cast<uint32_t>(places.place(variable));
    }
    frame.saved = static_cast<uint32_t>((places.bytes() + 7) / 8 * 8);
    uint32_t most = 0;
    const auto live = liveAcross(body);
    for (const auto& [call, registers] : live) most = std::max(most, static_cast<uint32_t>(registers.size()));
    frame.bytes = (frame.saved + 8 * most + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
    saved_.insert(live.begin(), live.end());
  }

  /// For each such call in the body: the registers that are read afterwards.
  std::map<Index, std::vector<ptx::RegisterId>> liveAcross(const SharedBody& body) const {
    const Index count = body.last - body.first;
    const auto [firstRegister, endRegister] = body.registers;
    const size_t registers = endRegister - firstRegister;
    std::vector<std::vector<bool>> liveIn(count + 1, std::vector<bool>(registers, false));
    auto after = [&](Index i) {
      const ptx::Instruction& inst = f_.instructions[body.first + i];
      const bool leaves = (inst.op == Op::Bra && !inst.guard) || i + 1 == count ||
                          ((inst.op == Op::Exit || inst.op == Op::Trap) && !inst.guard);
      std::vector<bool> live = leaves ? std::vector<bool>(registers, false) : liveIn[i + 1];
      if (inst.op == Op::Bra) {
        const Index target = f_.labels[inst.operands[0].label].instruction;
        if (target >= body.first && target < body.last)
          for (size_t r = 0; r < registers; ++r)
            if (liveIn[target - body.first][r]) live[r] = true;
      }
      return live;
    };
    auto own = [&](ptx::RegisterId r) { return r >= firstRegister && r < endRegister; };
    for (bool changed = true; changed;) {
      changed = false;
      for (Index i = count; i-- > 0;) {
        const Instruction inst(f_.instructions[body.first + i]);
        std::vector<bool> live = after(i);
        if (!inst.guard)
          forEachDefinition(inst, [&](ptx::RegisterId r, unsigned) {
            if (own(r)) live[r - firstRegister] = false;
          });
        forEachUse(inst, [&](ptx::RegisterId r) {
          if (own(r)) live[r - firstRegister] = true;
        });
        if (live == liveIn[i]) continue;
        liveIn[i] = std::move(live);
        changed = true;
      }
    }
    std::map<Index, std::vector<ptx::RegisterId>> result;
    for (Index i = 0; i < count; ++i) {
      const Instruction inst(f_.instructions[body.first + i]);
      if (!callee(inst)) continue;
      auto& list = result[body.first + i];
      const auto live = after(i);
      std::set<ptx::RegisterId> results;
      forEachDefinition(inst, [&](ptx::RegisterId r, unsigned) { results.insert(r); });
      for (size_t r = 0; r < registers; ++r)
        if (live[r] && !results.count(static_cast<ptx::RegisterId>(firstRegister + r)))
          list.push_back(static_cast<ptx::RegisterId>(firstRegister + r));
    }
    return result;
  }

  void numberSites() {
    for (Index i = 0; i < f_.instructions.size(); ++i)
      if (const SharedBody* target = callee(f_.instructions[i])) {
        sites_[i] = {static_cast<uint32_t>(sites_.size()) + 1, newLabel()};
        callers_[target].push_back(i);
      }
  }

  // Instructions

  ptx::Instruction& emit(Op op, Type type, std::vector<Operand> operands) {
    ptx::Instruction& i = f_.instructions.emplace_back();
    i.raisesIssue = i.raisesAccess = false;
    i.op = op;
    i.type[0] = type;
    i.line = line_;
    i.operands = std::move(operands);
    i.operands.resize(i.info().form.operandCount);
    return i;
  }

  void load(Type type, ptx::RegisterId to, Operand from) {
    auto& i = emit(Op::Ld, type, {registerOperand(to), std::move(from)});
    i.mods[ModifierKind::Space] = isa::modifierValue(ModifierKind::Space, "local");
  }

  void store(Type type, Operand to, Operand value) {
    auto& i = emit(Op::St, type, {std::move(to), std::move(value)});
    i.mods[ModifierKind::Space] = isa::modifierValue(ModifierKind::Space, "local");
  }

  void add(ptx::RegisterId to, ptx::RegisterId from, uint64_t n) {
    emit(Op::Add, Type::u64, {registerOperand(to), registerOperand(from), integerOperand(n)});
  }

  void jump(Index label, ptx::RegisterId guard = ptx::kNoRegister) {
    Operand target;
    target.kind = Operand::Kind::Label;
    target.label = label;
    emit(Op::Bra, Type{}, {target}).guard.reg = guard;
  }

  ptx::RegisterId compare(const char* how, Type type, ptx::RegisterId a, uint64_t b) {
    const auto p = newRegister("%p", Type::pred);
    auto& i = emit(Op::Setp, type, {registerOperand(p), {}, registerOperand(a), integerOperand(b)});
    i.mods[ModifierKind::Compare] = isa::modifierValue(ModifierKind::Compare, how);
    return p;
  }

  /// An instruction that is neither a call nor a return, with the activation's variables found in its frame.
  void copy(const ptx::Instruction& original) {
    ptx::Instruction i = original;
    for (size_t k = 0; body_ && k < i.operands.size(); ++k) {
      Operand& o = i.operands[k];
      const auto offset = frameOffset(o);
      if (!offset) continue;
      if (o.kind == Operand::Kind::Address) {
        i.raisesAccess &= f_.variables[o.symbol.index].space == ptx::Space::Local;  // of a parameter is none
        o = at(fp_, *offset + o.offset);
        i.mods[ModifierKind::Space] = isa::modifierValue(ModifierKind::Space, "local");
      } else {
        const auto address = newRegister("%address", Type::b64);
        add(address, fp_, static_cast<uint64_t>(*offset + o.offset));
        o = registerOperand(address);
      }
    }
    f_.instructions.push_back(std::move(i));
  }

  std::optional<int64_t> frameOffset(const Operand& o) const {
    if (!body_ || o.symbol.kind != Symbol::Kind::LocalVariable) return std::nullopt;
    const auto& offsets = frames_.at(body_).offset;
    const auto found = offsets.find(o.symbol.index);
    return found == offsets.end() ? std::nullopt : std::optional<int64_t>(found->second);
  }

  /// The place of `variable` as the caller sees it.
  Operand callersPlace(const Operand& variable, int64_t offset) const {
    if (const auto inFrame = frameOffset(variable)) return at(fp_, *inFrame + variable.offset + offset);
    Operand o = variableOperand(variable.symbol.index, Operand::Kind::Address);
    o.offset = variable.offset + offset;
    return o;
  }

  /// Copies memory in pieces as large as its alignment allows.
  template <class From, class To>
  void copyBytes(uint64_t bytes, uint32_t alignment, From from, To to) {
    for (uint64_t done = 0; done < bytes;) {
      unsigned piece = std::min(8u, std::max(alignment, 1u));
      while (piece > bytes - done) piece /= 2;
      const auto word = newRegister("%word", piece == 8 ? Type::b64 : piece == 4 ? Type::b32 : Type::b16);
      load(isa::untyped(piece), word, from(static_cast<int64_t>(done)));
      store(isa::untyped(piece), to(static_cast<int64_t>(done)), registerOperand(word));
      done += piece;
    }
  }

  void call(Index i) {
    const ptx::Instruction& inst = (*old_)[i];
    const SharedBody& target = *callee(inst);
    const Layout& frame = frames_.at(&target);
    const uint32_t own = body_ ? frames_.at(body_).bytes : 0;
    const auto start = newRegister("%stack", Type::b64), used = newRegister("%used", Type::b64);
    emit(Op::Mov, Type::b64, {registerOperand(start), variableOperand(stack_, Operand::Kind::Symbol)});
    add(next_, body_ ? fp_ : start, own);
    emit(Op::Sub, Type::u64, {registerOperand(used), registerOperand(next_), registerOperand(start)});
    const auto isFull = compare("gt", Type::u64, used, stackBytes() - frame.bytes - (hasZones_ ? kSiteBytes : 0));
    ptx::Instruction& trap = emit(Op::Trap, Type{}, {});
    trap.operands = {integerOperand(static_cast<uint64_t>(Terminator::Cause::StackOverflow))};
    trap.guard.reg = isFull;

    for (size_t k = 0; k < target.parameters.size(); ++k) {
      const Operand& argument = inst.operands[2].elements[k];
      const ptx::Variable& parameter = f_.variables[target.parameters[k]];
      const int64_t offset = frame.offset.at(target.parameters[k]);
      if (argument.symbol.kind == Symbol::Kind::LocalVariable)
        copyBytes(
            parameter.size, parameter.alignment, [&](int64_t n) { return callersPlace(argument, n); },
            [&](int64_t n) { return at(next_, offset + n); });
      else
        store(isa::untyped(static_cast<unsigned>(parameter.size)), at(next_, offset), argument);
    }
    store(Type::b32, at(next_, 0), integerOperand(sites_.at(i).number));
    if (hasZones_) store(Type::b32, at(next_, frame.bytes), integerOperand(0));
    if (body_) forEachSaved(i, [&](auto reg, int64_t offset) { save(reg, offset); });
    emit(Op::Mov, Type::b64, {registerOperand(fp_), registerOperand(next_)});
    jump(target.entryLabel);

    place(sites_.at(i).resume);
    if (body_) {
      emit(Op::Mov, Type::b64, {registerOperand(next_), registerOperand(fp_)});
      emit(Op::Sub, Type::u64, {registerOperand(fp_), registerOperand(fp_), integerOperand(own)});
      forEachSaved(i, [&](auto reg, int64_t offset) { restore(reg, offset); });
    } else {
      emit(Op::Mov, Type::b64, {registerOperand(next_), registerOperand(fp_)});
    }
    if (hasZones_) store(Type::b32, at(next_, 0), integerOperand(0));
    const auto& wanted = inst.operands[0].elements;
    for (size_t k = 0; k < wanted.size(); ++k) {
      const ptx::Variable& result = f_.variables[target.returns[k]];
      const int64_t offset = frame.offset.at(target.returns[k]);
      if (wanted[k].kind == Operand::Kind::Register)
        load(isa::untyped(static_cast<unsigned>(result.size)), wanted[k].reg, at(next_, offset));
      else if (wanted[k].symbol.kind == Symbol::Kind::LocalVariable)
        copyBytes(
            result.size, result.alignment, [&](int64_t n) { return at(next_, offset + n); },
            [&](int64_t n) { return callersPlace(wanted[k], n); });
    }
  }

  template <class F>
  void forEachSaved(Index call, F&& f) {
    int64_t offset = frames_.at(body_).saved;
    for (ptx::RegisterId reg : saved_.at(call)) f(reg, offset), offset += 8;
  }

  void save(ptx::RegisterId reg, int64_t offset) {
    const Type type = f_.registers[reg].type;
    if (type != Type::pred) return store(isa::untyped(isa::bits(type) / 8), at(fp_, offset), registerOperand(reg));
    const auto word = newRegister("%word", Type::b32);
    emit(Op::Selp, Type::b32, {registerOperand(word), integerOperand(1), integerOperand(0), registerOperand(reg)});
    store(Type::b32, at(fp_, offset), registerOperand(word));
  }

  void restore(ptx::RegisterId reg, int64_t offset) {
    const Type type = f_.registers[reg].type;
    if (type != Type::pred) return load(isa::untyped(isa::bits(type) / 8), reg, at(fp_, offset));
    const auto word = newRegister("%word", Type::b32);
    load(Type::b32, word, at(fp_, offset));
    auto& i = emit(Op::Setp, Type::b32, {registerOperand(reg), {}, registerOperand(word), integerOperand(0)});
    i.mods[ModifierKind::Compare] = isa::modifierValue(ModifierKind::Compare, "ne");
  }

  /// The return: to whichever call site the frame names.
  void giveBack(const SharedBody& body) {
    const auto& sites = callers_[&body];
    const auto site = newRegister("%site", Type::b32);
    load(Type::b32, site, at(fp_, 0));
    for (size_t k = 0; k + 1 < sites.size(); ++k)
      jump(sites_.at(sites[k]).resume, compare("eq", Type::b32, site, sites_.at(sites[k]).number));
    jump(sites_.at(sites.back()).resume);
  }

  Stack describe() const {
    Stack stack;
    if (!hasZones_) return stack;
    stack.variable = stack_;
    for (const SharedBody& body : bodies_) {
      const Layout& layout = frames_.at(&body);
      Frame& frame = stack.frames.emplace_back();
      frame.bytes = layout.bytes;
      frame.variables.assign(layout.offset.begin(), layout.offset.end());
      if (const auto calls = callers_.find(&body); calls != callers_.end())
        for (Index i : calls->second) frame.sites.push_back(sites_.at(i).number);
    }
    return stack;
  }

  ptx::Function& f_;
  const std::vector<SharedBody>& bodies_;
  std::vector<std::pair<uint32_t, uint32_t>>& origin_;
  const bool hasZones_;
  const std::vector<ptx::Instruction>* old_ = nullptr;
  const SharedBody* body_ = nullptr;  // around the instruction being lowered
  uint32_t line_ = 0;
  ptx::RegisterId fp_ = 0, next_ = 0;  // the running activation's frame, and the callee's
  Index stack_ = 0;
  std::map<const SharedBody*, Layout> frames_;
  std::map<Index, std::vector<ptx::RegisterId>> saved_;  // by call
  std::map<Index, Site> sites_;                          // by call
  std::map<Index, Index> placed_;                        // labels
  std::map<const SharedBody*, std::vector<Index>> callers_;
};

}  // namespace

Stack lowerCalls(ptx::Function& function, const std::vector<SharedBody>& bodies,
                 std::vector<std::pair<uint32_t, uint32_t>>& origin, bool hasZones) {
  return Lowering(function, bodies, origin, hasZones).run();
}

}  // namespace ordito::ir
