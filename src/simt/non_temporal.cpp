// See non_temporal.hpp.
#include "simt/non_temporal.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "simt/accesses.hpp"

namespace ordito::simt {
namespace {

using isa::Op;
using ptx::Operand;

/// The parameter that an address was computed from: the one pointer among what is added up.
std::optional<uint32_t> rootParameter(const ir::Definitions& definitions, const Operand& o, unsigned depth) {
  if ((o.kind != Operand::Kind::Register && o.kind != Operand::Kind::Address) || depth == 0) return std::nullopt;
  const Instruction* i = definitions.decisive(o.reg);
  if (!i) return std::nullopt;
  if (i->op == Op::Ld) {
    const Operand& from = i->operands[1];
    if (from.symbol.kind != ptx::Symbol::Kind::Parameter || from.offset != 0) return std::nullopt;
    return from.symbol.index;
  }
  if (i->op != Op::Mov && i->op != Op::Cvta && i->op != Op::Add) return std::nullopt;
  std::optional<uint32_t> root;
  for (const ir::Term& term : ir::sumOf(*i)) {
    const auto found = rootParameter(definitions, *term.value, depth - 1);
    if (found && root) return std::nullopt;
    if (found) root = found;
  }
  return root;
}

/// Global memory, as far as the instruction says.
bool isElsewhere(std::string_view space) {
  return space.starts_with("shared") || space.starts_with("param") || space == "local" || space == "const";
}

}  // namespace

NonTemporal findNonTemporal(const ir::Function& f, const ir::Definitions& definitions, const Facts& facts) {
  if (!facts.processor.avx2) return {};
  std::set<uint32_t> read;
  std::vector<std::pair<const Instruction*, uint32_t>> stores;
  auto rootOf = [&](const Operand& o) { return rootParameter(definitions, o, cost::kTracedDefinitions); };
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code) {
      const auto effect = i.info().effect;
      if (effect == isa::Effect::Call) return {};
      const auto space = i.mods.name(isa::ModifierKind::Space);
      if (isElsewhere(space)) continue;
      if (effect == isa::Effect::Load || effect == isa::Effect::Atomic) {
        const auto root = rootOf(i.operands[i.op == Op::Red ? 0 : 1]);
        if (!root) return {};
        read.insert(*root);
      } else if (i.op == Op::St && space == "global" && !isOrdered(i) &&
                 kLanes * isa::bytes(i.type[0]) >= cost::kCacheLine) {
        if (const auto root = rootOf(i.operands[0])) stores.push_back({&i, *root});
      }
    }
  NonTemporal result;
  for (const auto& [store, root] : stores) {
    if (read.contains(root)) continue;
    result.stores.insert(store);
    result.bytes += isa::bytes(store->type[0]);
  }
  return result;
}

std::string print(const NonTemporal& n, const ir::Function& f) {
  std::string text;
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code)
      if (n.stores.contains(&i)) text += instructionName(i) + "\n";
  return text.empty() ? "nothing\n" : text + fmt::format("bytes of a thread: {}\n", n.bytes);
}

}  // namespace ordito::simt
