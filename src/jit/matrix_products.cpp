// PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions", and the moves of 8×8 matrices.
//
// A fragment's register is a vector of 32 lanes already, so nothing is gathered: for each k the lanes' elements of A
// and B are permuted to the lanes whose results need them (A within quads, B across the warp) and fed to a vector fma.
// Sums of floats are made as an H200 makes them (docs/accuracy.md), by a helper (rt/matrix_helpers.cpp) where that
// takes more than multiply-adds; of dense matrices it is given rows and columns, since a broadcast costs less than a
// permutation. Each form of mma is one function of the module, since kernels repeat it dozens of
// times.
#include <algorithm>
#include <array>

#include "jit/matrix.hpp"
#include "ptx/opcode.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Op;
using isa::Type;
using ptx::Fragment;
using ptx::MatrixPlace;
using ptx::Operand;

namespace {

using Elements = std::vector<LlvmValue>;

/// Who holds an element of a matrix.
struct Holder {
  unsigned lane = 0, element = 0;
};

/// Holders of all elements of a matrix, from those of the layout.
class Holders {
 public:
  explicit Holders(const Fragment& f) : columns_(f.columns), perMatrix_(f.rows * f.columns), table_(4 * perMatrix_) {
    for (unsigned e = f.elements(); e-- > 0;)
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const MatrixPlace p = ptx::placeOf(f, lane, e);
        table_[p.matrix * perMatrix_ + p.row * columns_ + p.column] = {lane, e};
      }
  }
  const Holder& of(unsigned matrix, unsigned row, unsigned column) const {
    return table_[matrix * perMatrix_ + row * columns_ + column];
  }

 private:
  unsigned columns_, perMatrix_;
  std::vector<Holder> table_;
};

/// Emits the body of one multiplication.
class Product {
 public:
  Product(llvm::IRBuilder<>& b, const Instruction& i, LlvmValue metadata)
      : b_(b), instruction_(i), metadata_(metadata) {
    for (unsigned k = 0; k < 4; ++k) f_[k] = ptx::fragmentOf(i, k);
    op_ = i.op;
    saturates_ = i.has(ModifierKind::Saturate);
    xors_ = i.mods.name(ModifierKind::BitOp) == "xor";
    rounding_ = i.has(ModifierKind::Rounding) ? i.mods.name(ModifierKind::Rounding) : "rn";
  }

  /// Registers of a, b and c to those of d.
  Elements run(const Elements& a, const Elements& bRegisters, const Elements& c) {
    const Elements x = elements(f_[1], a), y = elements(f_[2], bRegisters), start = elements(f_[3], c);
    if (isAligned() && !metadata_) return registers(denseSums(x, y, start));
    const Holders rows(f_[1]), columns(f_[2]);
    const unsigned step = f_[1].element == Type::b1 ? 32 : 1;
    auto fromB = [&](unsigned e, unsigned k) {
      return pick(y, step, [&](const MatrixPlace& at) { return columns.of(at.matrix, k, at.column); }, e);
    };
    auto factors = [&](unsigned e, unsigned k) {
      LlvmValue a = pick(x, step, [&](const MatrixPlace& at) { return rows.of(at.matrix, at.row, k); }, e);
      return Factors{a, metadata_ ? chosen(e, k, [&](unsigned row) { return fromB(e, row); }) : fromB(e, k)};
    };
    Elements sums;
    for (unsigned e = 0; e < f_[0].elements(); ++e) {
      LlvmValue from = startOf(start, e);
      if (isAligned()) {
        sums.push_back(alignedSums(from, [&](unsigned k) { return factors(e, k); }));
        continue;
      }
      const bool startsLate = isInteger() || op_ == Op::MmaHalfQuad;
      LlvmValue sum = startsLate ? llvm::Constant::getNullValue(from->getType()) : from;
      for (unsigned k = 0; k < f_[1].columns; k += step) {
        const Factors p = factors(e, k);
        sum = accumulate(sum, p.a, p.b);
      }
      sums.push_back(isInteger() ? addStart(sum, from) : startsLate ? b_.CreateFAdd(sum, from) : sum);
    }
    return registers(sums);
  }

 private:
  struct Factors {
    LlvmValue a, b;
  };
  bool isInteger() const { return f_[0].element == Type::s32; }
  /// By a tensor core that brings all terms to one exponent.
  bool isAligned() const { return !isInteger() && f_[0].element != Type::f64 && op_ != Op::MmaHalfQuad; }

