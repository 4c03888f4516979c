// What the verifier must know of instructions whose operands are more than scalars: the lengths of vectors, coordinates
// of textures, fragments of matrices; and which of their modifiers go together.
#include "ptx/matrix.hpp"
#include "ptx/verifier_impl.hpp"

namespace ordito::ptx {
namespace {

using isa::mod;
using isa::ModifierKind;
using isa::Op;
using isa::Type;
using isa::Unit;

/// Behind the coordinates of a texture: gradients have as many components as the geometry has axes, offsets too.
size_t textureVector(const Instruction& i, size_t k) {
  if (k == 0) return i.has(ModifierKind::Vector) ? i.mods.name(ModifierKind::Vector)[1] - '0' : 0;
  const auto geometry = i.mods.name(ModifierKind::Geometry);
  // A gradient is a vector even of one component; an offset may be absent.
  const auto name = i.info().form.operands[k].name;
  const bool isGradient = name == "g" || name == "h";
  if (!isGradient && !i.operands[k].is(Operand::Kind::Vector)) return 0;
  return geometry == "1d" || geometry == "a1d" ? 1 : geometry == "2d" || geometry == "a2d" ? 2 : 4;
}

Problem matrixProblem(const Instruction& i) {
  const Type d = i.type[0], c = i.type[3];
  switch (i.op) {
    case Op::MmaSparseHalf:
    case Op::MmaHalf:
    case Op::MmaFloat8: return d == c ? kFine : "the types of c and d must be equal";
    case Op::MmaHalfQuad: return d == Type::f32 || c == Type::f16 ? kFine : ".f32 for c needs .f32 for d";
    case Op::WmmaInt8:
    case Op::WmmaInt4: return i.type[1] == i.type[2] ? kFine : "the types of a and b must be equal";
    case Op::WmmaLoadInt4:
    case Op::WmmaLoadBit: {
      const bool fits = i.is(mod<ModifierKind::MatrixPart>("a")) == (i.mods.name(ModifierKind::Layout) == "row");
      return fits ? kFine : "matrices of less than 8 bits are .row for a and .col for b";
    }
    default: return kFine;
  }
}

Problem reductionProblem(const Instruction& i) {
  const bool bitwise = i.is(mod<ModifierKind::SurfaceOp>("and")) || i.is(mod<ModifierKind::SurfaceOp>("or"));
  if (i.op == Op::SuredFormatted) return kFine;
  if (bitwise != (i.type[0] == Type::b32)) return ".and and .or need type .b32, the other operations an integer type";
  return i.type[0] == Type::s64 && i.is(mod<ModifierKind::SurfaceOp>("add")) ? ".add needs type .u32, .s32 or .u64"
                                                                             : kFine;
}

Problem imageProblem(const Instruction& i) {
  if (i.op == Op::Suld || i.op == Op::Sust) {
    const auto cache = i.mods.name(ModifierKind::CacheOp);
    const bool fits = i.op == Op::Suld ? cache != "wb" && cache != "wt" && cache != "lu"
                                       : cache != "ca" && cache != "cv" && cache != "lu";
    if (!fits) return "no such cache operator for surfaces";
    if (i.mods.name(ModifierKind::Vector) == "v8") return "surfaces take .v2 and .v4";
  }
  if (i.op == Op::Sured || i.op == Op::SuredFormatted) return reductionProblem(i);
  const bool isCube = i.mods.name(ModifierKind::Geometry).ends_with("cube");
  return isCube && i.type[3] == Type::s32 ? "a cube needs coordinates of type .f32" : kFine;
}

Problem videoProblem(const Instruction& i) {
  if (i.has(ModifierKind::Compare) && i.mods[ModifierKind::Compare] > isa::modifierValue(ModifierKind::Compare, "ge"))
    return "vset compares .eq, .ne, .lt, .le, .gt and .ge";
  return i.has(ModifierKind::AddInVideo) && i.has(ModifierKind::Saturate) ? ".sat and .add exclude each other" : kFine;
}

}  // namespace

size_t coordinateCount(const Instruction& i) {
  const auto geometry = i.mods.name(ModifierKind::Geometry);
  if (geometry == "1d") return 1;
  if (geometry == "2d" || geometry == "a1d") return 2;
  return geometry == "acube" ? 4 : 3;
}

size_t vectorLength(const Instruction& i, size_t k) {
  if (i.info().unit == Unit::Tensor) {
    if (const unsigned registers = fragmentOf(i, k).registers) return registers;
    const bool isMatrixOfTiles = (i.op == Op::LdMatrix && k == 0) || (i.op == Op::StMatrix && k == 1);
    return isMatrixOfTiles ? i.mods.name(ModifierKind::TileCount)[1] - '0' : 0;
  }
  const bool isStore = i.op == Op::St || i.op == Op::Sust || i.op == Op::SustFormatted || i.op == Op::RedVector;
  if (i.info().unit == Unit::Texture && !isStore) return textureVector(i, k);
  if (!i.has(ModifierKind::Vector)) return 0;
  const bool isHere = isStore ? k == 1 : k == 0 || (i.op == Op::AtomVector && k == 2);
  return isHere ? i.mods.name(ModifierKind::Vector)[1] - '0' : 0;
}

Problem specialUnitProblem(const Instruction& i) {
  if (i.info().unit == Unit::Tensor) return matrixProblem(i);
  if (i.info().unit == Unit::Texture) return imageProblem(i);
  if (i.op >= Op::Vadd && i.op <= Op::Vset4) return videoProblem(i);
  switch (i.op) {
    case Op::AddPair:
    case Op::SubPair:
    case Op::MulPair:
    case Op::FmaPair: return i.is(mod<ModifierKind::Rounding>("rna")) ? ".rna belongs to cvt" : kFine;
    default: return kFine;
  }
}

}  // namespace ordito::ptx
