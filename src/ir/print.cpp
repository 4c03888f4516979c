// Dumps and checks the IR.
#include <fmt/format.h>

#include "ir/ir.hpp"
#include "ptx/printer.hpp"

namespace ordito::ir {
namespace {

std::string valueName(const Function& f, ValueId v) {
  return v == kNoValue ? "_" : fmt::format("{}.{}", v < f.values.size() ? f.values[v].name : "?", v);
}

void printOperands(const Function& f, const Instruction& i, std::string& out) {
  forEachDefinition(i, [&](ValueId v, unsigned) { out += " " + valueName(f, v); });
  out += " <-";
  forEachUse(i, [&](ValueId v) { out += " " + valueName(f, v); });
}

std::string printEnd(const Function& f, const Terminator& end) {
  using Kind = Terminator::Kind;
  switch (end.kind) {
    case Kind::Jump: return fmt::format("jump B{}", end.target[0]);
    case Kind::Branch:
      return fmt::format("branch {}{} B{} B{}", end.negated ? "!" : "", valueName(f, end.condition), end.target[0],
                         end.target[1]);
    case Kind::Exit: return "exit";
    case Kind::Barrier: return fmt::format("barrier B{}", end.target[0]);
    case Kind::Trap: return "trap";
  }
  return "?";
}

}  // namespace

std::string print(const Function& f) {
  std::string out = fmt::format("function {}\n", f.kernel->name);
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    const Block& block = f.blocks[b];
    out += fmt::format("B{}:  ; line {}, from", b, block.line);
    for (BlockId p : block.predecessors) out += fmt::format(" B{}", p);
    out += "\n";
    for (const Phi& phi : block.phis) {
      out += "  " + valueName(f, phi.value) + " = phi";
      for (ValueId v : phi.incoming) out += " " + valueName(f, v);
      out += "\n";
    }
    for (const Instruction& i : block.code) {
      out += fmt::format("  {:5} {}", i.line, i.info().name);
      printOperands(f, i, out);
      out += "\n";
    }
    out += "  " + printEnd(f, block.end) + "\n";
  }
  return out;
}

Expected<> verify(const Function& f) {
  std::vector<char> defined(f.values.size(), 0);
  std::string problem;
  auto define = [&](ValueId v, unsigned) {
    if (v >= f.values.size())
      problem = "a definition of an unknown value";
    else if (defined[v]++)
      problem = fmt::format("two definitions of {}", valueName(f, v));
  };
  for (BlockId b = 0; b < f.blocks.size(); ++b) {
    const Block& block = f.blocks[b];
    for (const Phi& phi : block.phis) {
      define(phi.value, 0);
      if (phi.incoming.size() != block.predecessors.size())
        problem = fmt::format("a phi of B{} with {} inputs", b, phi.incoming.size());
    }
    for (const Instruction& i : block.code) forEachDefinition(i, define);
    if (block.end.kind == Terminator::Kind::Barrier) forEachDefinition(block.end.barrier, define);
    for (unsigned k = 0; k < block.end.targetCount(); ++k)
      if (block.end.target[k] >= f.blocks.size()) problem = fmt::format("B{} goes to no block", b);
    if (!problem.empty()) return fail("{} (kernel '{}', B{})", problem, f.kernel->name, b);
  }
  return {};
}

}  // namespace ordito::ir
