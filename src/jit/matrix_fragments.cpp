// wmma.load and wmma.store. All lanes name one address and one stride.
#include <algorithm>

#include "jit/matrix.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using ptx::Fragment;
using ptx::MatrixPlace;
using ptx::Operand;

namespace {

/// Where an element lies in memory: major · stride + minor elements from the start.
struct Where {
  unsigned major, minor;
};

Where whereOf(const Fragment& f, unsigned lane, unsigned e, bool byColumns) {
  const MatrixPlace p = ptx::placeOf(f, lane, e);
  return byColumns ? Where{p.column, p.row} : Where{p.row, p.column};
}

/// Do the elements of register `r` follow each other in memory?
bool isContiguous(const Fragment& f, unsigned r, bool byColumns) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Where first = whereOf(f, lane, r * f.perRegister(), byColumns);
    for (unsigned k = 1; k < f.perRegister(); ++k) {
      const Where next = whereOf(f, lane, r * f.perRegister() + k, byColumns);
      if (next.major != first.major || next.minor != first.minor + k) return false;
    }
  }
  return true;
}

}  // namespace

namespace {

/// Registers behind these repeat them.
unsigned distinctRegisters(const Fragment& f) {
  return std::min(f.registers, std::max(1u, f.rows * f.columns / kLanes / f.perRegister()));
}

}  // namespace

LlvmValue MatrixFragments::elementAddresses(const FragmentMemory& m, unsigned e) {
  ir::Pattern major, minor;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Where w = whereOf(m.fragment, lane, e, m.byColumns);
    major[lane] = w.major;
    minor[lane] = static_cast<int64_t>(w.minor) * isa::bits(m.fragment.element) / 8;
  }
  LlvmValue rows = b_.CreateMul(values_.patternVector(major, b_.getInt64Ty()), values_.splat(m.strideBytes));
  return b_.CreateAdd(values_.splat(m.base), b_.CreateAdd(rows, values_.patternVector(minor, b_.getInt64Ty())));
}

MatrixFragments::FragmentMemory MatrixFragments::memoryOf(const Instruction& i, size_t registers, size_t address,
                                                          unsigned part) {
  FragmentMemory m;
  m.fragment = ptx::fragmentOf(i, registers);
  m.byColumns = i.mods.name(ModifierKind::Layout) == "col";
  m.base = b_.CreateExtractElement(
      addresses_.addressVector(addresses_.addressOf(i, address), part, i.operands[address].offset), uint64_t{0});
  Source s;
  s.part = part;
  LlvmValue stride = b_.getInt64(m.byColumns ? m.fragment.rows : m.fragment.columns);
  if (i.operands[2].kind != Operand::Kind::None)
    stride = b_.CreateZExt(b_.CreateExtractElement(operands_.operand(i.operands[2], Type::u32, s), uint64_t{0}),
                           b_.getInt64Ty());
  m.strideBytes = b_.CreateLShr(b_.CreateMul(stride, b_.getInt64(isa::bits(m.fragment.element))), 3);
  return m;
}

