// The IR as text: PTX with one definition for each register. What PTX has no word for (blocks, phis, how a block ends,
// the old value of a guarded destination, the carry) has statements and attributes of its own; ir/parse.cpp reads the
// same form, and docs/ir.md describes it.
#include "ir/print.hpp"

#include <fmt/format.h>

#include <set>

#include "ptx/printer.hpp"

namespace ordito::ir {
namespace {

/// "%r1" and 5 make "%r1_5": no two values share a name, and a name that has its number already stays.
std::string numbered(const std::string& name, uint32_t number) {
  const std::string suffix = fmt::format("_{}", number);
  return name.ends_with(suffix) ? name : name + suffix;
}

class Printer {
 public:
  explicit Printer(const Function& f) : f_(f), names_(*f.kernel) {
    names_.instructions.clear();
    names_.registers = f.values;
    for (ValueId v = 0; v < f.values.size(); ++v) names_.registers[v].name = valueName(f, v);
    names_.variables = f.variables;
    nameVariables();
  }

  std::string run() {
    out_ = ptx::printHeader(*f_.module, *f_.kernel) + " {\n";
    for (const ptx::Register& r : names_.registers) put("\t.reg .{} {};\n", isa::name(r.type), r.name);
    for (size_t i = 0; i < names_.variables.size(); ++i) variable(i);
    for (const Frame& frame : f_.stack.frames) stackFrame(frame);
    for (BlockId b = 0; b < f_.blocks.size(); ++b) block(b);
    return std::move(out_ += "}\n");
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  /// Functions that were inlined may have variables of the same name, or of a name of the module's.
  void nameVariables() {
    std::set<std::string> taken;
    for (const ptx::Variable& v : f_.module->variables) taken.insert(v.name);
    for (const ptx::Function& f : f_.module->functions) taken.insert(f.name);
    for (const ptx::Parameter& p : f_.kernel->parameters) taken.insert(p.name);
    for (size_t i = 0; i < names_.variables.size(); ++i) {
      std::string& name = names_.variables[i].name;
      if (!taken.insert(name).second) taken.insert(name = numbered(name, static_cast<uint32_t>(i)));
    }
  }

  std::string_view name(ValueId v) const { return names_.registers[v].name; }

  void variable(size_t i) {
    put("\t{}", ptx::print(*f_.module, names_, names_.variables[i]));
    if (i < f_.origin.size()) put(" !origin {} {}", f_.origin[i].first, f_.origin[i].second);
    put("\n");
  }

  const std::string& variableName(uint32_t v) const { return names_.variables[v].name; }

  void stackFrame(const Frame& frame) {
    put("\tframe {}, {}, sites", variableName(f_.stack.variable), frame.bytes);
    for (uint32_t site : frame.sites) put(" {}", site);
    for (const auto& [v, offset] : frame.variables) put(", {} {}", variableName(v), offset);
    put(";\n");
  }

  void block(BlockId b) {
    const Block& block = f_.blocks[b];
    put("B{}:", b);
    for (size_t p = 0; p < block.predecessors.size(); ++p) put("{}B{}", p ? ", " : " from ", block.predecessors[p]);
    line(block.line);
    put("\n");
    for (const Phi& phi : block.phis) {
      put("\tphi {}", name(phi.value));
      for (size_t p = 0; p < phi.incoming.size(); ++p) put("{}{}", p ? ", " : " = ", name(phi.incoming[p]));
      put(";\n");
    }
    for (const Instruction& i : block.code) put("\t"), instruction(i), put("\n");
    put("\t");
    end(block.end);
    put("\n");
  }

  void line(uint32_t number) {
    if (number) put(" !line {}", number);
  }

  void instruction(const Instruction& i) {
    put("{}", ptx::print(*f_.module, names_, i));
    line(i.line);
    if (i.prior[0] != kNoValue) put(" !prior {}", name(i.prior[0]));
    if (i.prior[1] != kNoValue) put(" {}", name(i.prior[1]));
    if (i.carryIn != kNoValue) put(" !carry-in {}", name(i.carryIn));
    if (i.carryOut != kNoValue) put(" !carry-out {}", name(i.carryOut));
    if (!i.raisesIssue) put(" !unissued");
    if (!i.raisesAccess) put(" !unseen");
    if (i.isReduction) put(" !reduction");
    if (i.object != ptx::kNoVariable) put(" !object {}", variableName(i.object));
  }

  void end(const Terminator& end) {
    using Kind = Terminator::Kind;
    switch (end.kind) {
      case Kind::Jump: put("jump B{};", end.target[0]); break;
      case Kind::Branch:
        put("branch {}{}, B{}, B{};", end.negated ? "!" : "", name(end.condition), end.target[0], end.target[1]);
        break;
      case Kind::Exit: put("exit;"); break;
      case Kind::Trap: put("trap{}{};", end.cause == Terminator::Cause::Trap ? "" : " ", spell(end.cause)); break;
      case Kind::Barrier:
        put("barrier B{}: ", end.target[0]);
        instruction(end.barrier);
        if (end.line != end.barrier.line) put(" !end-line {}", end.line);
        break;
    }
    if (end.kind != Kind::Barrier) line(end.line);
    if (end.isInstruction) put(" !written");
  }

  const Function& f_;
  ptx::Function names_;  // a function whose registers and variables are the IR's, for the printer of PTX
  std::string out_;
};

}  // namespace

std::string_view spell(Terminator::Cause cause) {
  constexpr std::string_view kWords[] = {"", "stack-overflow", "bad-call", "bad-index"};
  return kWords[static_cast<size_t>(cause)];
}

std::string valueName(const Function& function, ValueId value) {
  return value < function.values.size() ? numbered(function.values[value].name, value) : "none";
}

std::string print(const Function& function) { return Printer(function).run(); }

}  // namespace ordito::ir
