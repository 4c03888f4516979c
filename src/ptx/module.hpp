// A parsed PTX module: what the parser makes, the verifier checks, the printer prints, and both engines execute
// (through ir/). Names are resolved to indices while parsing, so nothing above this layer looks at strings except for
// messages.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "isa/isa.hpp"

namespace ordito::ptx {

using RegisterId = uint32_t;
inline constexpr RegisterId kNoRegister = std::numeric_limits<RegisterId>::max();
inline constexpr uint32_t kNoVariable = ~0u;

using isa::Space;

/// What an operand's name refers to.
struct Symbol {
  enum class Kind : uint8_t { None, ModuleVariable, LocalVariable, Parameter, ReturnParameter, Function };
  Kind kind = Kind::None;
  uint32_t index =
      0;  // in Module::variables, Function::variables, Function::parameters, Function::returns, Module::functions
  bool operator==(const Symbol&) const = default;
};

struct Operand {
  enum class Kind : uint8_t {
    None,      // an optional operand that is absent
    Register,  // `reg`; `negated` for !p
    Special,   // special register `special`
    Integer,   // immediate: `bits` as a sign-extended 64-bit integer
    Float,     // immediate written 0f… or 0d… or 1.5: `bits` is the IEEE double (a 0f immediate is widened exactly; NaN
               // payloads kept in place)
    Symbol,    // address of `symbol` + `offset`
    Address,   // memory operand [reg + offset], [symbol + offset] or [offset]: `reg` or `symbol` set, or neither
    Vector,    // {a, b, …}: `elements`; for [a, c] of a texture or surface, elements are a, the sampler if any, c
    Label,     // `label`: index into Function::labels
    Sink,      // _ : the result is not wanted
  };
  Kind kind = Kind::None;
  bool negated = false;
  uint16_t selector = 0;  // .b0, .h10 … of a video instruction's operand: digits of 3 bits, the lowest part's lowest;
                          // from bit 12 how many; bit 15 for halves
  isa::Special special{};
  RegisterId reg = kNoRegister;
  uint64_t bits = 0;
  int64_t offset = 0;
  Symbol symbol{};
  uint32_t label = 0;
  std::vector<Operand> elements;

  bool is(Kind k) const { return kind == k; }
  bool operator==(const Operand&) const = default;
};

/// `@p` or `@!p`.
struct Guard {
  RegisterId reg = kNoRegister;
  bool negated = false;
  explicit operator bool() const { return reg != kNoRegister; }
  bool operator==(const Guard&) const = default;
};

/// One instruction. `operands` has exactly one entry for each operand position of the row's syntax line
/// (info(op).form.operands); absent optional ones are Kind::None. A call has: [0] Vector of return operands (or None),
/// [1] Symbol (a function) or Register (indirect), [2] Vector of arguments (or None), [3] the prototype's index in
/// Function::prototypes for indirect calls (Integer) or None.
struct Instruction {
  isa::Op op{};
  isa::Modifiers mods{};
  isa::Type type[isa::kTypeSlots] = {};  // by type slot: .type/.dtype, .atype/.stype, .btype, .ctype
  Guard guard{};
  std::vector<Operand> operands;
  uint32_t line = 0;      // line in the PTX text
  uint32_t location = 0;  // index into Module::locations; 0 = unknown
  // Which events it raises (machine/events.hpp). What a pass has made is no instruction of the program.
  bool raisesIssue = true, raisesAccess = true;
  bool isReduction = false;       // an atomic whose result the program never reads, set where the kernel is copied
  uint32_t object = kNoVariable;  // the local variable that it may touch (local_objects.hpp), set there as well

