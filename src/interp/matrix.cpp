// PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions", and the moves of 8×8 matrices.
//
// Whole matrices are collected from the lanes' fragments, multiplied as the definition says, and handed back. The
// manual leaves the order and precision of the sums of floats open; here they are an H200's, bit for bit, found from
// its answers to random matrices (docs/accuracy.md). f64 is a chain of fused multiply-adds in the order of k.
#include "ptx/matrix.hpp"

#include <climits>
#include <cmath>
#include <cstring>
#include <set>
#include <span>
#include <vector>

#include "interp/executor.hpp"

namespace ordito::interp {

using isa::mod;
using isa::ModifierKind;
using isa::Op;
using isa::Type;
using ptx::Fragment;
using ptx::MatrixPlace;
using ptx::Operand;
using ptx::Space;

namespace {

constexpr unsigned kMatrices = 4;  // at most, of one instruction

/// Elements as bit patterns.
class Matrix {
 public:
  explicit Matrix(const Fragment& f)
      : columns_(f.columns), perMatrix_(f.rows * f.columns), bits_(perMatrix_ * kMatrices) {}
  uint64_t& at(const MatrixPlace& p) { return bits_[p.matrix * perMatrix_ + p.row * columns_ + p.column]; }
  uint64_t at(unsigned matrix, unsigned row, unsigned column) const {
    return bits_[matrix * perMatrix_ + row * columns_ + column];
  }

 private:
  unsigned columns_, perMatrix_;
  std::vector<uint64_t> bits_;
};

/// e4m3 has no infinities and one NaN of each sign; e5m2 is IEEE.
float float8(uint64_t bits, Type t) {
  const int mantissaBits = t == Type::e4m3 ? 3 : 2, bias = t == Type::e4m3 ? 7 : 15;
  const int exponent = int(bits >> mantissaBits) & (t == Type::e4m3 ? 15 : 31);
  const int mantissa = int(bits) & ((1 << mantissaBits) - 1);
  const float sign = bits & 0x80 ? -1.0f : 1.0f;
  if (t == Type::e4m3 ? exponent == 15 && mantissa == 7 : exponent == 31 && mantissa != 0) return NAN;
  if (t == Type::e5m2 && exponent == 31) return sign * INFINITY;
  const int significand = exponent ? mantissa | 1 << mantissaBits : mantissa;
  return sign * std::ldexp(float(significand), std::max(exponent, 1) - bias - mantissaBits);
}

double numberOf(uint64_t bits, Type t) {
  if (t == Type::e4m3 || t == Type::e5m2) return float8(bits, t);
  // A multiplication reads only the upper 19 bits of a tf32.
  if (t == Type::tf32) bits &= 0xFFFFE000;
  return toDouble(bits, t == Type::tf32 ? formatOf(Type::f32) : formatOf(t));
}

int64_t integerOf(uint64_t bits, Type t) {
  return isa::isSigned(t) ? signExtend(bits, isa::bits(t)) : int64_t(lowBits(bits, isa::bits(t)));
}

/// One of the registers of a vector operand, which may be a plain register where there is only one.
const Operand& registerOf(const Operand& o, unsigned r) { return o.is(Operand::Kind::Vector) ? o.elements[r] : o; }

/// The exponent of the smallest normal number: below it, numbers have the same unit.
int leastExponent(Type t) {
  switch (t) {
    case Type::f16:
    case Type::e5m2: return -14;
    case Type::e4m3: return -6;
    default: return -126;
  }
}

int exponentOf(double v, Type t) { return std::max(std::ilogb(v), leastExponent(t)); }

/// What a tensor core does at once: all terms are brought to the largest exponent among them, and what they have below
/// its 25th bit behind the point is cut off; the sum of what is left is exact. A product's exponent is the sum of its
/// factors'.
class AlignedSum {
 public:
  void addProduct(double x, Type tx, double y, Type ty) {
    add(x * y, x * y == 0 ? 0 : exponentOf(x, tx) + exponentOf(y, ty));
  }
  /// What is added comes as an f32, whatever it was.
  void addNumber(double v) { add(v, v == 0 ? 0 : exponentOf(v, Type::f32)); }

