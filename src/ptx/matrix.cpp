// See matrix.hpp. In the formulas, `group` is lane / 4 and `thread` lane % 4, the manual's groupID and
// threadID_in_group.
#include "ptx/matrix.hpp"

#include <algorithm>

namespace ordito::ptx {
namespace {

using isa::ModifierKind;
using isa::Op;
using isa::Type;
using Role = Fragment::Role;

/// Rows or columns of the accumulator's tiles: 8, but A and C come in tiles of 16 rows where there are that many.
constexpr unsigned kTileColumns = 8;
unsigned tileRows(unsigned rows) { return std::min(rows, 16u); }

Role roleOf(const Instruction& i) {
  const auto part = i.mods.name(ModifierKind::MatrixPart);
  return part == "a" ? Role::A : part == "b" ? Role::B : Role::C;
}

/// A fragment of the multiplication's operand `k`: d, a, b, c.
Type elementOf(const Instruction& i, size_t k) {
  const bool half = i.op == Op::WmmaHalf || i.op == Op::WmmaHalfSat;
  return half && (k == 1 || k == 2) ? Type::f16 : i.type[k];
}

Fragment make(const Instruction& i, Role role, Type element) {
  const MatrixShape shape = matrixShape(i);
  Fragment f;
  f.role = role;
  f.element = element;
  f.rows = role == Role::B ? shape.k : shape.m;
  // Of a sparse A the lanes hold every second element.
  f.columns = role != Role::A ? shape.n : i.has(ModifierKind::Sparse) ? shape.k / 2 : shape.k;
  const bool doubled = i.info().form.mnemonic == "wmma" && element == Type::f16 && role != Role::C;
  f.registers = doubled ? 8 : f.rows * f.columns / 32 / f.perRegister();
  return f;
}

/// The matrices of the four pairs of quads are multiplied apart: 8×4 times 4×8 each.
Fragment makeQuad(const Instruction& i, Role role, Type element) {
  Fragment f = make(i, role, element);
  f.kind = Fragment::Kind::Quads;
  f.registers = role == Role::C ? 8 / f.perRegister() : 2;
  const ModifierKind layout = role == Role::A ? ModifierKind::LayoutA : ModifierKind::LayoutB;
  f.columnMajor = role != Role::C && i.mods.name(layout) == "col";
  return f;
}

MatrixPlace quadPlace(const Fragment& f, unsigned lane, unsigned e) {
  const unsigned thread = lane % 4, upper = lane >= 16 ? 4 : 0;
  const unsigned matrix = lane / 4 % 4;
  switch (f.role) {
    case Role::A:
      return f.columnMajor ? MatrixPlace{e % 4 + upper, thread, matrix} : MatrixPlace{thread + upper, e, matrix};
    case Role::B:
      return f.columnMajor ? MatrixPlace{e, thread + upper, matrix} : MatrixPlace{thread, e + upper, matrix};
    case Role::C: break;
  }
  if (f.element == Type::f16) return {thread + upper, e, matrix};
  return {(lane & 1) + (e & 2) + upper, (e & 4) + (lane & 2) + (e & 1), matrix};
}

/// Four bits of the metadata each: two indices, or one of tf32.
unsigned nibblesOfRow(const Instruction& i) {
  const unsigned stored = matrixShape(i).k / 2, width = isa::bits(i.type[1]);
  return width == 32 ? stored : width == 4 ? stored / 4 : stored / 2;
}

}  // namespace

MatrixShape matrixShape(const Instruction& i) {
  const std::string_view name = i.mods.name(ModifierKind::MatrixShape);
  auto number = [&](char letter) {
    unsigned value = 0;
    for (size_t at = name.find(letter) + 1; at < name.size() && name[at] >= '0' && name[at] <= '9'; ++at)
      value = value * 10 + static_cast<unsigned>(name[at] - '0');
    return value;
  };
  return {number('m'), number('n'), number('k')};
}

Type Fragment::registerType() const {
  return element == Type::f64 || element == Type::f32 || element == Type::s32 ? element : Type::b32;
}

Fragment fragmentOf(const Instruction& i, size_t k) {
  if (i.info().unit != isa::Unit::Tensor || !i.has(ModifierKind::MatrixShape)) return {};
  const auto work = i.mods.name(ModifierKind::WmmaOp);
  if (work == "load") return k == 0 ? make(i, roleOf(i), i.type[0]) : Fragment{};
  if (work == "store") return k == 1 ? make(i, Role::C, i.type[0]) : Fragment{};
  if (k > 3) return {};
  const Role role = k == 1 ? Role::A : k == 2 ? Role::B : Role::C;
  return i.op == Op::MmaHalfQuad ? makeQuad(i, role, i.type[k]) : make(i, role, elementOf(i, k));
}

MatrixPlace placeOf(const Fragment& f, unsigned lane, unsigned e) {
  if (f.kind == Fragment::Kind::Quads) return quadPlace(f, lane, e);
  const unsigned group = lane / 4, thread = lane % 4;
  e %= f.rows * f.columns / 32;
  if (f.role == Role::C) {
    // Two neighbours of a row; in a tile of 16 rows, two more 8 rows below.
    const unsigned height = tileRows(f.rows), perTile = height / 4, tile = e / perTile, inside = e % perTile;
    const unsigned across = f.columns / kTileColumns;
    return {group + inside / 2 * 8 + tile / across * height, thread * 2 + inside % 2 + tile % across * kTileColumns};
  }
  const unsigned per = f.perRegister(), part = e % per;
  if (f.role == Role::A) {
    const unsigned height = tileRows(f.rows), registers = height * f.columns / 32 / per;
    const unsigned tile = e / per / registers, r = e / per % registers;
    const unsigned below = height == 16 ? r % 2 * 8 : 0, along = height == 16 ? r / 2 : r;
    return {group + below + tile * height, thread * per + part + along * 4 * per};
  }
  const unsigned registers = f.rows * kTileColumns / 32 / per;
  const unsigned tile = e / per / registers, r = e / per % registers;
  return {thread * per + part + r * 4 * per, group + tile * kTileColumns};
}

unsigned sparseSelectors(const Instruction& i) { return 16 / nibblesOfRow(i); }

SparseChoice choiceOf(const Instruction& i, unsigned row, unsigned k) {
  const unsigned width = isa::bits(i.type[1]), lanes = nibblesOfRow(i) / 4;
  SparseChoice c;
  unsigned nibble = 0;
  if (width == 32) {  // one of two; the index is that of 16 bits, so its upper bit tells
    nibble = k, c = {.shift = 1, .mask = 1, .first = 2 * k};
  } else if (width == 4) {  // two of four pairs
    nibble = k / 4, c = {.shift = k / 2 % 2 * 2, .mask = 3, .first = k / 4 * 8 + k % 2, .unit = 2};
  } else {  // two of four
    nibble = k / 2, c = {.shift = k % 2 * 2, .mask = 3, .first = k / 2 * 4};
  }
  // As an H200 has it: words of 16 and 32 bits share a lane's word between a row and the one 8 below, of smaller
  // elements two lanes have a row each.
  const unsigned first = row % 8 * 4 + static_cast<unsigned>(i.operands[5].bits) * lanes, below = row / 8 % 2;
  c.lane = first + (width >= 16 ? nibble / 4 : nibble / 8 * 2 + below);
  c.shift += width >= 16 ? 16 * below + nibble % 4 * 4 : nibble % 8 * 4;
  return c;
}

}  // namespace ordito::ptx
