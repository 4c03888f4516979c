// PTX ISA, "Asynchronous copy": done at once, word by word, by the machinery of loads and stores.
#include "jit/async_copies.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using ptx::Operand;

/// How many bytes of the source each lane wants: null for all.
LlvmValue AsyncCopies::wantedBytes(const Instruction& i, unsigned bytes, unsigned part) {
  const Operand& size = i.operands[3];
  const bool isPolicy = i.has(ModifierKind::CacheHint) && i.operands[4].kind == Operand::Kind::None;
  if (size.kind == Operand::Kind::None || isPolicy) return nullptr;
  if (size.kind == Operand::Kind::Integer && size.bits >= bytes) return nullptr;
  Source s;
  s.part = part;
  const bool isPredicate = size.kind == Operand::Kind::Register && f_.values[size.reg].type == Type::pred;
  if (!isPredicate) return operands_.operand(size, Type::u32, s);
  return b_.CreateSelect(operands_.operand(size, Type::pred, s), values_.constant(Type::u32, 0, true),
                         values_.constant(Type::u32, bytes, true));
}

/// Groups of copies are complete when they are asked for.
void AsyncCopies::order(const Instruction& i) {
  using Kind = machine::SyncEvent::Kind;
  if (i.op == isa::Op::CpAsyncCommit) return eventCalls_.copies(i, Kind::CopyCommit, 0);
  const bool isAll = i.op == isa::Op::CpAsyncWaitAll;
  eventCalls_.copies(i, isAll ? Kind::CopyWaitAll : Kind::CopyWait,
                     isAll ? 0 : static_cast<uint32_t>(i.operands[0].bits));
  c_.compilerFence();
}

void AsyncCopies::emit(const Instruction& i) {
  const unsigned bytes = static_cast<unsigned>(i.operands[2].bits), count = bytes / 4;
  const Address to = addresses_.addressOf(i, 0), from = addresses_.addressOf(i, 1);
  const Parts mask =
      events_
          .raiseCopy(i, from, to, values_.guardedMask(i), bytes, [&](unsigned p) { return wantedBytes(i, bytes, p); })
          .mask;
  const simt::Access &target = plan_.memory.accesses.at(i, 0), &source = plan_.memory.accesses.at(i, 1);
  for (size_t k : {size_t{0}, size_t{1}}) alignment_.check(i, k, bytes, mask);
  auto shifted = [&](const Address& a, int64_t offset) {
    Address moved = a;
    if (a.isSegmented())
      for (auto& lane : moved.pattern) lane += offset;
    return moved;
  };
  auto number = [&](uint64_t n) { return values_.constant(Type::u32, n, true); };
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue wanted = wantedBytes(i, bytes, p);
    std::vector<LlvmValue> words;
    if (!wanted && source.transfer(!mask.empty()).transfer == simt::Transfer::Interleaved)
      words = access_.loadInterleaved(shifted(from, i.operands[1].offset), p, count, b_.getInt32Ty(),
                                      masks_.maskOf(mask, p));
    for (unsigned k = words.empty() ? 0 : count; k < count; ++k) {
      LlvmValue lanes = masks_.maskOf(mask, p);
      if (wanted) lanes = masks_.both(lanes, b_.CreateICmpUGT(wanted, number(4 * k)));
      LlvmValue word = access_.load(from, p, i.operands[1].offset + 4 * int64_t{k}, b_.getInt32Ty(), lanes, source);
      if (wanted) {
        // What lies beyond the wanted bytes is zero.
        LlvmValue left = b_.CreateSub(wanted, number(4 * k)), whole = b_.CreateICmpUGE(left, number(4));
        LlvmValue low =
            b_.CreateSub(b_.CreateShl(number(1), b_.CreateAnd(b_.CreateShl(left, 3), number(31))), number(1));
        LlvmValue kept = b_.CreateSelect(whole, word, b_.CreateAnd(word, low));
        word = b_.CreateSelect(b_.CreateICmpUGT(wanted, number(4 * k)), kept, number(0));
      }
      words.push_back(word);
    }
    if (target.transfer(!mask.empty()).transfer == simt::Transfer::Interleaved) {
      access_.storeInterleaved(shifted(to, i.operands[0].offset), p, words, masks_.maskOf(mask, p));
      continue;
    }
    for (unsigned k = 0; k < count; ++k)
      access_.store(to, p, i.operands[0].offset + 4 * int64_t{k}, words[k], masks_.maskOf(mask, p), target);
  }
}

}  // namespace ordito::jit