  /// 8-bit floats are unpacked for two steps, each of one half of every four elements, and c is added at the end.
  bool isUnpacked() const { return isa::bits(f_[1].element) == 8; }
  unsigned atOnce() const { return isUnpacked() ? f_[1].columns / 2 : op_ == Op::WmmaTf32 ? 4 : kMostFactors; }
  /// The product that comes as the k-th.
  unsigned nth(unsigned k) const { return isUnpacked() ? k % atOnce() / 2 * 4 + k / atOnce() * 2 + k % 2 : k; }
  bool roundsToHalf() const { return f_[0].element == Type::f16 && (isUnpacked() || f_[3].element == Type::f16); }
  uint32_t leastExponents() const { return leastExponent(f_[1].element) | leastExponent(f_[2].element) << 8; }

  /// In steps of as many products as the core takes at once.
  LlvmValue alignedSums(LlvmValue from, llvm::function_ref<Factors(unsigned)> factors) {
    const unsigned depth = f_[1].columns;
    LlvmValue sum = isUnpacked() ? llvm::Constant::getNullValue(from->getType()) : from;
    for (unsigned first = 0; first < depth; first += atOnce()) {
      std::vector<Factors> step;
      for (unsigned k = first; k < std::min(first + atOnce(), depth); ++k) step.push_back(factors(nth(k)));
      sum = alignedSum(sum, step);
    }
    return isUnpacked() ? b_.CreateFAdd(sum, from) : sum;
  }

  /// The elements of a matrix of sums, of which the helper takes columns of 16 rows (smaller ones twice).
  Elements denseSums(const Elements& x, const Elements& y, const Elements& start) {
    const unsigned depth = f_[1].columns, columns = f_[0].columns;
    const Holders ofA(f_[1]), ofB(f_[2]), ofC(f_[3]);
    LlvmValue rowsOfB = room(depth * columns);
    for (unsigned k = 0; k < depth; ++k)
      store(arranged(y, columns, [&](unsigned n) { return ofB.of(0, nth(k), n); }), rowsOfB, k * columns);
    Elements results;
    for (unsigned first = 0; first < f_[0].rows; first += kRows) {
      auto row = [&](unsigned r) { return first + r % f_[0].rows; };
      LlvmValue columnsOfA = room(depth * kRows), sums = room(columns * kRows);
      for (unsigned k = 0; k < depth; ++k)
        store(arranged(x, kRows, [&](unsigned r) { return ofA.of(0, row(r), nth(k)); }), columnsOfA, k * kRows);
      for (unsigned n = 0; n < columns; ++n) {
        LlvmValue from = arranged(start, kRows, [&](unsigned r) { return ofC.of(0, row(r), n); });
        store(isUnpacked() ? llvm::Constant::getNullValue(from->getType()) : from, sums, n * kRows);
      }
      for (unsigned k = 0; k < depth; k += atOnce())
        call("ordito_matrix_product", {floatAt(columnsOfA, k * kRows), floatAt(rowsOfB, k * columns), sums},
             {columns, std::min(atOnce(), depth - k), leastExponents(), roundsToHalf()});
      auto* column = llvm::FixedVectorType::get(b_.getFloatTy(), kRows);
      for (unsigned n = 0; n < columns; ++n)
        results.push_back(b_.CreateAlignedLoad(column, floatAt(sums, n * kRows), llvm::Align(64)));
    }
    Elements all;
    for (unsigned e = 0; e < f_[0].elements(); ++e) {
      LlvmValue sum = arranged(results, kLanes, [&](unsigned lane) {
        const MatrixPlace at = ptx::placeOf(f_[0], lane, e);
        return Holder{at.row % kRows, at.row / kRows * columns + at.column};
      });
      all.push_back(isUnpacked() ? b_.CreateFAdd(sum, startOf(start, e)) : sum);
    }
    return all;
  }

  /// Calls the helper with the factors in memory, one vector of lanes after the other.
  LlvmValue alignedSum(LlvmValue from, llvm::ArrayRef<Factors> step) {
    LlvmValue x = factorSpace(), y = floatAt(x, kMostFactors * kLanes), sum = floatAt(x, 2 * kMostFactors * kLanes);
    for (unsigned k = 0; k < step.size(); ++k) store(step[k].a, x, k * kLanes), store(step[k].b, y, k * kLanes);
    store(from, sum, 0);
    call("ordito_matrix_sum", {x, y, sum}, {static_cast<unsigned>(step.size()), leastExponents(), roundsToHalf()});
    return b_.CreateAlignedLoad(vector(b_.getFloatTy()), sum, llvm::Align(64));
  }