/// Each run of elements that are neighbours in memory for every lane is an access of its own, of 16 bytes at most, as
/// the GPU's compiler makes of it (tests/gpu/memory_instructions.json).
Allowance MatrixFragments::raise(const Instruction& i, size_t registers, size_t address, machine::AccessKind kind) {
  Allowance all{values_.guardedMask(i), {}};
  if (!events_.listens()) return all;
  const Fragment f = ptx::fragmentOf(i, registers);
  const bool byColumns = i.mods.name(ModifierKind::Layout) == "col";
  auto follows = [&](unsigned e) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const Where before = whereOf(f, lane, e - 1, byColumns), here = whereOf(f, lane, e, byColumns);
      if (here.major != before.major || here.minor != before.minor + 1) return false;
    }
    return true;
  };
  const unsigned count = distinctRegisters(f) * f.perRegister(), bits = isa::bits(f.element);
  for (unsigned first = 0, next; first < count; first = next) {
    for (next = first + 1; next < count && (next - first) * bits < 128 && follows(next);) ++next;
    Address a;
    a.space = addresses_.addressOf(i, address).space;
    for (unsigned p = 0; p < warps(); ++p)
      a.vectors.push_back(elementAddresses(memoryOf(i, registers, address, p), first));
    const unsigned bytes = std::max(1u, (next - first) * bits / 8);
    const Allowance one = events_.raise(i, {kind, a, 0, values_.guardedMask(i), bytes});
    if (one.refused.empty()) continue;
    all.mask = masks_.both(all.mask, one.mask);
    all.refused = all.refused.empty() ? one.refused : Parts{b_.CreateOr(all.refused[0], one.refused[0])};
  }
  return events_.whole(values_.guardedMask(i), all);
}

void MatrixFragments::load(const Instruction& i) {
  const Fragment f = ptx::fragmentOf(i, 0);
  llvm::Type* word = values_.typeOf(f.registerType(), false);
  const unsigned distinct = distinctRegisters(f);
  const Allowance allowance = raise(i, 0, 1, machine::AccessKind::Load);
  std::vector<Parts> results(f.registers);
  const Parts& mask = allowance.mask;
  alignment_.check(i, 1, std::max(1u, isa::bytes(f.element)), mask);
  for (unsigned p = 0; p < warps(); ++p) {
    const FragmentMemory m = memoryOf(i, 0, 1, p);
    for (unsigned r = 0; r < f.registers; ++r) {
      if (r >= distinct) {
        results[r].push_back(results[r - distinct][p]);
      } else if (isContiguous(f, r, m.byColumns)) {
        LlvmValue x = general_.gather(elementAddresses(m, r * f.perRegister()), word, masks_.maskOf(mask, p));
        results[r].push_back(events_.butRefused(allowance, p, x));
      } else {
        LlvmValue all = llvm::Constant::getNullValue(llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes));
        for (unsigned k = 0; k < f.perRegister(); ++k) {
          LlvmValue one = general_.gather(elementAddresses(m, r * f.perRegister() + k),
                                          b_.getIntNTy(isa::bits(f.element)), masks_.maskOf(mask, p));
          all = b_.CreateOr(all, b_.CreateShl(b_.CreateZExt(one, all->getType()), uint64_t{k} * isa::bits(f.element)));
        }
        results[r].push_back(events_.butRefused(allowance, p, all));
      }
    }
  }
  values_.defineElements(i, results);
}

void MatrixFragments::store(const Instruction& i) {
  const Fragment f = ptx::fragmentOf(i, 1);
  const Parts mask = raise(i, 1, 0, machine::AccessKind::Store).mask;
  alignment_.check(i, 0, std::max(1u, isa::bytes(f.element)), mask);
  for (unsigned p = 0; p < warps(); ++p) {
    const FragmentMemory m = memoryOf(i, 1, 0, p);
    Source s;
    s.part = p;
    for (unsigned r = 0; r < f.registers; ++r) {
      LlvmValue word = operands_.exactBits(elementOf(i.operands[1], r), f.registerType(), s);
      if (isContiguous(f, r, m.byColumns)) {
        general_.scatter(elementAddresses(m, r * f.perRegister()), word, masks_.maskOf(mask, p));
        continue;
      }
      for (unsigned k = 0; k < f.perRegister(); ++k) {
        const unsigned bits = isa::bits(f.element);
        LlvmValue one = b_.CreateTrunc(b_.CreateLShr(word, uint64_t{k} * bits),
                                       llvm::FixedVectorType::get(b_.getIntNTy(bits), kLanes));
        general_.scatter(elementAddresses(m, r * f.perRegister() + k), one, masks_.maskOf(mask, p));
      }
    }
  }
}

}  // namespace ordito::jit
