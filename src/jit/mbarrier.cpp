// PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier". An mbarrier lies in shared memory,
// which one host thread owns, so it is worked on by plain loads and stores, lane after lane. A wait is a test in a loop
// that spins (ir/stops.hpp).
#include "jit/mbarrier.hpp"

#include <fmt/format.h>

#include <bit>
#include <optional>

#include "jit/emitter.hpp"
#include "machine/fault.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Op;
using isa::Type;

namespace {

constexpr uint64_t kMostArrivals = (1u << 20) - 1;

/// The object's 64 bits, lowest first: arrivals of each phase, arrivals that this phase lacks (where
/// mbarrier.pending_count looks), bytes that are announced and not there, the number of the phase.
struct Bits {
  uint64_t expected : 20, missing : 20;
  int64_t bytes : 22;
  uint64_t phase : 2;

  void endPhaseIfComplete() {
    if (missing || bytes) return;
    ++phase;
    missing = expected;
  }
};
static_assert(sizeof(Bits) == sizeof(uint64_t));

}  // namespace

uint64_t workOnMbarrier(const machine::BlockFrame* frame, uint32_t line, uint32_t work, uint64_t address,
                        uint64_t operand) {
  auto refuse = [&](machine::FaultKind kind, const std::string& why) {
    machine::raiseFault(*frame, kind, line, address, why.c_str());
  };
  const uint64_t offset = address - reinterpret_cast<uint64_t>(frame->shared);
  if (offset >= frame->totalSharedBytes)
    refuse(machine::FaultKind::IllegalAddress, "an mbarrier must lie in shared memory");
  auto* object = reinterpret_cast<Bits*>(address);
  const Bits before = *object;
  Bits now = before;
  auto arrive = [&](uint64_t count, bool drops) {
    if (count > now.missing)
      refuse(machine::FaultKind::IllegalInstruction,
             fmt::format("{} arrivals at an mbarrier that waits for {}", count, uint64_t{now.missing}));
    now.missing -= count;
    if (drops) now.expected -= count;
    now.endPhaseIfComplete();
  };
  switch (static_cast<MbarrierWork>(work)) {
    case MbarrierWork::Init:
      if (operand == 0 || operand > kMostArrivals)
        refuse(machine::FaultKind::IllegalInstruction, fmt::format("mbarrier.init with a count of {}", operand));
      now = {};
      now.expected = now.missing = operand;
      break;
    case MbarrierWork::Inval: now = {}; break;
    case MbarrierWork::ExpectTx: now.bytes += static_cast<int64_t>(operand); break;
    case MbarrierWork::CompleteTx:
      now.bytes -= static_cast<int64_t>(operand);
      now.endPhaseIfComplete();
      break;
    case MbarrierWork::Arrive: arrive(operand, false); break;
    case MbarrierWork::Drop: arrive(operand, true); break;
    case MbarrierWork::ArriveExpectTx:
      now.bytes += static_cast<int64_t>(operand);
      arrive(1, false);
      break;
    case MbarrierWork::DropExpectTx:
      now.bytes += static_cast<int64_t>(operand);
      arrive(1, true);
      break;
    case MbarrierWork::CopiesArrive: arrive(1, false); break;
    case MbarrierWork::Test: return before.phase != operand >> 62;
    case MbarrierWork::TestParity: return (before.phase & 1) != (operand & 1);
  }
  *object = now;
  return std::bit_cast<uint64_t>(before);
}

namespace {

struct Form {
  MbarrierWork work;
  size_t address, operand;  // positions; an absent operand counts 1
  Type type = Type::u32;    // of the operand
};

std::optional<Form> formOf(Op op) {
  using Work = MbarrierWork;
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

}  // namespace

void Emitter::emitMbarrier(const Instruction& i) {
  const auto form = formOf(i.op);
  if (!form) refuse(i, "this instruction is not supported by the JIT");
  // Copies are done when they are asked for. Their arrival was counted in advance, or it changes nothing.
  if (i.op == Op::CpAsyncMbarrierArrive && !i.has(ModifierKind::NoIncrement)) return;
  const Parts mask = guardedMask(i), outer = mask_;
  checkAlignment(i, form->address, 8, mask);
  const Address a = addressOf(i, form->address);
  const bool hasOperand =
      form->operand < i.operands.size() && i.operands[form->operand].kind != ptx::Operand::Kind::None;
  Parts results;
  mask_ = mask;
  for (unsigned p = 0; p < jam_; ++p) {
    Source s;
    s.part = p;
    LlvmValue operandValue = hasOperand ? operand(i, form->operand, form->type, s) : constant(Type::u32, 1, true);
    operandValue = b_.CreateZExt(operandValue, llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes));
    results.push_back(callLanes("ordito_mbarrier", b_.getInt64Ty(),
                                {splat(b_.CreatePtrToInt(frame_, b_.getInt64Ty())), constant(Type::u32, i.line, true),
                                 constant(Type::u32, static_cast<uint32_t>(form->work), true),
                                 addressVector(a, p, i.operands[form->address].offset), operandValue},
                                p));
  }
  mask_ = outer;
  ValueId result = ir::kNoValue;
  ir::forEachDefinition(i, [&](ValueId v, unsigned) { result = v; });
  if (result == ir::kNoValue) return;
  for (unsigned p = 0; p < jam_; ++p) {
    LlvmValue v = results[p];
    if (f_.values[result].type == Type::pred) v = b_.CreateICmpNE(v, llvm::Constant::getNullValue(v->getType()));
    v = convertBits(v, valueType(result, true));
    if (i.guard) v = b_.CreateSelect(conditionMask(i.guard.reg, i.guard.negated)[p], v, vectorOf(i.prior[0], p));
    results[p] = v;
  }
  defineVector(result, results);
}

}  // namespace ordito::jit