  double result() const {
    if (!std::isfinite(plain_)) return plain_;
    int largest = INT_MIN;
    for (const Term& t : terms_) largest = std::max(largest, t.exponent);
    double sum = 0;
    for (const Term& t : terms_) sum += std::trunc(std::ldexp(t.value, kFraction - largest));
    return std::ldexp(sum, largest - kFraction);
  }

 private:
  static constexpr int kFraction = 25;
  struct Term {
    double value;
    int exponent;
  };
  std::vector<Term> terms_;  // none is zero
  double plain_ = 0;         // decides what infinities and NaNs make

  void add(double value, int exponent) {
    plain_ += value;
    if (value != 0 && std::isfinite(value)) terms_.push_back({value, exponent});
  }
};

/// To f32, cutting off; beyond its range lies infinity.
double cutToFloat(double v) {
  if (!std::isfinite(v)) return v;
  if (std::fabs(v) >= 0x1p128) return std::copysign(INFINITY, v);
  const auto near = float(v);
  return std::fabs(double(near)) > std::fabs(v) ? std::nextafterf(near, 0.0f) : near;
}

/// Which row of B each stored element of A meets: its own number, or what the metadata of a sparse A says.
class Partners {
 public:
  Partners(const ptx::Instruction& i, const Fragment& a, std::span<const uint32_t> metadata) : columns_(a.columns) {
    for (unsigned row = 0; row < a.rows; ++row)
      for (unsigned k = 0; k < a.columns; ++k) {
        if (metadata.empty()) {
          rows_.push_back(k);
          continue;
        }
        const ptx::SparseChoice c = ptx::choiceOf(i, row, k);
        rows_.push_back(c.first + c.unit * (metadata[c.lane] >> c.shift & c.mask));
      }
  }
  unsigned of(unsigned row, unsigned k) const { return rows_[row * columns_ + k]; }

 private:
  unsigned columns_;
  std::vector<unsigned> rows_;
};

struct Multiplication {
  isa::Op op;
  Type d, a, b, c;
  Rounding rounding;
  bool saturates, xors;
  const Partners& partners;

  uint64_t floating(const Matrix& ma, const Matrix& mb, uint64_t start, unsigned matrix, unsigned row, unsigned column,
                    unsigned depth) const {
    if (d == Type::f64) {
      uint64_t total = start;
      for (unsigned k = 0; k < depth; ++k)
        total = compute(FloatOp::Fma, d, ma.at(matrix, row, k), mb.at(matrix, partners.of(row, k), column), total,
                        rounding);
      return total;
    }
    std::vector<double> x, y;
    for (unsigned k = 0; k < depth; ++k) {
      x.push_back(numberOf(ma.at(matrix, row, k), a));
      y.push_back(numberOf(mb.at(matrix, partners.of(row, k), column), b));
    }
    const double from = numberOf(start, c);
    const double total = op == isa::Op::MmaHalfQuad ? chained(x, y, from)
                         : isa::bits(a) == 8        ? unpacked(x, y, from)
                                                    : fused(x, y, from);
    return std::isnan(total) ? canonicalNan(d) : toBits(total, d);
  }

  uint64_t integer(const Matrix& ma, const Matrix& mb, uint64_t start, unsigned row, unsigned column,
                   unsigned depth) const {
    int64_t total = signExtend(start, 32);
    for (unsigned k = 0; k < depth; ++k) {
      if (a == Type::b1) {
        const uint64_t x = ma.at(0, row, k), y = mb.at(0, partners.of(row, k), column);
        total += int64_t(xors ? x ^ y : x & y);
      } else {
        total += integerOf(ma.at(0, row, k), a) * integerOf(mb.at(0, partners.of(row, k), column), b);
      }
    }
    if (saturates) total = std::clamp<int64_t>(total, INT32_MIN, INT32_MAX);
    return lowBits(uint64_t(total), 32);
  }

 private:
  static uint64_t toBits(double v, Type t) {
    return convertFloat(std::bit_cast<uint64_t>(v), Type::f64, t, Rounding::NearestEven);
  }
  double rounded(double v) const { return std::isfinite(v) ? numberOf(toBits(v, d), d) : v; }

  /// mma.m8n8k4 of f16, which GPUs since Ampere make of other instructions: multiply-adds from zero, then c.
  double chained(const std::vector<double>& x, const std::vector<double>& y, double from) const {
    float total = 0;
    for (unsigned k = 0; k < x.size(); ++k) total = std::fma(float(x[k]), float(y[k]), total);
    return total + float(from);
  }

