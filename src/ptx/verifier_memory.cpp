// Which modifiers go together in instructions that read, write or name memory. Which values a modifier may have says
// the table; the rules here tie modifiers to state spaces and to each other. ptxas_check compared them with NVIDIA's
// compiler.
#include "ptx/verifier_impl.hpp"

namespace ordito::ptx {
namespace {

using isa::mod;
using isa::ModifierKind;
using isa::Op;
using isa::Type;
using Kind = isa::TypeKind;

bool is(const Instruction& i, std::string_view semantics) { return i.mods.name(ModifierKind::Semantics) == semantics; }
bool inGlobal(Space s) { return s == Space::Generic || s == Space::Global; }

/// Hints of where a line of the caches shall stay.
Problem cacheHints(const Instruction& i) {
  const bool evicts = i.has(ModifierKind::L1Evict), hints = i.has(ModifierKind::CacheHint);
  if (i.has(ModifierKind::L2Evict)) return ".L2::evict_… needs an access of 256 bits, which Ordito does not have";
  if ((evicts || hints || i.has(ModifierKind::PrefetchSize)) && !inGlobal(spaceOf(i)))
    return "hints for the caches need .global or generic memory";
  if (evicts && i.has(ModifierKind::CacheOp)) return "a cache operator and an eviction priority exclude each other";
  if ((evicts || hints) && is(i, "volatile")) return "hints for the caches do not go with .volatile";
  return kFine;
}

/// .nc reads what nobody writes: nothing strong goes with it.
Problem nonCoherent(const Instruction& i) {
  if (!i.has(ModifierKind::NonCoherent)) return kFine;
  if (spaceOf(i) != Space::Global) return ".nc needs .global";
  if (i.has(ModifierKind::Semantics)) return ".nc does not go with memory semantics";
  const auto cache = i.mods.name(ModifierKind::CacheOp);
  return cache == "lu" || cache == "cv" ? ".nc takes .ca, .cg or .cs" : kFine;
}

Problem memoryOrder(const Instruction& i) {
  const Space space = spaceOf(i);
  const bool plain = !i.has(ModifierKind::Semantics) || is(i, "weak"), strong = !plain && !is(i, "volatile");
  if (i.has(ModifierKind::MappedIo) && (!is(i, "relaxed") || i.mods.name(ModifierKind::Scope) != "sys"))
    return ".mmio needs .relaxed.sys";
  if (i.has(ModifierKind::MappedIo) && !inGlobal(space)) return ".mmio needs .global or generic memory";
  if (strong != i.has(ModifierKind::Scope))
    return "a scope goes with .relaxed, .acquire or .release, and only with them";
  if (!plain && !inGlobal(space) && space != Space::Shared)
    return ".volatile, .relaxed, .acquire and .release need .global, .shared or generic memory";
  if (!plain && i.has(ModifierKind::CacheOp)) return "a cache operator does not go with memory semantics";
  if (i.op == Op::St && space == Space::Const) return ".const cannot be stored to";
  if (Problem problem = nonCoherent(i)) return problem;
  return cacheHints(i);
}

/// Halves are not flushed, and their instructions say so.
Problem noFlush(const Instruction& i) {
  const bool small = isa::isFloat(i.type[0]) && i.type[0] != Type::f32 && i.type[0] != Type::f64;
  return small == i.has(ModifierKind::NoFlush) ? kFine
                                               : ".noftz goes with .f16, .f16x2, .bf16 and .bf16x2, and only with them";
}

Problem atomicPlace(const Instruction& i) {
  const Space space = spaceOf(i);
  if (!inGlobal(space) && space != Space::Shared) return "atomic operations work in .global, .shared or generic memory";
  return i.has(ModifierKind::CacheHint) && space == Space::Shared
             ? "hints for the caches need .global or generic memory"
             : kFine;
}

Problem atomic(const Instruction& i) {
  const std::string_view op = i.mods.name(ModifierKind::AtomOp);
  const Type t = i.type[0];
  const Kind kind = isa::info(t).kind;
  if (Problem problem = atomicPlace(i)) return problem;
  if (Problem problem = noFlush(i)) return problem;
  if (i.op == Op::AtomCas) return kFine;
  if (op == "cas") return ".cas needs type .b16, .b32 or .b64";
  if (op == "exch")
    return i.op == Op::Red ? "red has no .exch" : kind == Kind::Bits ? kFine : ".exch needs type .b32 or .b64";
  if (op == "and" || op == "or" || op == "xor")
    return kind == Kind::Bits ? kFine : "bitwise operations need type .b32 or .b64";
  if (op == "inc" || op == "dec") return t == Type::u32 ? kFine : ".inc and .dec need type .u32";
  if (op == "min" || op == "max")
    return kind == Kind::Unsigned || kind == Kind::Signed ? kFine : ".min and .max need an integer type";
  return kind == Kind::Bits || t == Type::s64 ? ".add needs type .u32, .s32, .u64 or a floating-point one" : kFine;
}

Problem vectorAtomic(const Instruction& i) {
  const auto length = i.mods.name(ModifierKind::Vector);
  const Type t = i.type[0];
  if (Problem problem = noFlush(i)) return problem;
  if (t == Type::f32 && !i.is(mod<ModifierKind::AtomOp>("add"))) return ".min and .max need 16 bits";
  return length == "v8" && isa::bits(t) == 32 ? ".v8 needs a type of 16 bits" : kFine;
}

Problem mbarrier(const Instruction& i) {
  const Space s = spaceOf(i);
  if (s != Space::Generic && s != Space::Shared) return "this instruction works in shared memory";
  if (i.has(ModifierKind::Semantics) != i.has(ModifierKind::Scope))
    return "the order and the scope of an mbarrier's operation go together";
  const bool isRemote = i.mods.name(ModifierKind::Space) == "shared::cluster";
  const bool hasState = i.op >= Op::MbarrierArrive && i.op <= Op::MbarrierDropExpectTx;
  return isRemote && hasState && !i.operands.empty() && !i.operands[0].is(Operand::Kind::Sink)
             ? "an arrival in .shared::cluster gives no state: its destination is '_'"
             : kFine;
}

Problem asyncCopy(const Instruction& i) {
  const Operand& size = i.operands[2];
  if (!size.is(Operand::Kind::Integer)) return "the size of a copy must be a constant";
  const bool all = i.is(mod<ModifierKind::CacheOp>("cg"));
  if (size.bits == 16) return kFine;
  return all ? ".cg copies 16 bytes" : size.bits == 4 || size.bits == 8 ? kFine : "a copy has 4, 8 or 16 bytes";
}

Problem bulkCopy(const Instruction& i) {
  if (i.op == Op::CpBulkShared && !i.is(mod<ModifierKind::BulkTarget>("shared::cluster")))
    return "a copy from .shared::cta goes to .shared::cluster or .global";
  if (i.op == Op::CpBulkPrefetch)
    return i.is(mod<ModifierKind::CacheLevel>("L2")) ? kFine : "a run of bytes is prefetched to .L2";
  const Operand& size = i.operands[2];
  return size.is(Operand::Kind::Integer) && size.bits % 16 != 0 ? "the size of a bulk copy is a multiple of 16" : kFine;
}

Problem addressSpace(const Instruction& i) {
  const Space s = spaceOf(i);
  if (i.op == Op::Prefetch)
    return inGlobal(s) || s == Space::Local ? kFine : "prefetch works in .global, .local or generic memory";
  if (i.op == Op::Ldu) return inGlobal(s) ? kFine : "ldu works in .global or generic memory";
  return i.is(mod<ModifierKind::Space>("param::func")) ? ".param::func has no generic addresses" : kFine;
}

Problem restrictedFence(const Instruction& i) {
  const bool acquires = is(i, "acquire");
  return acquires == i.is(mod<ModifierKind::SyncRestrict>("sync_restrict::shared::cluster"))
             ? kFine
             : ".acquire is restricted to .shared::cluster, .release to .shared::cta";
}

Problem conversionOfAddress(const Instruction& i) {
  return i.type[0] == Type::u32 ? "addresses have 64 bits; use .u64" : addressSpace(i);
}

}  // namespace

Problem memoryProblem(const Instruction& i) {
  if (i.info().form.mnemonic == "mbarrier") return mbarrier(i);
  switch (i.op) {
    case Op::Ld:
    case Op::St: return memoryOrder(i);
    case Op::Ldu:
    case Op::Isspacep:
    case Op::Prefetch: return addressSpace(i);
    case Op::Cvta: return conversionOfAddress(i);
    case Op::CpAsync: return asyncCopy(i);
    case Op::CpBulkLoad:
    case Op::CpBulkShared:
    case Op::CpBulkStore:
    case Op::CpBulkPrefetch: return bulkCopy(i);
    case Op::AtomCas:
    case Op::Atom:
    case Op::Red: return atomic(i);
    case Op::AtomVector:
    case Op::RedVector: return vectorAtomic(i);
    case Op::FenceProxyGeneric:
    case Op::FenceRestricted: return restrictedFence(i);
    case Op::Mapa:
    case Op::GetCtaRank:
      return !i.has(ModifierKind::Space) || i.mods.name(ModifierKind::Space) == "shared::cluster"
                 ? kFine
                 : "this instruction works in .shared::cluster or generic memory";
    default: return kFine;
  }
}

}  // namespace ordito::ptx
