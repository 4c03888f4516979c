// See call_graph.hpp. An indirect call may be to any of the targets, whatever its prototype says.
#include "ir/call_graph.hpp"

#include <algorithm>

#include "ir/graph.hpp"

namespace ordito::ir {
namespace {

using ptx::Operand;
using ptx::Symbol;

std::vector<uint32_t> findTargets(const ptx::Module& module) {
  std::set<uint32_t> found;
  auto note = [&](const Symbol& s) {
    if (s.kind == Symbol::Kind::Function && module.functions[s.index].hasBody && !module.functions[s.index].isEntry)
      found.insert(s.index);
  };
  for (const ptx::Variable& v : module.variables)
    for (const ptx::Relocation& r : v.relocations) note(r.symbol);
  for (const ptx::Function& f : module.functions)
    for (const ptx::Instruction& i : f.instructions)
      if (i.op != isa::Op::Call)
        for (const Operand& o : i.operands) note(o.symbol);
  return {found.begin(), found.end()};
}

std::vector<uint32_t> callees(const ptx::Function& function, const std::vector<uint32_t>& targets) {
  std::vector<uint32_t> result;
  for (const ptx::Instruction& i : function.instructions) {
    if (i.op != isa::Op::Call) continue;
    if (i.operands[1].kind == Operand::Kind::Symbol)
      result.push_back(i.operands[1].symbol.index);
    else
      result.insert(result.end(), targets.begin(), targets.end());
  }
  return result;
}

std::set<uint32_t> findRecursive(const ptx::Module& module, const std::vector<uint32_t>& targets) {
  std::set<uint32_t> recursive;
  Graph graph(module.functions.size());
  std::vector<uint32_t> all;
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    all.push_back(f);
    for (uint32_t to : callees(module.functions[f], targets)) graph.edge(f, to);
  }
  for (const auto& group : components(graph, all)) {
    const auto& next = graph.successors[group[0]];
    if (group.size() > 1 || std::find(next.begin(), next.end(), group[0]) != next.end())
      recursive.insert(group.begin(), group.end());
  }
  return recursive;
}

}  // namespace

CallGraph callGraph(const ptx::Module& module) {
  CallGraph found;
  found.targets = findTargets(module);
  found.recursive = findRecursive(module, found.targets);
  return found;
}

}  // namespace ordito::ir
