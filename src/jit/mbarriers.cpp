// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier": calls of rt/mbarrier.cpp, lane after
// lane. A wait is a test in a loop that spins (ir/sync_points.hpp).
#include "jit/mbarriers.hpp"

#include "rt/mbarrier.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Op;
using isa::Type;
using SyncKind = machine::SyncEvent::Kind;

struct Mbarriers::Form {
  rt::MbarrierWork work;
  size_t address, operand;  // positions; an absent operand counts 1
  Type type = Type::u32;    // of the operand
};

std::optional<Mbarriers::Form> Mbarriers::formOf(Op op) {
  using Work = rt::MbarrierWork;
  switch (op) {
    case Op::MbarrierInit: return Form{Work::Init, 0, 1};
    case Op::MbarrierInval: return Form{Work::Inval, 0, 1};
    case Op::MbarrierExpectTx: return Form{Work::ExpectTx, 0, 1};
    case Op::MbarrierCompleteTx: return Form{Work::CompleteTx, 0, 1};
    case Op::MbarrierArrive:
    case Op::MbarrierArriveNoComplete: return Form{Work::Arrive, 1, 2};
    case Op::MbarrierArriveExpectTx: return Form{Work::ArriveExpectTx, 1, 2};
    case Op::MbarrierDrop:
    case Op::MbarrierDropNoComplete: return Form{Work::Drop, 1, 2};
    case Op::MbarrierDropExpectTx: return Form{Work::DropExpectTx, 1, 2};
    case Op::CpAsyncMbarrierArrive: return Form{Work::CopiesArrive, 0, 1};
    case Op::MbarrierTestWait:
    case Op::MbarrierTryWait: return Form{Work::Test, 1, 2, Type::u64};
    case Op::MbarrierTestParity:
    case Op::MbarrierTryParity: return Form{Work::TestParity, 1, 2};
    default: return std::nullopt;
  }
}

namespace {

/// What listeners hear of it.
std::optional<SyncKind> told(rt::MbarrierWork work) {
  using Work = rt::MbarrierWork;
  switch (work) {
    case Work::Init: return SyncKind::MbarrierInit;
    case Work::Inval: return SyncKind::MbarrierInvalidate;
    case Work::ExpectTx:
    case Work::CompleteTx: return std::nullopt;
    case Work::CopiesArrive: return SyncKind::MbarrierCopies;
    case Work::Test:
    case Work::TestParity: return SyncKind::MbarrierPassed;
    default: return SyncKind::MbarrierArrive;
  }
}

/// Does its operand say how many arrivals it counts, or expects?
bool namesArrivals(rt::MbarrierWork work) {
  return work == rt::MbarrierWork::Init || work == rt::MbarrierWork::Arrive || work == rt::MbarrierWork::Drop;
}

}  // namespace

/// `results`: of a test, which lanes find the phase over; null where the mbarrier stays as it is.
void Mbarriers::tell(const Instruction& i, const Form& form, const Address& a, const Parts& mask, LlvmValue results) {
  if (!eventCalls_.listens()) return;
  const auto kind = told(form.work);
  LlvmValue addresses = addresses_.addressVector(a, 0, i.operands[form.address].offset);
  auto* wide = llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes);
  const bool hasOperand = form.operand < i.operands.size() && i.operands[form.operand].kind != ptx::Operand::Kind::None;
  const bool isPassed = kind == SyncKind::MbarrierPassed, isCount = namesArrivals(form.work) && hasOperand;
  const uint64_t otherwise = isPassed || kind == SyncKind::MbarrierInvalidate ? 0 : 1;
  LlvmValue numbers = isCount ? b_.CreateZExt(operands_.operand(i, form.operand, Type::u32, {}), wide)
                              : values_.constant(Type::u64, otherwise, true);
  LlvmValue heard = !kind      ? static_cast<LlvmValue>(b_.getInt32(0))
                    : isPassed ? masks_.laneBits(b_.CreateICmpNE(results, llvm::Constant::getNullValue(wide)))
                               : b_.getInt32(~0u);
  eventCalls_.mbarrier(i, kind.value_or(SyncKind::MbarrierArrive), addresses, numbers, mask, heard, results != nullptr);
}

void Mbarriers::emit(const Instruction& i) {
  const auto form = formOf(i.op);
  if (!form) c_.refuse(i, "this instruction is not supported by the JIT");
  const Address a = addresses_.addressOf(i, form->address);
  // Copies are done when they are asked for. Their arrival was counted in advance, or it changes nothing.
  if (i.op == Op::CpAsyncMbarrierArrive && !i.has(ModifierKind::NoIncrement))
    return tell(i, *form, a, values_.guardedMask(i), nullptr);
  const Parts outer = c_.at.mask;
  const Parts mask =
      events_.raise(i, {machine::AccessKind::Mbarrier, a, i.operands[form->address].offset, values_.guardedMask(i), 8})
          .mask;
  alignment_.check(i, form->address, 8, mask);
  const bool hasOperand =
      form->operand < i.operands.size() && i.operands[form->operand].kind != ptx::Operand::Kind::None;
  Parts results;
  c_.at.mask = mask;
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    LlvmValue operandValue =
        hasOperand ? operands_.operand(i, form->operand, form->type, s) : values_.constant(Type::u32, 1, true);
    operandValue = b_.CreateZExt(operandValue, llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes));
    results.push_back(calls_.callLanes(
        "ordito_mbarrier", b_.getInt64Ty(),
        {values_.splat(b_.CreatePtrToInt(c_.frame, b_.getInt64Ty())), values_.constant(Type::u32, i.line, true),
         values_.constant(Type::u32, static_cast<uint32_t>(form->work), true),
         addresses_.addressVector(a, p, i.operands[form->address].offset), operandValue},
        p));
  }
  c_.at.mask = outer;
  tell(i, *form, a, mask, results[0]);
  ValueId result = ir::kNoValue;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { result = v; });
  if (result == ir::kNoValue) return;
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue v = results[p];
    if (f_.values[result].type == Type::pred) v = b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
    v = values_.convertBits(v, values_.valueType(result, true));
    if (i.guard)
      v = b_.CreateSelect(values_.conditionMask(i.guard.reg, i.guard.negated)[p], v, values_.vectorOf(i.prior[0], p));
    results[p] = v;
  }
  values_.defineVector(result, results);
}

}  // namespace ordito::jit
