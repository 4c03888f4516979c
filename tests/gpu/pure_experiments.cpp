// One kernel holds up to a hundred instructions that take operands of the same types: the operands are loaded once, and
// each instruction stores its results.
#include <fmt/format.h>

#include <map>

#include "experiment.hpp"
#include "forms.hpp"
#include "operands.hpp"

namespace ordito::gpu {

using isa::ModifierKind;
using isa::Op;
using isa::Type;

namespace {

constexpr size_t kItemsPerKernel = 100;
constexpr unsigned kBlock = 128;

bool readsCarry(Op op) { return op == Op::Addc || op == Op::Subc || op == Op::Madc; }
bool isSubtraction(Op op) { return op == Op::SubCc || op == Op::Subc; }
bool makesCarry(const Form& f) { return f.has(ModifierKind::Carry); }

/// The results of these depend on where variables lie.
/// Addresses, and what the manual calls opaque: cache policies, places in another block, states of an mbarrier.
bool isPrivateToTheMachine(Op op) {
  switch (op) {
    case Op::Isspacep:
    case Op::Istypep:
    case Op::Cvta:
    case Op::Mapa:
    case Op::GetCtaRank:
    case Op::CreatePolicy:
    case Op::CreatePolicyCvt:
    case Op::MbarrierPendingCount: return true;
    default: return false;
  }
}

bool isApproximate(Op op) {
  switch (op) {
    case Op::Sin:
    case Op::Cos:
    case Op::Lg2:
    case Op::Ex2:
    case Op::Tanh:
    case Op::Rsqrt:
    case Op::Sqrt:
    case Op::Rcp: return true;
    default: return false;
  }
}

/// More where rounding has more to go wrong, fewer where a row has thousands of forms.
size_t tuplesFor(Op op, const std::vector<Type>& types) {
  if (op == Op::SetBool || op == Op::SetpBool || op == Op::Lop3) return kBlock;
  if (op == Op::Set || op == Op::Setp) return 2 * kBlock;
  if (isApproximate(op)) return 32 * kBlock;
  if (op == Op::Cvt) return (isa::isFloat(types[0]) ? 4 : 2) * kBlock;
  for (Type t : types)
    if (isa::isFloat(t)) return 8 * kBlock;
  return 2 * kBlock;
}

/// 8-bit operands come in 16-bit registers, with any bits above them.
Type loadedAs(Type t) { return isa::bits(t) == 8 ? Type::u16 : t; }
/// 8-bit results fill a register of 32 bits.
Type storedAs(Type t) { return isa::bits(t) == 8 ? Type::u32 : t == Type::tf32 ? Type::b32 : t; }

const char* bitsOf(char kind) { return kind == 'h' ? "b16" : kind == 'r' ? "b32" : kind == 'l' ? "b64" : "pred"; }

class Writer {
 public:
  Writer(Op op, const std::vector<Type>& sources, Spread spread)
      : op_(op), sources_(sources), tuples_(tuplesFor(op, sources)), spread_(spread) {
    for (Type t : sources_) seed_ += fmt::format(".{}", isa::name(t));
    std::vector<Type> loaded;
    for (Type t : sources_) loaded.push_back(loadedAs(t));
    inputs_ = operandValues(loaded, tuples_, seed_);
  }

  Experiment run(std::span<const Form> forms, unsigned number) {
    Experiment e;
    e.name = fmt::format("{}{}.{}", isa::info(op_).name, seed_, number);
    std::string code;
    for (const Form& f : forms) {
      e.items.push_back(item(f));
      code += e.items.back().code;
    }
    e.test = {e.name, module(code), {}};
    e.launch = launch();
    e.inputs = inputs_;
    e.fingerprint = hashOf(seed_) + tuples_;
    for (const auto& values : inputs_)
      for (uint64_t v : values) e.fingerprint = (e.fingerprint ^ v) * 0x100000001B3u;
    return e;
  }

 private:
  Op op_;
  std::vector<Type> sources_;
  size_t tuples_, end_ = 0;
  Spread spread_;
  std::string seed_;
  std::vector<std::vector<uint64_t>> inputs_;

  Item item(const Form& f) {
    Item i;
    i.op = op_;
    i.key = f.key();
    end_ = (end_ + 7) & ~size_t{7};
    std::string stores, &s = i.code;
    s = "  {\n";
    if (readsCarry(op_)) {
      s += fmt::format("  .reg .b32 %cin;\n  and.b32 %cin, %s{}, 1;\n", sources_.size() - 1);
      s += isSubtraction(op_) ? "  sub.cc.u32 %cin, 0, %cin;\n" : "  add.cc.u32 %cin, %cin, 0xffffffff;\n";
    }
    std::string declared, text = "  " + f.opcode;
    unsigned results = 0, source = 0;
    for (size_t k = 0; k < f.operands.size(); ++k) {
      const Form::Operand& o = f.operands[k];
      text += k == 0 ? " " : o.form.paired ? "|" : ", ";
      if (o.isResult()) {
        const char kind = registerKind(storedAs(o.type));
        declared += fmt::format("  .reg .{} %d{};\n", bitsOf(kind), results);
        text += fmt::format("%d{}", results);
        stores += store(i, storedAs(o.type), fmt::format("%d{}", results++));
      } else if (o.form.name == "immLut") {
        text += std::to_string(f.table);
      } else {
        text += fmt::format("%s{}", source++);
      }
    }
    if (makesCarry(f)) {
      declared += "  .reg .b32 %cout;\n";
      stores = fmt::format("  {}.u32 %cout, 0, 0;\n", isSubtraction(op_) ? "subc" : "addc") + stores +
               store(i, Type::u32, "%cout");
    }
    s += declared + text + ";\n" + stores + "  }\n";
    return i;
  }