  /// 8-bit floats, which an H200 unpacks to f16 for two products, each of one half of every four elements; c is added
  /// at the end.
  double unpacked(const std::vector<double>& x, const std::vector<double>& y, double from) const {
    double total = 0;
    for (unsigned half : {0, 2}) {
      AlignedSum sum;
      sum.addNumber(total);
      for (unsigned k = 0; k < x.size(); ++k)
        if ((k & 2) == half) sum.addProduct(x[k], a, y[k], b);
      total = d == Type::f16 ? rounded(sum.result()) : cutToFloat(sum.result());
    }
    return d == Type::f16 ? total + from : double(float(total) + float(from));
  }

  /// All others: c and up to 16 products at once; wmma of tf32 takes four.
  double fused(const std::vector<double>& x, const std::vector<double>& y, double from) const {
    const size_t atOnce = op == isa::Op::WmmaTf32 ? 4 : 16;
    double total = from;
    for (size_t first = 0; first < x.size(); first += atOnce) {
      AlignedSum sum;
      sum.addNumber(total);
      for (size_t k = first; k < std::min(first + atOnce, x.size()); ++k) sum.addProduct(x[k], a, y[k], b);
      // Where both are f16, the sum is rounded to it at once.
      total = d == Type::f16 && c == Type::f16 ? sum.result() : cutToFloat(sum.result());
    }
    return total;
  }
};

}  // namespace

/// Calls body(register number, element's bit position in it, place in the matrix) for each element of the current
/// lane's fragment.
template <class F>
void Executor::eachElement(const Fragment& f, F body) {
  for (unsigned e = 0; e < f.elements(); ++e)
    body(e / f.perRegister(), e % f.perRegister() * isa::bits(f.element), ptx::placeOf(f, thread_->lane, e));
}

void Executor::multiplyMatrices() {
  const ptx::Instruction& i = *instruction_;
  const Fragment f[4] = {ptx::fragmentOf(i, 0), ptx::fragmentOf(i, 1), ptx::fragmentOf(i, 2), ptx::fragmentOf(i, 3)};
  std::vector<Matrix> m(f, f + 4);
  std::vector<uint32_t> metadata;  // of each lane, if A is sparse
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    for (unsigned k = 1; k < 4; ++k)
      eachElement(f[k], [&](unsigned r, unsigned shift, const MatrixPlace& p) {
        const uint64_t bits = read(registerOf(operand(k), r), f[k].registerType()).lo;
        m[k].at(p) = lowBits(bits >> shift, isa::bits(f[k].element));
      });
    if (has(ModifierKind::Sparse)) metadata.resize(32), metadata[lane] = uint32_t(read(4, Type::b32));
  }
  const Partners partners(i, f[1], metadata);
  const Multiplication product{i.op,
                               f[0].element,
                               f[1].element,
                               f[2].element,
                               f[3].element,
                               roundingOf(i.mods),
                               has(ModifierKind::Saturate),
                               is(mod<ModifierKind::BitOp>("xor")),
                               partners};
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    std::vector<uint64_t> registers(f[0].registers);
    eachElement(f[0], [&](unsigned r, unsigned shift, const MatrixPlace& p) {
      const uint64_t start = m[3].at(p);
      const uint64_t element = isa::isFloat(f[0].element)
                                   ? product.floating(m[1], m[2], start, p.matrix, p.row, p.column, f[1].columns)
                                   : product.integer(m[1], m[2], start, p.row, p.column, f[1].columns);
      registers[r] |= element << shift;
    });
    for (unsigned r = 0; r < f[0].registers; ++r)
      write(registerOf(operand(0), r), f[0].registerType(), {registers[r], 0});
  }
}

