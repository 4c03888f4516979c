// Every instruction that the table allows: the rows of isa/ptx.def times their types and modifiers, as far as the
// verifier takes them. The recorder asks a GPU about each of them, and the fuzzer builds its kernels from them, so that
// a new row is tested the day it is written.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/isa.hpp"
#include "ptx/module.hpp"

namespace ordito::gpu {

/// One opcode with its types and modifiers and, where the row has optional operands, one choice of those.
struct Form {
  isa::Op op{};
  ptx::Instruction instruction;  // modifiers and types; no operands
  std::string opcode;            // "add.sat.s32"
  struct Operand {
    isa::OperandForm form;
    isa::Type type{};
    bool isResult() const { return form.kind == isa::OperandForm::Kind::Destination; }
  };
  std::vector<Operand> operands;  // those that are written
  int table = -1;                 // the constant operand of lop3

  const isa::OpInfo& info() const { return isa::info(op); }
  bool has(isa::ModifierKind kind) const { return instruction.mods.has(kind); }
  std::string_view name(isa::ModifierKind kind) const { return instruction.mods.name(kind); }
  /// What tells the form from all others: "setp.lt.f32 p|q".
  std::string key() const;
};

/// Which combinations of a row's modifiers and types are listed.
struct Extent {
  unsigned optional = ~0u;  // how many optional modifiers at once: those of memory instructions multiply to millions
  bool refused = false;     // those too that the verifier refuses
};

/// The opcodes of one row, as forms without operands.
std::vector<Form> opcodesOf(isa::Op op, Extent extent = {});

/// An operand as an instruction that stands alone has it.
struct WrittenOperand {
  struct Register {
    std::string name;
    isa::Type type;
  };
  std::string text = {};                 // empty where it is a label or a function
  std::vector<Register> registers = {};  // that it consists of, or the one that holds the address
  isa::OperandForm form{};
  size_t index = 0;  // in the row
};

/// The registers that written operands may name.
inline constexpr const char* kProbeRegisters =
    "  .reg .pred %p<128>;\n  .reg .b8 %c<128>;\n  .reg .b16 %h<128>;\n  .reg .b32 %r<128>;\n  .reg .b64 %l<128>;\n"
    "  .reg .b128 %q<128>;\n";

/// Operands of the types that the form wants, no register twice.
std::vector<WrittenOperand> writtenOperands(Form form, bool withPair = false);

/// The form with these operands as a line of PTX; empty where one has no text.
std::string spell(const Form& form, std::span<const WrittenOperand> written);

/// The form alone in a kernel, with operands of the types that it wants; the instruction has a line of its own, the
/// module's last but one. Empty where an operand is a label or a function.
std::string probe(const Form& form, bool withPair = false);

/// The head of a module that may hold instructions of this row. An H200 takes it if `isForH200`.
std::string moduleHead(isa::Op op);
bool isForH200(isa::Op op);

/// All forms of a pure row; empty for other effects and for rows whose operands are no plain registers.
std::vector<Form> pureForms(isa::Op op);

/// Does the parser and the verifier take this module?
bool isValid(const std::string& module);

/// The register kind that operands of a type live in: p predicate, h 16 bits and less, r 32 bits, l 64 bits.
char registerKind(isa::Type type);

}  // namespace ordito::gpu