  std::string store(Item& i, Type type, const std::string& reg) {
    Results r{type, end_, tuples_};
    i.results.push_back(r);
    end_ += r.bytes();
    if (type == Type::pred)
      return fmt::format("  selp.u32 %flag, 1, 0, {};\n  st.global.u8 [%o1+{}], %flag;\n", reg, r.offset);
    return fmt::format("  st.global.b{} [%o{}+{}], {};\n", isa::bits(type), isa::bytes(type), r.offset, reg);
  }

  /// The tuple's number, the operands and the places of results.
  std::string prologue() const {
    std::string s =
        spread_ == Spread::Uniform
            ? "  mov.u32 %i, %ctaid.x;\n"
            : fmt::format("  mov.u32 %i, %ctaid.x;\n  mov.u32 %t, %tid.x;\n  mad.lo.u32 %i, %i, {}, %t;\n", kBlock);
    for (size_t k = 0; k < sources_.size(); ++k) {
      const Type t = loadedAs(sources_[k]);
      const unsigned bytes = t == Type::pred ? 4 : isa::bytes(t);
      s += fmt::format("  ld.param.u64 %a, [in{}];\n  mad.wide.u32 %a, %i, {}, %a;\n", k, bytes);
      if (t == Type::pred)
        s += fmt::format("  ld.global.u32 %t, [%a];\n  setp.ne.u32 %s{}, %t, 0;\n", k);
      else
        s += fmt::format("  ld.global.b{} %s{}, [%a];\n", 8 * bytes, k);
    }
    s += "  ld.param.u64 %o1, [out];\n";
    for (unsigned bytes : {2, 4, 8}) s += fmt::format("  mad.wide.u32 %o{0}, %i, {0}, %o1;\n", bytes);
    return s + "  cvt.u64.u32 %a, %i;\n  add.u64 %o1, %o1, %a;\n";
  }

  std::string module(const std::string& code) const {
    std::string parameters, registers = "  .reg .b32 %i, %t, %flag;\n  .reg .b64 %a, %o1, %o2, %o4, %o8;\n";
    for (size_t k = 0; k < sources_.size(); ++k) {
      parameters += fmt::format(".param .u64 in{}, ", k);
      registers += fmt::format("  .reg .{} %s{};\n", bitsOf(registerKind(sources_[k])), k);
    }
    return moduleHead(op_) + fmt::format(".visible .entry k({}.param .u64 out)\n{{\n{}{}{}  ret;\n}}\n", parameters,
                                         registers, prologue(), code);
  }

  test::Case launch() const {
    test::Case c;
    c.block = {spread_ == Spread::Uniform ? 1 : kBlock, 1, 1};
    c.grid = {static_cast<unsigned>(tuples_) / c.block.x, 1, 1};
    for (size_t k = 0; k < sources_.size(); ++k) {
      const Type t = loadedAs(sources_[k]);
      const Type word = t == Type::pred || isa::bits(t) == 32 ? Type::u32 : isa::bits(t) == 16 ? Type::u16 : Type::u64;
      c.parameters.push_back(bufferOf(fmt::format("in{}", k), word, inputs_[k]));
    }
    c.parameters.push_back(bufferOf("out", Type::u32, std::vector<uint64_t>((end_ + 7) / 8 * 2, 0)));
    return c;
  }
};

}  // namespace

std::vector<Experiment> pureExperiments(Op op, Spread spread) {
  if (isPrivateToTheMachine(op)) return {};
  std::map<std::vector<Type>, std::vector<Form>> groups;
  for (Form& f : pureForms(op)) {
    std::vector<Type> sources;
    for (const Form::Operand& o : f.operands)
      if (!o.isResult() && o.form.name != "immLut") sources.push_back(o.type);
    if (readsCarry(op)) sources.push_back(Type::b32);
    groups[sources].push_back(std::move(f));
  }
  std::vector<Experiment> experiments;
  for (const auto& [sources, forms] : groups)
    for (size_t k = 0; k < forms.size(); k += kItemsPerKernel) {
      const std::span all(forms);
      Writer writer(op, sources, spread);
      experiments.push_back(writer.run(all.subspan(k, std::min(kItemsPerKernel, forms.size() - k)),
                                       static_cast<unsigned>(k / kItemsPerKernel)));
    }
  return experiments;
}

}  // namespace ordito::gpu