  LlvmValue floatAt(LlvmValue base, unsigned n) { return b_.CreateConstGEP1_32(b_.getFloatTy(), base, n); }
  void store(LlvmValue v, LlvmValue base, unsigned n) {
    b_.CreateAlignedStore(v, floatAt(base, n), llvm::Align(n % kRows == 0 ? 64 : 32));
  }

  void call(const char* helper, Elements arguments, std::initializer_list<unsigned> numbers) {
    std::vector<llvm::Type*> types(arguments.size(), b_.getPtrTy());
    for (const unsigned n : numbers) arguments.push_back(b_.getInt32(n)), types.push_back(b_.getInt32Ty());
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), types, false);
    b_.CreateCall(b_.GetInsertBlock()->getModule()->getOrInsertFunction(helper, type), arguments);
  }

  /// The field of an f32 with the exponent below which numbers of the type have the same unit.
  static uint32_t leastExponent(Type t) {
    return t == Type::f16 || t == Type::e5m2 ? 127 - 14 : t == Type::e4m3 ? 127 - 6 : 1;
  }

  static constexpr unsigned kMostFactors = 16, kRows = 16;

  /// Room for floats, in the function's frame.
  LlvmValue room(unsigned floats) {
    auto& start = b_.GetInsertBlock()->getParent()->getEntryBlock();
    llvm::IRBuilder<> entry(&start, start.begin());
    auto* room = entry.CreateAlloca(b_.getFloatTy(), entry.getInt32(floats));
    room->setAlignment(llvm::Align(64));
    return room;
  }
  /// For what a helper reads and writes in one step: at most the factors and the sum.
  LlvmValue factorSpace() { return space_ = space_ ? space_ : room((2 * kMostFactors + 1) * kLanes); }
  static llvm::FixedVectorType* vector(llvm::Type* t) { return llvm::FixedVectorType::get(t, kLanes); }
  LlvmValue number(uint64_t n) { return llvm::ConstantInt::get(vector(b_.getInt32Ty()), n); }

  LlvmValue accumulate(LlvmValue sum, LlvmValue p, LlvmValue q) {
    if (!isInteger() && rounding_ != "rn") return rounded(sum, p, q);
    if (!isInteger()) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {p, q, sum});
    if (f_[1].element != Type::b1) return b_.CreateAdd(sum, b_.CreateMul(p, q));
    return b_.CreateAdd(
        sum, b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, xors_ ? b_.CreateXor(p, q) : b_.CreateAnd(p, q)));
  }

  /// Of the rows of B that a sparse A's stored element may meet, the one that the metadata says.
  LlvmValue chosen(unsigned e, unsigned k, llvm::function_ref<LlvmValue(unsigned)> rowOfB) {
    std::vector<int> lanes;
    std::vector<uint32_t> shifts;
    ptx::SparseChoice c;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      c = ptx::choiceOf(instruction_, ptx::placeOf(f_[0], lane, e).row, k);
      lanes.push_back(static_cast<int>(c.lane));
      shifts.push_back(c.shift);
    }
    LlvmValue word = b_.CreateLShr(shuffled(metadata_, lanes), llvm::ConstantDataVector::get(b_.getContext(), shifts));
    LlvmValue index = b_.CreateAnd(word, number(c.mask)), result = rowOfB(c.first);
    for (unsigned n = 1; n <= c.mask; ++n)
      result = b_.CreateSelect(b_.CreateICmpEQ(index, number(n)), rowOfB(c.first + n * c.unit), result);
    return result;
  }

  /// An fma that rounds otherwise than to nearest, for all lanes by the runtime (rt/directed_helpers.cpp).
  LlvmValue rounded(LlvmValue sum, LlvmValue p, LlvmValue q) {
    auto* lanes = vector(b_.getDoubleTy());
    auto place = [&](unsigned k) { return b_.CreateConstGEP1_32(lanes, factorSpace(), k); };
    unsigned count = 0;
    for (LlvmValue v : {p, q, sum}) b_.CreateAlignedStore(v, place(count++), llvm::Align(64));
    auto* type = llvm::FunctionType::get(
        b_.getVoidTy(), {b_.getInt32Ty(), b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy(), b_.getPtrTy()}, false);
    b_.CreateCall(
        b_.GetInsertBlock()->getModule()->getOrInsertFunction(fmt::format("ordito_fma_{}_f64", rounding_), type),
        {b_.getInt32(kLanes), place(0), place(1), place(2), place(count)});
    return b_.CreateAlignedLoad(lanes, place(count), llvm::Align(64));
  }

  /// The products' sum fits 32 bits, so it alone is exact.
  LlvmValue addStart(LlvmValue sum, LlvmValue start) {
    return saturates_ ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, sum, start) : b_.CreateAdd(sum, start);
  }

  /// c's element for d's element `e`: in the same lane, but perhaps elsewhere if their types differ.
  LlvmValue startOf(const Elements& start, unsigned e) {
    if (f_[3].elements() == f_[0].elements() && f_[3].kind == Fragment::Kind::Tiles) return start[e];
    const Holders holders(f_[3]);
    return pick(start, 1, [&](const MatrixPlace& at) { return holders.of(at.matrix, at.row, at.column); }, e);
  }

  /// For each lane the element that its result's element `e` needs, which `holder` finds by that result's place.
  /// `unit`: how many elements one value of `values` has.
  LlvmValue pick(const Elements& values, unsigned unit, llvm::function_ref<Holder(const MatrixPlace&)> holder,
                 unsigned e) {
    return arranged(values, kLanes, [&](unsigned lane) {
      const Holder h = holder(ptx::placeOf(f_[0], lane, e));
      return Holder{h.lane, h.element / unit};
    });
  }

  /// A vector of `count` elements of the vectors `values`; `from` says of which each is, and where in it.
  LlvmValue arranged(const Elements& values, unsigned count, llvm::function_ref<Holder(unsigned)> from) {
    std::vector<Holder> holders;
    std::vector<unsigned> sources;
    for (unsigned n = 0; n < count; ++n) {
      holders.push_back(from(n));
      if (std::find(sources.begin(), sources.end(), holders.back().element) == sources.end())
        sources.push_back(holders.back().element);
    }
    LlvmValue result = nullptr;
    for (unsigned source : sources) {
      std::vector<int> lanes;
      std::vector<llvm::Constant*> mine;
      for (const Holder& h : holders) {
        mine.push_back(b_.getInt1(h.element == source));
        lanes.push_back(static_cast<int>(h.lane));
      }
      LlvmValue moved = shuffled(values[source], lanes);
      result = result ? b_.CreateSelect(llvm::ConstantVector::get(mine), moved, result) : moved;
    }
    return result;
  }

  /// Elements of different results need the same permutations.
  LlvmValue shuffled(LlvmValue v, const std::vector<int>& lanes) {
    LlvmValue& known = shuffles_[{v, lanes}];
    if (!known) known = b_.CreateShuffleVector(v, lanes);
    return known;
  }

  /// The elements of a fragment as numbers to compute with: f32, f64 or i32 (single bits stay in their words).
  Elements elements(const Fragment& g, const Elements& words) {
    if (g.element == Type::b1) return words;
    Elements all;
    for (unsigned e = 0; e < g.elements(); ++e)
      all.push_back(number(g.element, words[e / g.perRegister()], e % g.perRegister()));
    return all;
  }

  LlvmValue number(Type t, LlvmValue word, unsigned at) {
    llvm::Type* real = vector(b_.getFloatTy());
    const unsigned bits = isa::bits(t);
    if (t == Type::f64 || t == Type::f32 || t == Type::s32) return word;
    if (t == Type::tf32) return b_.CreateBitCast(b_.CreateAnd(word, number(0xFFFFE000)), real);
    if (t == Type::bf16)
      return b_.CreateBitCast(at ? b_.CreateAnd(word, number(0xFFFF0000)) : b_.CreateShl(word, 16), real);
    LlvmValue field = b_.CreateShl(word, 32 - bits - at * bits);
    if (isa::isSigned(t)) return b_.CreateAShr(field, 32 - bits);
    field = b_.CreateLShr(field, 32 - bits);
    if (isa::isInteger(t)) return field;
    auto fromHalf = [&](LlvmValue v) {
      return b_.CreateFPExt(b_.CreateBitCast(b_.CreateTrunc(v, vector(b_.getInt16Ty())), vector(b_.getHalfTy())), real);
    };
    if (t == Type::f16) return fromHalf(field);
    if (t == Type::e5m2) return fromHalf(b_.CreateShl(field, 8));
    // e4m3 at the place of an f16's fields is 2^8 times too small; its one NaN is apart.
    LlvmValue magnitude = b_.CreateAnd(field, number(0x7F));
    LlvmValue moved = b_.CreateOr(b_.CreateShl(b_.CreateAnd(field, number(0x80)), 8), b_.CreateShl(magnitude, 7));
    LlvmValue value = b_.CreateFMul(fromHalf(moved), llvm::ConstantFP::get(real, 256));
    return b_.CreateSelect(b_.CreateICmpEQ(magnitude, number(0x7F)), llvm::ConstantFP::getNaN(real), value);
  }

  /// d's elements as its registers, NaNs as a GPU writes them.
  Elements registers(const Elements& sums) {
    Elements all;
    for (unsigned r = 0; r < f_[0].registers; ++r) {
      LlvmValue v = sums[r * f_[0].perRegister()];
      if (f_[0].element == Type::f32) v = canonical(v);
      if (f_[0].element == Type::f16)
        v = b_.CreateOr(halfBits(sums[2 * r]), b_.CreateShl(halfBits(sums[2 * r + 1]), 16));
      all.push_back(v);
    }
    return all;
  }

  LlvmValue canonical(LlvmValue v) {
    LlvmValue bits = b_.CreateBitCast(v, vector(b_.getInt32Ty()));
    bits = b_.CreateSelect(b_.CreateFCmpUNO(v, v), number(0x7FFFFFFF), bits);
    return b_.CreateBitCast(bits, v->getType());
  }

  LlvmValue halfBits(LlvmValue v) {
    LlvmValue bits = b_.CreateBitCast(b_.CreateFPTrunc(v, vector(b_.getHalfTy())), vector(b_.getInt16Ty()));
    return b_.CreateSelect(b_.CreateFCmpUNO(v, v), number(0x7FFF), b_.CreateZExt(bits, vector(b_.getInt32Ty())));
  }

  llvm::IRBuilder<>& b_;
  const Instruction& instruction_;
  LlvmValue metadata_;  // of a sparse A; else null
  Fragment f_[4];
  Op op_{};
  LlvmValue space_ = nullptr;
  bool saturates_ = false, xors_ = false;
  std::string_view rounding_;
  std::map<std::pair<LlvmValue, std::vector<int>>, LlvmValue> shuffles_;
};

}  // namespace

