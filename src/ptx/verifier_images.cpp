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

using Problem = const char*;
constexpr Problem kFine = nullptr;

bool isSurface(const Instruction& i) {
  return i.op == Op::Suld || i.op == Op::Sust || i.op == Op::SustFormatted || i.op == Op::Sured ||
         i.op == Op::SuredFormatted;
}

/// Behind the coordinates of a texture: gradients have as many components as the geometry has axes, offsets too.
size_t textureVector(const Instruction& i, size_t k) {
  if (k == 0) return i.has(ModifierKind::Vector) ? i.mods.name(ModifierKind::Vector)[1] - '0' : 0;
  const auto geometry = i.mods.name(ModifierKind::Geometry);
  if (!i.operands[k].is(Operand::Kind::Vector)) return 0;
  return geometry == "1d" || geometry == "a1d" ? 1 : geometry == "2d" || geometry == "a2d" ? 2 : 4;
}

/// mbarrier and cp.async name shared memory or none.
Problem sharedOnly(const Instruction& i) {
  const Space s = spaceOf(i);
  return s == Space::Generic || s == Space::Shared ? kFine : "this instruction works in shared memory";
}

Problem mbarrierProblem(const Instruction& i) {
  if (i.has(ModifierKind::Scope) && i.mods.name(ModifierKind::Scope) != "cta" &&
      i.mods.name(ModifierKind::Scope) != "cluster")
    return "the scope of an mbarrier is .cta or .cluster";
  return sharedOnly(i);
}

Problem asyncCopyProblem(const Instruction& i) {
  const Operand& size = i.operands[2];
  if (!size.is(Operand::Kind::Integer)) return "the size of a copy must be a constant";
  const bool all = i.is(mod<ModifierKind::CacheOp>("cg"));
  if (size.bits == 16) return kFine;
  return all ? ".cg copies 16 bytes" : size.bits == 4 || size.bits == 8 ? kFine : "a copy has 4, 8 or 16 bytes";
}

Problem matrixProblem(const Instruction& i) {
  const Type d = i.type[0], c = i.type[3];
  switch (i.op) {
    case Op::MmaHalf:
    case Op::MmaFloat8: return d == c ? kFine : "the types of c and d must be equal";
    case Op::WmmaLoadInt4:
    case Op::WmmaLoadBit: {
      const bool fits = i.is(mod<ModifierKind::MatrixPart>("a")) == (i.mods.name(ModifierKind::Layout) == "row");
      return fits ? kFine : "matrices of less than 8 bits are .row for a and .col for b";
    }
    case Op::MmaInt8:
    case Op::MmaInt4:
    case Op::WmmaDouble:
    default: break;
  }
  const Space s = spaceOf(i);
  if (i.op == Op::LdMatrix || i.op == Op::StMatrix) return sharedOnly(i);
  return s == Space::Generic || s == Space::Global || s == Space::Shared
             ? kFine
             : "matrices lie in .global, .shared or generic memory";
}

Problem imageProblem(const Instruction& i) {
  if (i.op == Op::Suld || i.op == Op::Sust) {
    const auto cache = i.mods.name(ModifierKind::CacheOp);
    const bool fits = i.op == Op::Suld ? cache != "wb" && cache != "wt" && cache != "lu"
                                       : cache != "ca" && cache != "cv" && cache != "lu";
    if (!fits) return "no such cache operator for surfaces";
    if (i.mods.name(ModifierKind::Vector) == "v8") return "surfaces take .v2 and .v4";
  }
  if (isSurface(i) && i.op >= Op::Sured && i.type[0] == Type::u64 && !i.is(mod<ModifierKind::SurfaceOp>("add")) &&
      !i.is(mod<ModifierKind::SurfaceOp>("min")) && !i.is(mod<ModifierKind::SurfaceOp>("max")))
    return "bitwise operations need type .b32 or .b64";
  return kFine;
}

Problem vectorAtomicProblem(const Instruction& i) {
  const auto length = i.mods.name(ModifierKind::Vector);
  const Type t = i.type[0];
  const bool isAdd = i.is(mod<ModifierKind::AtomOp>("add"));
  if ((t != Type::f32) != i.has(ModifierKind::NoFlush)) return ".noftz goes with types of 16 bits, and only with them";
  if (t == Type::f32)
    return isAdd ? length == "v8" ? ".v8 needs a type of 16 bits" : kFine : ".min and .max need 16 bits";
  if (isa::isPacked(t) && length == "v8") return ".v8 needs a type of 16 bits";
  return kFine;
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
  if (i.info().form.mnemonic == "mbarrier" || i.op == Op::CpAsyncMbarrierArrive) return mbarrierProblem(i);
  if (i.op >= Op::Vadd && i.op <= Op::Vset4) return videoProblem(i);
  switch (i.op) {
    case Op::AddPair:
    case Op::SubPair:
    case Op::MulPair:
    case Op::FmaPair: return i.is(mod<ModifierKind::Rounding>("rna")) ? ".rna belongs to cvt" : kFine;
    case Op::CpAsync: return asyncCopyProblem(i);
    case Op::AtomVector:
    case Op::RedVector: return vectorAtomicProblem(i);
    case Op::Mapa:
    case Op::GetCtaRank:
      return !i.has(ModifierKind::Space) || i.mods.name(ModifierKind::Space) == "shared::cluster"
                 ? kFine
                 : "this instruction works in .shared::cluster or generic memory";
    case Op::Ld:
    case Op::St:
      return i.mods.name(ModifierKind::L2Evict) == "L2::evict_unchanged"
                 ? ".L2::evict_unchanged belongs to createpolicy"
                 : kFine;
    default: return kFine;
  }
}

}  // namespace ordito::ptx