void Executor::MmaHalfQuad() { multiplyMatrices(); }
void Executor::MmaHalf() { multiplyMatrices(); }
void Executor::MmaBfloat() { multiplyMatrices(); }
void Executor::MmaTf32() { multiplyMatrices(); }
void Executor::MmaFloat8() { multiplyMatrices(); }
void Executor::MmaDouble() { multiplyMatrices(); }
void Executor::MmaInt8() { multiplyMatrices(); }
void Executor::MmaInt4() { multiplyMatrices(); }
void Executor::MmaBit() { multiplyMatrices(); }
void Executor::MmaSparseHalf() { multiplyMatrices(); }
void Executor::MmaSparseBfloat() { multiplyMatrices(); }
void Executor::MmaSparseTf32() { multiplyMatrices(); }
void Executor::MmaSparseFloat8() { multiplyMatrices(); }
void Executor::MmaSparseInt8() { multiplyMatrices(); }
void Executor::MmaSparseInt4() { multiplyMatrices(); }
void Executor::WmmaHalf() { multiplyMatrices(); }
void Executor::WmmaHalfSat() { multiplyMatrices(); }
void Executor::WmmaBfloat() { multiplyMatrices(); }
void Executor::WmmaTf32() { multiplyMatrices(); }
void Executor::WmmaDouble() { multiplyMatrices(); }
void Executor::WmmaInt8() { multiplyMatrices(); }
void Executor::WmmaInt4() { multiplyMatrices(); }
void Executor::WmmaBit() { multiplyMatrices(); }

/// wmma.load and wmma.store: element (row, column) is `stride` elements from that of the next row, or column in .col.
/// `registers` is the operand of the fragment, `address` and `stride` those of the memory.
template <class F>
void Executor::eachMatrixElement(size_t registers, size_t address, F body) {
  const Fragment f = ptx::fragmentOf(*instruction_, registers);
  const bool byColumns = instruction_->mods.name(ModifierKind::Layout) == "col";
  const unsigned width = isa::bits(f.element);
  FragmentPlaces places(f.elements());
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    const uint64_t stride = present(2) ? read(2, Type::u32) : byColumns ? f.rows : f.columns;
    const auto kind = registers == 0 ? machine::AccessKind::Load : machine::AccessKind::Store;
    const Place start = locate(address, std::max(1u, width / 8), {kind});
    std::vector<uint64_t> values(f.registers);
    for (unsigned r = 0; r < f.registers; ++r)
      if (registers == 1) values[r] = read(registerOf(operand(1), r), f.registerType()).lo;
    unsigned number = 0;
    eachElement(f, [&](unsigned r, unsigned shift, const MatrixPlace& p) {
      const uint64_t element = byColumns ? p.column * stride + p.row : p.row * stride + p.column;
      const uint64_t bit = element * width;
      if (start.space == Space::Shared) checkShared(start.address + bit / 8, std::max(1u, width / 8));
      const Place place{start.space, start.address + bit / 8, start.pointer + bit / 8};
      places[number++].push_back({lane, place, place.address * 8 + bit % 8});
      body(values[r], shift, place, unsigned(bit % 8), width);
    });
    for (unsigned r = 0; r < f.registers; ++r)
      if (registers == 0) write(registerOf(operand(0), r), f.registerType(), {values[r], 0});
  }
  raiseFragment(f, registers == 0 ? machine::AccessKind::Load : machine::AccessKind::Store, places);
}

/// A fragment's accesses: each run of elements that are neighbours in memory for every lane, of 16 bytes at most, as
/// the GPU's compiler makes of it (tests/gpu/memory_instructions.json). Registers that repeat others touch nothing
/// anew.
void Executor::raiseFragment(const Fragment& f, machine::AccessKind kind, const FragmentPlaces& places) {
  const unsigned bits = isa::bits(f.element);
  auto starts = [&](unsigned element) {
    std::vector<uint64_t> result;
    for (const FragmentPlace& p : places[element]) result.push_back(p.bit);
    return result;
  };
  auto follows = [&](unsigned element) {
    std::vector<uint64_t> expected = starts(element - 1);
    for (uint64_t& bit : expected) bit += bits;
    return starts(element) == expected;
  };
  std::set<std::vector<uint64_t>> told;
  for (unsigned first = 0, next; first < f.elements(); first = next) {
    for (next = first + 1; next < f.elements() && (next - first) * bits < 128 && follows(next);) ++next;
    if (!told.insert(starts(first)).second) continue;
    accesses_.clear();
    for (const FragmentPlace& p : places[first]) {
      select(p.lane);
      touch(kind, p.place, std::max(1u, (next - first) * bits / 8));
    }
    if (block_.isHeard) followAccesses(0);
    raiseAccess(accesses_);
  }
  accesses_.clear();
}

