// Stores that go round the caches. A grid that writes more than the last cache holds gains nothing by keeping its
// results there, and before a line can be written it would first be read from memory; rows of a tile, far from each
// other, make that the longest part of a transpose (17 against 9 ms of CPU time for 4096 x 4096 on Zen 4). So a warp
// that fills whole lines of an array that its kernel never reads stores them the streaming way, if the launch is that
// large (BlockFrame::streams). Such stores are in no order with others; locked instructions, which PTX's fences and
// atomics become, and the scheduler, after its last block, put them in order again.
#include <cstddef>

#include "jit/emitter.hpp"

namespace ordito::jit {

using isa::Op;
using ptx::Operand;

namespace {
constexpr unsigned kDepth = 12;  // of the definitions that are followed
}

/// The parameter that an address was computed from, if its definition tells.
std::optional<uint32_t> Emitter::rootParameter(const Operand& o, unsigned depth) const {
  if (o.kind != Operand::Kind::Register && o.kind != Operand::Kind::Address) return std::nullopt;
  if (depth == 0 || o.reg == ir::kNoValue) return std::nullopt;
  const Instruction* i = definition_[o.reg];
  if (!i || i->guard) return std::nullopt;
  switch (i->op) {
    case Op::Ld: {
      const Operand& from = i->operands[1];
      if (from.symbol.kind != ptx::Symbol::Kind::Parameter || from.offset != 0) return std::nullopt;
      return from.symbol.index;
    }
    case Op::Mov:
    case Op::Cvta: return rootParameter(i->operands[1], depth - 1);
    case Op::Add: {
      const auto a = rootParameter(i->operands[1], depth - 1), b = rootParameter(i->operands[2], depth - 1);
      if (a && b) return std::nullopt;
      return a ? a : b;
    }
    default: return std::nullopt;
  }
}

/// Finds the plain stores to arrays that nothing in the kernel reads.
void Emitter::findStreams() {
  constexpr unsigned kLine = 64;
  if (!target_.avx2) return;
  std::set<uint32_t> readRoots;
  std::vector<std::pair<const Instruction*, uint32_t>> stores;
  for (const ir::Block& block : f_.blocks)
    for (const Instruction& i : block.code) {
      const auto effect = i.info().effect;
      if (effect == isa::Effect::Call) return;
      const auto space = i.mods.name(isa::ModifierKind::Space);
      if (space.starts_with("shared") || space.starts_with("param") || space == "local" || space == "const") continue;
      if (effect == isa::Effect::Load || effect == isa::Effect::Atomic) {
        const auto root = rootParameter(i.operands[i.op == Op::Red ? 0 : 1], kDepth);
        if (!root) return;
        readRoots.insert(*root);
      } else if (i.op == Op::St && space == "global" && !isOrdered(i) && kLanes * isa::bytes(i.type[0]) >= kLine) {
        if (const auto root = rootParameter(i.operands[0], kDepth)) stores.push_back({&i, *root});
      }
    }
  for (const auto& [store, root] : stores) {
    if (readRoots.count(root)) continue;
    streams_.insert(store);
    result_.streamedBytes += isa::bytes(store->type[0]);
  }
}

/// A warp's contiguous store: the streaming way if the launch is large and the address starts a cache line.
void Emitter::storeWhole(LlvmValue address, LlvmValue value) {
  constexpr uint64_t kLine = 64;
  const llvm::Align align(std::max(1u, value->getType()->getScalarSizeInBits() / 8));
  auto *streaming = newBlock("streaming"), *cached = newBlock("cached"), *stored = newBlock("stored");
  LlvmValue large =
      b_.CreateICmpNE(frameField(offsetof(machine::BlockFrame, streams), b_.getInt32Ty(), "streams"), b_.getInt32(0));
  LlvmValue within = b_.CreateAnd(b_.CreatePtrToInt(address, b_.getInt64Ty()), b_.getInt64(kLine - 1));
  b_.CreateCondBr(b_.CreateAnd(large, b_.CreateICmpEQ(within, b_.getInt64(0))), streaming, cached);
  b_.SetInsertPoint(streaming);
  auto* store = b_.CreateAlignedStore(value, address, llvm::Align(kLine));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                     llvm::MDNode::get(context_, {llvm::ConstantAsMetadata::get(b_.getInt32(1))}));
  b_.CreateBr(stored);
  b_.SetInsertPoint(cached);
  b_.CreateAlignedStore(value, address, align);
  b_.CreateBr(stored);
  b_.SetInsertPoint(stored);
}

}  // namespace ordito::jit
