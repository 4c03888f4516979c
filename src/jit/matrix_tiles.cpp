// ldmatrix, stmatrix and movmatrix: 8×8 matrices of 16 bits. A row is 16 bytes; its four words are the registers of a
// quad, so the eight rows of a matrix one after the other are a register of the warp.
#include "jit/matrix.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;

/// The addresses of the rows that lanes name: the first 8 lanes for each matrix. Rows must be aligned.
LlvmValue MatrixTiles::rowAddresses(const Instruction& i, size_t k, unsigned part, unsigned matrices,
                                    const Parts& mask) {
  LlvmValue v = addresses_.addressVector(addresses_.addressOf(i, k), part, i.operands[k].offset);
  ir::Pattern used{};
  for (unsigned lane = 0; lane < kLanes; ++lane) used[lane] = lane < matrices * 8;
  LlvmValue bad =
      b_.CreateICmpNE(b_.CreateAnd(v, values_.constant(Type::u64, 15, true)), values_.constant(Type::u64, 0, true));
  bad = b_.CreateAnd(bad, values_.patternVector(used, b_.getInt1Ty()));
  alignment_.failIfMisaligned(masks_.laneBits(masks_.both(masks_.maskOf(mask, part), bad)), i, {});
  return mask.empty() ? v : b_.CreateSelect(mask[part], v, values_.splat(c_.dummyAddress()));
}

LlvmValue MatrixTiles::loadRows(llvm::ArrayRef<LlvmValue> rows) {
  auto* row = llvm::FixedVectorType::get(b_.getInt32Ty(), 4);
  LlvmValue all = llvm::PoisonValue::get(llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes));
  for (unsigned r = 0; r < rows.size(); ++r)
    all = b_.CreateInsertVector(all->getType(), all, b_.CreateAlignedLoad(row, c_.pointer(rows[r]), llvm::Align(1)),
                                b_.getInt64(uint64_t{r} * 4));
  return all;
}

void MatrixTiles::storeRows(llvm::ArrayRef<LlvmValue> rows, LlvmValue words) {
  for (unsigned r = 0; r < rows.size(); ++r)
    b_.CreateAlignedStore(values_.lanesOf(words, r * 4, 4), c_.pointer(rows[r]), llvm::Align(1));
}

/// A matrix in a register, transposed: both halves of each word come from other lanes.
LlvmValue MatrixTiles::transposed(LlvmValue words) {
  auto* halves = llvm::FixedVectorType::get(b_.getInt16Ty(), 2 * kLanes);
  std::vector<int> from;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned row = lane % 4 * 2 + half, column = lane / 4;
      from.push_back(static_cast<int>(row * 8 + column));
    }
  return b_.CreateBitCast(b_.CreateShuffleVector(b_.CreateBitCast(words, halves), from), words->getType());
}

/// ldmatrix and stmatrix: the lanes that name a row move it. Nothing is moved if one of them is refused.
Allowance MatrixTiles::raise(const Instruction& i, size_t address, unsigned matrices, machine::AccessKind kind) {
  const Parts all = values_.guardedMask(i);
  if (!events_.listens()) return {all, {}};
  ir::Pattern named{};
  for (unsigned lane = 0; lane < kLanes; ++lane) named[lane] = lane < matrices * 8;
  Parts mask = all;
  if (matrices * 8 < kLanes) {
    LlvmValue names = values_.patternVector(named, b_.getInt1Ty());
    mask = mask.empty() ? Parts(warps(), names) : masks_.both(mask, Parts(warps(), names));
  }
  return events_.whole(
      all, events_.raise(i, {kind, addresses_.addressOf(i, address), i.operands[address].offset, mask, 16}));
}

void MatrixTiles::load(const Instruction& i) {
  const unsigned count = static_cast<unsigned>(i.mods.name(ModifierKind::TileCount)[1] - '0');
  const Allowance allowance = raise(i, 1, count, machine::AccessKind::MatrixLoad);
  std::vector<Parts> results(count);
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue addresses = rowAddresses(i, 1, p, count, allowance.mask);
    for (unsigned m = 0; m < count; ++m) {
      std::vector<LlvmValue> rows;
      for (unsigned r = 0; r < 8; ++r) rows.push_back(b_.CreateExtractElement(addresses, uint64_t{m} * 8 + r));
      LlvmValue words = loadRows(rows);
      results[m].push_back(
          events_.butRefused(allowance, p, i.has(ModifierKind::Transposed) ? transposed(words) : words));
    }
  }
  values_.defineElements(i, results);
}

void MatrixTiles::store(const Instruction& i) {
  const unsigned count = static_cast<unsigned>(i.mods.name(ModifierKind::TileCount)[1] - '0');
  const Parts mask = raise(i, 0, count, machine::AccessKind::MatrixStore).mask;
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue addresses = rowAddresses(i, 0, p, count, mask);
    Source s;
    s.part = p;
    for (unsigned m = 0; m < count; ++m) {
      LlvmValue words = operands_.exactBits(elementOf(i.operands[1], m), Type::u32, s);
      std::vector<LlvmValue> rows;
      for (unsigned r = 0; r < 8; ++r) rows.push_back(b_.CreateExtractElement(addresses, uint64_t{m} * 8 + r));
      storeRows(rows, i.has(ModifierKind::Transposed) ? transposed(words) : words);
    }
  }
}

void MatrixTiles::move(const Instruction& i) {
  std::vector<Parts> results(1);
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    results[0].push_back(transposed(operands_.exactBits(i.operands[1], Type::u32, s)));
  }
  values_.defineElements(i, results);
}

}  // namespace ordito::jit