void Executor::loadMatrix() {
  eachMatrixElement(0, 1, [&](uint64_t& value, unsigned shift, const Place& place, unsigned bit, unsigned width) {
    const uint64_t found = load(place, std::max(1u, width / 8)).lo;
    value |= lowBits(found >> bit, width) << shift;
  });
}

void Executor::storeMatrix() {
  eachMatrixElement(1, 0, [&](uint64_t& value, unsigned shift, const Place& place, unsigned, unsigned width) {
    store(place, width / 8, {lowBits(value >> shift, width), 0});
  });
}

void Executor::WmmaLoad() { loadMatrix(); }
void Executor::WmmaLoadTf32() { loadMatrix(); }
void Executor::WmmaLoadDouble() { loadMatrix(); }
void Executor::WmmaLoadInt4() { loadMatrix(); }
void Executor::WmmaLoadBit() { loadMatrix(); }
void Executor::WmmaLoadC() { loadMatrix(); }
void Executor::WmmaLoadCTf32() { loadMatrix(); }
void Executor::WmmaLoadCDouble() { loadMatrix(); }
void Executor::WmmaLoadCSmall() { loadMatrix(); }
void Executor::WmmaStore() { storeMatrix(); }
void Executor::WmmaStoreTf32() { storeMatrix(); }
void Executor::WmmaStoreDouble() { storeMatrix(); }
void Executor::WmmaStoreSmall() { storeMatrix(); }

namespace {

using Tile = uint16_t[8][8];

/// The two elements of an 8×8 matrix that a lane's register holds.
uint32_t packed(const Tile& t, unsigned lane, bool transposed) {
  const unsigned row = lane / 4, column = lane % 4 * 2;
  const uint32_t low = transposed ? t[column][row] : t[row][column];
  const uint32_t high = transposed ? t[column + 1][row] : t[row][column + 1];
  return low | high << 16;
}

void unpack(Tile& t, unsigned lane, uint32_t bits, bool transposed) {
  const unsigned row = lane / 4, column = lane % 4 * 2;
  (transposed ? t[column][row] : t[row][column]) = uint16_t(bits);
  (transposed ? t[column + 1][row] : t[row][column + 1]) = uint16_t(bits >> 16);
}

constexpr unsigned kRowBytes = 16;

}  // namespace

/// Lane 8·m + r names where row r of matrix m lies.
Executor::Place Executor::rowOfTile(size_t address, unsigned matrix, unsigned row) {
  select(matrix * 8 + row);
  const auto kind =
      instruction_->op == Op::LdMatrix ? machine::AccessKind::MatrixLoad : machine::AccessKind::MatrixStore;
  const Place place = locate(address, kRowBytes, {kind});
  touch(kind, place, kRowBytes);
  return place;
}

void Executor::LdMatrix() {
  const bool transposed = has(ModifierKind::Transposed);
  const unsigned count = unsigned(instruction_->mods.name(ModifierKind::TileCount)[1] - '0');
  std::array<Tile, 4> tiles{};
  for (unsigned m = 0; m < count; ++m)
    for (unsigned row = 0; row < 8; ++row)
      if (active_ >> (m * 8 + row) & 1) std::memcpy(tiles[m][row], rowOfTile(1, m, row).pointer, kRowBytes);
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    for (unsigned m = 0; m < count; ++m)
      write(registerOf(operand(0), m), Type::b32, {packed(tiles[m], lane, transposed), 0});
  }
}

void Executor::StMatrix() {
  const bool transposed = has(ModifierKind::Transposed);
  const unsigned count = unsigned(instruction_->mods.name(ModifierKind::TileCount)[1] - '0');
  std::array<Tile, 4> tiles{};
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    for (unsigned m = 0; m < count; ++m)
      unpack(tiles[m], lane, uint32_t(read(registerOf(operand(1), m), Type::b32).lo), transposed);
  }
  for (unsigned m = 0; m < count; ++m)
    for (unsigned row = 0; row < 8; ++row)
      if (active_ >> (m * 8 + row) & 1) std::memcpy(rowOfTile(0, m, row).pointer, tiles[m][row], kRowBytes);
}

void Executor::MovMatrix() {
  Tile tile{};
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    unpack(tile, lane, uint32_t(read(1, Type::b32)), false);
  }
  for (uint32_t lane : Lanes(active_)) {
    select(lane);
    write(0, Type::b32, packed(tile, lane, true));
  }
}

}  // namespace ordito::interp
