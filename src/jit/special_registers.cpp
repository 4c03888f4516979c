// PTX ISA, "Special Registers".
#include <bit>

#include "jit/operands.hpp"

namespace ordito::jit {

using isa::Type;

/// Lane 0's value of a special register (its base), or the thread's; see ir::Shapes::shapeOf for the patterns.
LlvmValue Operands::specialBase(isa::Special s, unsigned part) {
  using isa::Special;
  const auto [bx, by, bz] = shapes_.launch().block;
  LlvmValue warp = byThread_ ? b_.CreateLShr(c_.at.thread, b_.getInt32(std::countr_zero(kLanes))) : c_.warp(part);
  LlvmValue first = byThread_ ? c_.at.thread : b_.CreateMul(warp, b_.getInt32(kLanes), "", true, true);
  if (LlvmValue v = byThread_ ? ofLane(s, b_.CreateAnd(first, kLanes - 1)) : nullptr) return v;
  auto rem = [&](LlvmValue v, uint32_t n) { return b_.CreateURem(v, b_.getInt32(n)); };
  auto div = [&](LlvmValue v, uint32_t n) { return b_.CreateUDiv(v, b_.getInt32(n)); };
  auto frame32 = [&](size_t offset) { return c_.frameField(offset, b_.getInt32Ty(), "special"); };
  const bool oneRow = by == 1 && bz == 1;
  switch (s) {
    case Special::TidX:
      if (bx % kLanes == 0 && !byThread_) return bx > kLanes ? rem(first, bx) : b_.getInt32(0);
      return oneRow ? first : byThread_ ? rem(first, bx) : b_.getInt32(0);
    case Special::TidY: return by == 1 ? b_.getInt32(0) : rem(div(first, bx), by);
    case Special::TidZ: return bz == 1 ? b_.getInt32(0) : div(first, bx * by);
    case Special::NtidX: return b_.getInt32(bx);
    case Special::NtidY: return b_.getInt32(by);
    case Special::NtidZ: return b_.getInt32(bz);
    case Special::CtaidX: return c_.memory.ctaid[0];
    case Special::CtaidY: return c_.memory.ctaid[1];
    case Special::CtaidZ: return c_.memory.ctaid[2];
    case Special::NctaidX: return c_.memory.nctaid[0];
    case Special::NctaidY: return c_.memory.nctaid[1];
    case Special::NctaidZ: return c_.memory.nctaid[2];
    case Special::Warpid: return warp;
    case Special::Nwarpid: return b_.getInt32(plan_.facts.warps());
    case Special::WarpSize: return b_.getInt32(kLanes);
    case Special::Smid: return frame32(offsetof(machine::BlockFrame, smid));
    case Special::Nsmid: return frame32(offsetof(machine::BlockFrame, nsmid));
    case Special::Gridid: return c_.frameField(offsetof(machine::BlockFrame, gridid), b_.getInt64Ty(), "gridid");
    case Special::DynamicSmemSize: return frame32(offsetof(machine::BlockFrame, dynamicSharedBytes));
    case Special::TotalSmemSize: return frame32(offsetof(machine::BlockFrame, totalSharedBytes));
    case Special::Envreg1:
    case Special::Envreg2: {  // the two halves of an address
      LlvmValue a = c_.frameField(offsetof(machine::BlockFrame, gridWorkspace), b_.getInt64Ty(), "workspace");
      return b_.CreateTrunc(s == Special::Envreg1 ? b_.CreateLShr(a, 32) : a, b_.getInt32Ty());
    }
    // A cluster is one block.
    case Special::ClusterIdX: return c_.memory.ctaid[0];
    case Special::ClusterIdY: return c_.memory.ctaid[1];
    case Special::ClusterIdZ: return c_.memory.ctaid[2];
    case Special::ClusterCountX: return c_.memory.nctaid[0];
    case Special::ClusterCountY: return c_.memory.nctaid[1];
    case Special::ClusterCountZ: return c_.memory.nctaid[2];
    case Special::ClusterNctaidX:
    case Special::ClusterNctaidY:
    case Special::ClusterNctaidZ:
    case Special::ClusterNctarank: return b_.getInt32(1);
    case Special::AggregateSmemSize: return frame32(offsetof(machine::BlockFrame, totalSharedBytes));
    case Special::Clock: return c_.helper("ordito_clock32", b_.getInt32Ty(), {});
    case Special::ClockHi: return c_.helper("ordito_clock_hi", b_.getInt32Ty(), {});
    case Special::Clock64: return c_.helper("ordito_clock64", b_.getInt64Ty(), {});
    case Special::Globaltimer: return c_.helper("ordito_globaltimer", b_.getInt64Ty(), {});
    case Special::GlobaltimerLo:
      return b_.CreateTrunc(c_.helper("ordito_globaltimer", b_.getInt64Ty(), {}), b_.getInt32Ty());
    case Special::GlobaltimerHi:
      return b_.CreateTrunc(b_.CreateLShr(c_.helper("ordito_globaltimer", b_.getInt64Ty(), {}), 32), b_.getInt32Ty());
    // The number of lane 0, performance counters that count nothing, environment without meaning.
    default: return llvm::Constant::getNullValue(values_.typeOf(isa::info(s).type, false));
  }
}

/// What one lane has in registers that tell of lanes; null for others.
LlvmValue Operands::ofLane(isa::Special s, LlvmValue lane) {
  using isa::Special;
  LlvmValue bit = b_.CreateShl(b_.getInt32(1), lane), lower = b_.CreateSub(bit, b_.getInt32(1));
  switch (s) {
    case Special::Laneid: return lane;
    case Special::LanemaskEq: return bit;
    case Special::LanemaskLt: return lower;
    case Special::LanemaskLe: return b_.CreateOr(lower, bit);
    case Special::LanemaskGt: return b_.CreateNot(b_.CreateOr(lower, bit));
    case Special::LanemaskGe: return b_.CreateNot(lower);
    default: return nullptr;
  }
}

LlvmValue Operands::specialVector(isa::Special s, unsigned part) {
  using isa::Special;
  const ir::Shape shape = shapes_.shapeOf(s);
  if (shape.isSegmented()) {
    LlvmValue base = specialBase(s, part);
    return values_.fromBases(shape, {base}, base->getType());
  }
  auto lanes = [&](auto f) {
    ir::Pattern p;
    for (unsigned l = 0; l < kLanes; ++l) p[l] = static_cast<int64_t>(f(l));
    return values_.patternVector(p, b_.getInt32Ty());
  };
  const auto [bx, by, bz] = shapes_.launch().block;
  LlvmValue warp = c_.warp(part);
  LlvmValue thread =
      b_.CreateAdd(values_.splat(b_.CreateMul(warp, b_.getInt32(kLanes))), lanes([](unsigned l) { return l; }));
  auto by32 = [&](uint32_t n) { return values_.constant(Type::u32, n, true); };
  switch (s) {
    case Special::TidX: return b_.CreateURem(thread, by32(bx));
    case Special::TidY: return b_.CreateURem(b_.CreateUDiv(thread, by32(bx)), by32(by));
    case Special::TidZ: return b_.CreateUDiv(thread, by32(bx * by));
    case Special::LanemaskEq: return lanes([](unsigned l) { return 1u << l; });
    case Special::LanemaskLt: return lanes([](unsigned l) { return (1u << l) - 1; });
    case Special::LanemaskLe: return lanes([](unsigned l) { return (2u << l) - 1; });
    case Special::LanemaskGt: return lanes([](unsigned l) { return ~((2u << l) - 1); });
    case Special::LanemaskGe: return lanes([](unsigned l) { return ~((1u << l) - 1); });
    default:
      throw Refusal{fmt::format("kernel '{}', PTX line {}: special register {} is not supported by the JIT",
                                f_.kernel->name, c_.at.line, isa::info(s).spelling)};
  }
}

}  // namespace ordito::jit
