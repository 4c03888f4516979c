// See judge.hpp. The rules are a table: the first that fits an opcode decides.
#include "fidelity/judge.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <iterator>

#include "ptx/opcode.hpp"
#include "ptx/reads.hpp"
#include "rt/math_error.hpp"

namespace ordito::fidelity {
namespace {

using isa::Op;
using isa::Special;

constexpr std::string_view kAtom = "atom";

struct Rule {
  const char* opcode;  // * stands for anything
  Kind kind;
  std::string_view reason;
};

constexpr std::string_view kPayload = "a NaN in f64 can have another payload than on a GPU";
constexpr std::string_view kSums = "floats are added in the order in which threads come, on a GPU in another";
constexpr std::string_view kOld = "which thread sees which old value is up to the order in which threads come";
constexpr std::string_view kLast = "what stands there in the end is up to the order in which threads come";
constexpr std::string_view kProducts = "sums of products are made as an H200 makes them; other GPUs round otherwise";
constexpr std::string_view kVideo = "GPUs since Volta leave out a clamp or take another sign; the manual is followed";
constexpr std::string_view kFiltered =
    "exact in one and two dimensions; weights in three, blended mipmap levels and sRGB colours are within 1/100 of the "
    "texels' range";

constexpr Rule kRules[] = {
    {"add*.f64", Kind::NanPayload, kPayload},
    {"sub*.f64", Kind::NanPayload, kPayload},
    {"mul*.f64", Kind::NanPayload, kPayload},
    {"fma*.f64", Kind::NanPayload, kPayload},
    {"mad*.f64", Kind::NanPayload, kPayload},
    {"abs.f64", Kind::NanPayload, kPayload},
    {"neg.f64", Kind::NanPayload, kPayload},
    {"mma*.f64", Kind::NanPayload, kPayload},
    {"wmma.mma*.f64*", Kind::NanPayload, kPayload},
    {"atom*.add*.f32", Kind::Order, kSums},
    {"atom*.add*.f64", Kind::Order, kSums},
    {"atom*.add*f16*", Kind::Order, kSums},
    {"red*.add*.f32", Kind::Order, kSums},
    {"red.*add*.f64", Kind::Order, kSums},
    {"red.*add*f16*", Kind::Order, kSums},
    {"red.*exch*", Kind::Order, kLast},
    {"red.*cas*", Kind::Order, kLast},
    {"red.*inc*", Kind::Order, kLast},
    {"red.*dec*", Kind::Order, kLast},
    {"sured*", Kind::Exact, ""},
    {"atom*", Kind::Order, kOld},
    {"activemask*", Kind::Order, "which lanes run together is the scheduler's choice"},
    {"mma*.s32", Kind::Exact, ""},
    {"wmma.mma*.s32", Kind::Exact, ""},
    {"mma*", Kind::Order, kProducts},
    {"wmma.mma*", Kind::Order, kProducts},
    {"vadd.*.sat*", Kind::Differs, kVideo},
    {"vsub.*.sat*", Kind::Differs, kVideo},
    {"vabsdiff.*.sat*", Kind::Differs, kVideo},
    {"vshl.*.sat*", Kind::Differs, kVideo},
    {"vshr.*.sat*", Kind::Differs, kVideo},
    {"vmad.*.sat*", Kind::Differs, kVideo},
    {"vmad.*.shr*", Kind::Differs, kVideo},
    {"vadd.*.min", Kind::Differs, kVideo},
    {"vadd.*.max", Kind::Differs, kVideo},
    {"vsub.*.min", Kind::Differs, kVideo},
    {"vsub.*.max", Kind::Differs, kVideo},
    {"vabsdiff.*.min", Kind::Differs, kVideo},
    {"vabsdiff.*.max", Kind::Differs, kVideo},
    {"vmin.*.min", Kind::Differs, kVideo},
    {"vmin.*.max", Kind::Differs, kVideo},
    {"vmax.*.min", Kind::Differs, kVideo},
    {"vmax.*.max", Kind::Differs, kVideo},
    {"vset.*.min", Kind::Differs, kVideo},
    {"vset.*.max", Kind::Differs, kVideo},
    {"vshl.*.min", Kind::Differs, kVideo},
    {"vshl.*.max", Kind::Differs, kVideo},
    {"vshr.*.min", Kind::Differs, kVideo},
    {"vshr.*.max", Kind::Differs, kVideo},
    {"tex*.f32.*", Kind::Bounded, kFiltered},
    {"tld4*.f32.*", Kind::Bounded, kFiltered},
};

/// Of a generation of which no GPU was at hand when answers were recorded.
bool isUnproven(Op op) {
  constexpr int kNewest = 90;
  return isa::info(op).target.sm > kNewest;
}

bool tellsOfTheMachine(const ptx::Operand& o) {
  constexpr Special kOfTheMachine[] = {Special::Clock,       Special::ClockHi,       Special::Clock64,
                                       Special::Globaltimer, Special::GlobaltimerLo, Special::GlobaltimerHi,
                                       Special::Smid,        Special::Nsmid,         Special::Warpid,
                                       Special::Nwarpid,     Special::Gridid};
  if (o.is(ptx::Operand::Kind::Special)) return std::ranges::find(kOfTheMachine, o.special) != std::end(kOfTheMachine);
  return std::ranges::any_of(o.elements, tellsOfTheMachine);
}

/// Of a function whose body is ours.
Judgement judgeFunction(const std::string& name) {
  if (name == "malloc") return {Kind::Machine, "addresses are the machine's"};
  const rt::MathError error = rt::mathError(name);
  if (error.isExact) return {};
  if (!error.ulp) return {Kind::Approximate, name + ": no bound of the error is stated"};
  return {Kind::Bounded,
          fmt::format("{}: within {} units in the last place of the true value; a GPU's is within a bound "
                      "of its own, and the two can differ",
                      name, *error.ulp)};
}

}  // namespace

Judgement judgeOpcode(Op op, const std::string& opcode) {
  for (const Rule& rule : kRules)
    if (fnmatch(rule.opcode, opcode.c_str(), 0) == 0) return {rule.kind, std::string(rule.reason)};
  if (isUnproven(op)) return {Kind::Unproven, "no GPU that has this instruction was at hand; the manual is followed"};
  return {};
}

Judgement judge(const ptx::Module& module, const ptx::Function& function, const ptx::Instruction& i) {
  if (std::ranges::any_of(i.operands, tellsOfTheMachine))
    return {Kind::Machine, "the value is the machine's: on a GPU it differs from run to run"};
  if (i.op == Op::Call && i.operands[1].symbol.kind == ptx::Symbol::Kind::Function) {
    const ptx::Function& callee = module.functions[i.operands[1].symbol.index];
    return callee.hasBody ? Judgement{} : judgeFunction(callee.name);
  }
  const std::string opcode = ptx::spellOpcode(i);
  if (opcode.starts_with(kAtom) && ptx::isReduction(i, ptx::readRegisters(function)))
    return judgeOpcode(i.op, "red" + opcode.substr(kAtom.size()));  // as a GPU's compiler makes of it
  return judgeOpcode(i.op, opcode);
}

}  // namespace ordito::fidelity