/// The function of the module for this form of multiplication.
llvm::Function* MatrixProducts::functionFor(const Instruction& i, llvm::ArrayRef<llvm::Type*> parameters,
                                            unsigned results) {
  const bool isSparse = i.has(ModifierKind::Sparse);
  std::string name = ptx::spellOpcode(i);
  if (isSparse) name += fmt::format(" {}", i.operands[5].bits);
  if (auto* known = c_.module.getFunction(name)) return known;
  llvm::Type* one = values_.typeOf(ptx::fragmentOf(i, 0).registerType(), true);
  auto* result = llvm::StructType::get(b_.getContext(), std::vector<llvm::Type*>(results, one));
  auto* f = llvm::Function::Create(llvm::FunctionType::get(result, parameters, false), llvm::Function::InternalLinkage,
                                   name, c_.module);
  f->copyAttributesFrom(c_.function);
  f->setVisibility(llvm::GlobalValue::DefaultVisibility);
  f->setDSOLocal(true);
  f->removeParamAttr(0, llvm::Attribute::NoAlias);
  f->addFnAttr(llvm::Attribute::NoInline);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(b_.getContext(), "entry", f));
  std::vector<LlvmValue> registers[3];
  unsigned next = 0;
  for (unsigned k = 0; k < 3; ++k)
    for (unsigned r = 0; r < ptx::fragmentOf(i, k + 1).registers; ++r) registers[k].push_back(f->getArg(next++));
  LlvmValue whole = llvm::PoisonValue::get(result);
  LlvmValue metadata = isSparse ? f->getArg(next) : nullptr;
  const auto out = Product(b, i, metadata).run(registers[0], registers[1], registers[2]);
  for (unsigned r = 0; r < results; ++r) whole = b.CreateInsertValue(whole, out[r], r);
  b.CreateRet(whole);
  return f;
}

void MatrixProducts::emit(const Instruction& i) {
  const Fragment d = ptx::fragmentOf(i, 0);
  std::vector<Parts> results(d.registers);
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    std::vector<LlvmValue> arguments;
    std::vector<llvm::Type*> types;
    for (unsigned k = 1; k < 4; ++k) {
      const Fragment f = ptx::fragmentOf(i, k);
      for (unsigned r = 0; r < f.registers; ++r) {
        arguments.push_back(operands_.exactBits(elementOf(i.operands[k], r), f.registerType(), s));
        types.push_back(arguments.back()->getType());
      }
    }
    if (i.has(ModifierKind::Sparse)) {
      arguments.push_back(operands_.exactBits(i.operands[4], Type::b32, s));
      types.push_back(arguments.back()->getType());
    }
    auto* call = b_.CreateCall(functionFor(i, types, d.registers), arguments);
    for (unsigned r = 0; r < d.registers; ++r) results[r].push_back(b_.CreateExtractValue(call, r));
  }
  values_.defineElements(i, results);
}

}  // namespace ordito::jit
