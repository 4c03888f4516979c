// How an instruction's result relates to a real GPU's: the very bits, within a bound, or up to what no two runs on a
// GPU agree on either. The statements are those of docs/accuracy.md, which says how each was measured; judge_test.cpp
// compares them with the recordings.
#pragma once

#include <string>

#include "fidelity/kind.hpp"
#include "ptx/module.hpp"

namespace ordito::fidelity {

struct Judgement {
  Kind kind = Kind::Exact;
  std::string reason;  // empty for Exact
};

/// Of one instruction of `function` in compiled code; the interpreter is never worse.
Judgement judge(const ptx::Module& module, const ptx::Function& function, const ptx::Instruction& instruction);

/// Of an instruction by its opcode alone, as PTX spells it with all modifiers: "atom.global.add.f32".
Judgement judgeOpcode(isa::Op op, const std::string& opcode);

}  // namespace ordito::fidelity