  const isa::OpInfo& info() const { return isa::info(op); }
  bool has(isa::ModifierKind kind) const { return mods.has(kind); }
  bool is(isa::ModifierLiteral m) const { return m.in(mods); }
  bool operator==(const Instruction&) const = default;
};

/// A `.loc`: a line of the CUDA source.
struct SourceLocation {
  uint32_t file = 0;  // index into Module::files
  uint32_t line = 0;
  uint32_t column = 0;  // 0 = unknown
  bool operator==(const SourceLocation&) const = default;
};

struct Register {
  std::string name;
  isa::Type type{};
  bool operator==(const Register&) const = default;
};

/// A relocation in a variable's initialiser: the address of `symbol` + addend is stored at `offset`.
struct Relocation {
  uint64_t offset = 0;
  Symbol symbol;
  int64_t addend = 0;
  bool generic = false;  // generic(x) asked for the generic address
  uint8_t bytes = 8;
  bool operator==(const Relocation&) const = default;
};

enum class Linkage : uint8_t { Internal, Visible, Extern, Weak, Common };

struct Variable {
  std::string name;
  Space space{};
  isa::Type type{};
  uint64_t count = 1;      // elements; 0 for `extern .shared .b8 x[]` (dynamic shared memory)
  uint32_t alignment = 1;  // bytes
  uint64_t size = 0;       // bytes = count × element size
  Linkage linkage = Linkage::Internal;
  bool managed = false;          // .attribute(.managed)
  std::vector<uint8_t> initial;  // empty = zeros, otherwise `size` bytes
  std::vector<Relocation> relocations;
  uint32_t line = 0;
  bool operator==(const Variable&) const = default;
};

struct Parameter {
  std::string name;
  isa::Type type{};
  uint32_t count = 0;  // 0: a scalar; otherwise an array of that many elements
  uint32_t alignment = 1;
  uint32_t size = 0;        // bytes
  uint32_t offset = 0;      // bytes from the start of the parameter block
  bool isRegister = false;  // a .func parameter declared with .reg
  RegisterId reg = kNoRegister;
  bool operator==(const Parameter&) const = default;
};

struct Label {
  std::string name;
  uint32_t instruction = 0;  // index of the instruction that follows; == instructions.size() at the end of the body
  bool operator==(const Label&) const = default;
};

/// `.branchtargets`, for brx.idx: label indices.
struct BranchTargets {
  std::string name;
  std::vector<uint32_t> labels;
  bool operator==(const BranchTargets&) const = default;
};

struct Prototype {
  std::string name;
  std::vector<Parameter> returns, parameters;
  bool operator==(const Prototype&) const = default;
};

struct Function {
  std::string name;
  bool isEntry = false;
  bool hasBody = false;
  bool noReturn = false;
  Linkage linkage = Linkage::Internal;
  std::vector<Parameter> parameters, returns;
  uint32_t parameterBytes = 0;
  std::vector<Register> registers;
  std::vector<Variable>
      variables;  // declared inside the body, inner scopes included: .shared, .local, call-site .param …
  std::vector<Label> labels;
  std::vector<BranchTargets> branchTargets;
  std::vector<Prototype> prototypes;
  std::vector<Instruction> instructions;
  uint32_t line = 0;
  // Performance directives, 0 = absent.
  uint32_t maxntid[3] = {}, reqntid[3] = {}, minnctapersm = 0, maxnreg = 0;
  bool operator==(const Function&) const = default;
};

/// The text that a module was parsed from, for caches. No part of the module's value: two texts can say the same.
struct SourceDigest {
  Digest digest;
  bool operator==(const SourceDigest&) const { return true; }
};

struct Module {
  uint32_t version = 0;  // ISA version × 10: 83 for `.version 8.3`
  std::string target;    // "sm_80"
  uint32_t sm = 0;       // 80
  isa::Target isaTarget() const { return {static_cast<int>(sm), target.ends_with('a') || target.ends_with('f')}; }
  uint32_t addressSize = 64;
  std::vector<std::string> files;
  std::vector<SourceLocation> locations{SourceLocation{}};  // [0] is "unknown"
  std::vector<Variable> variables;
  std::vector<Function> functions;  // entries, device functions and extern declarations
  SourceDigest source;              // empty in a module that was not parsed

  const Function* findFunction(std::string_view name) const {
    for (const Function& f : functions)
      if (f.name == name) return &f;
    return nullptr;
  }
  bool operator==(const Module&) const = default;
};

/// The bit pattern of an immediate operand read as `type`, in the low bits; this is the one place that says what an
/// immediate means. An integer is cut to the type's width. A floating-point constant becomes an f32 for a 32-bit type
/// (so `mov.b32 %r1, 0f3F800000` moves 0x3F800000) and an f64 for a 64-bit one.
uint64_t immediateBits(const Operand& operand, isa::Type type);

}  // namespace ordito::ptx
