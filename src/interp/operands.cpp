// Reading and writing operands: registers, immediates, special registers, addresses of variables, vectors.
#include <chrono>

#include "interp/executor.hpp"

namespace ordito::interp {

using isa::Special;
using isa::Type;
using ptx::Operand;
using ptx::Symbol;

namespace {

Slot truncated(Slot value, unsigned bits) {
  if (bits >= 128) return value;
  return {lowBits(value.lo, bits), bits > 64 ? value.hi : 0};
}

uint64_t nanoseconds() {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

}  // namespace

Slot Executor::readRegister(const Operand& o) const {
  Slot value = thread_->top().registers[o.reg];
  if (o.negated) value.lo = !(value.lo & 1);
  return value;
}

Slot Executor::read(const Operand& o, Type type) const {
  unsigned width = isa::bits(type);
  switch (o.kind) {
    case Operand::Kind::Register: return truncated(readRegister(o), width);
    case Operand::Kind::Special: return {lowBits(readSpecial(o.special), width), 0};
    case Operand::Kind::Integer:
      return {lowBits(o.negated ? !o.bits : o.bits, width), width > 64 && int64_t(o.bits) < 0 ? ~uint64_t{0} : 0};
    case Operand::Kind::Float: return {immediateBits(o.bits, type), 0};
    case Operand::Kind::Symbol: return {lowBits(symbolAddress(o), width), 0};
    case Operand::Kind::Vector: return readVector(o, type);
    default: return {};
  }
}

/// {a, b, …} as one value, a lowest.
Slot Executor::readVector(const Operand& o, Type type) const {
  unsigned width = isa::bits(type) / unsigned(o.elements.size());
  Slot value;
  for (size_t i = 0; i < o.elements.size(); ++i) {
    const Operand& e = o.elements[i];
    Type elementType = width == 64 ? Type::b64 : width == 32 ? Type::b32 : width == 16 ? Type::b16 : Type::b8;
    uint64_t bits = read(e, elementType).lo;
    unsigned position = unsigned(i) * width;
    (position < 64 ? value.lo : value.hi) |= bits << position % 64;
  }
  return value;
}

/// A value narrower than its register is extended by its own type's signedness.
void Executor::write(const Operand& o, Type type, Slot value) {
  if (o.is(Operand::Kind::Vector)) return writeVector(o, type, value);
  if (!o.is(Operand::Kind::Register)) return;  // a sink
  unsigned width = isa::bits(type);
  value = truncated(value, width);
  if (isa::isSigned(type) && !isa::isPacked(type)) value.lo = uint64_t(signExtend(value.lo, width));
  unsigned registerBits = isa::bits(thread_->top().plan->source->registers[o.reg].type);
  thread_->top().registers[o.reg] = truncated(value, registerBits);
}

void Executor::writeVector(const Operand& o, Type type, Slot value) {
  unsigned width = isa::bits(type) / unsigned(o.elements.size());
  Type elementType = width == 64 ? Type::b64 : width == 32 ? Type::b32 : width == 16 ? Type::b16 : Type::b8;
  for (size_t i = 0; i < o.elements.size(); ++i) {
    unsigned position = unsigned(i) * width;
    write(o.elements[i], elementType, {(position < 64 ? value.lo : value.hi) >> position % 64, 0});
  }
}

uint64_t Executor::variableAddress(uint32_t function, uint32_t variable) const {
  auto offset = block_.program.layout.sharedOffset.find({function, variable});
  return offset == block_.program.layout.sharedOffset.end() ? 0 : offset->second;
}

/// Shared addresses are offsets into the block's window; all others are host addresses. A function's address is that of
/// its ptx::Function.
uint64_t Executor::symbolAddress(const Operand& o) const {
  const Activation& top = thread_->top();
  auto memory = reinterpret_cast<uint64_t>(top.memory.get());
  const Symbol& symbol = o.symbol;
  const ptx::Module& module = *block_.program.module;
  uint64_t base = 0;
  switch (symbol.kind) {
    case Symbol::Kind::ModuleVariable:
      base = module.variables[symbol.index].space == ptx::Space::Shared
                 ? variableAddress(machine::KernelLayout::kModule, symbol.index)
                 : reinterpret_cast<uint64_t>(block_.frame.globals[symbol.index]);
      break;
    case Symbol::Kind::LocalVariable:
      base = top.plan->source->variables[symbol.index].space == ptx::Space::Shared
                 ? variableAddress(uint32_t(top.plan->source - module.functions.data()), symbol.index)
                 : memory + top.plan->variableOffset[symbol.index];
      break;
    case Symbol::Kind::Parameter:
      base = (thread_->stack.size() == 1 ? reinterpret_cast<uint64_t>(block_.frame.parameters) : memory) +
             top.plan->source->parameters[symbol.index].offset;
      break;
    case Symbol::Kind::ReturnParameter:
      base = memory + top.plan->returnBase + top.plan->source->returns[symbol.index].offset;
      break;
    case Symbol::Kind::Function: base = reinterpret_cast<uint64_t>(&module.functions[symbol.index]); break;
    case Symbol::Kind::None: break;
  }
  return base + uint64_t(o.offset);
}

uint64_t Executor::readSpecial(Special special) const {
  const machine::BlockFrame& f = block_.frame;
  uint32_t lane = thread_->lane, bit = 1u << lane;
  switch (special) {
    case Special::TidX: return thread_->tid[0];
    case Special::TidY: return thread_->tid[1];
    case Special::TidZ: return thread_->tid[2];
    case Special::NtidX: return f.ntid[0];
    case Special::NtidY: return f.ntid[1];
    case Special::NtidZ: return f.ntid[2];
    case Special::CtaidX: return f.ctaid[0];
    case Special::CtaidY: return f.ctaid[1];
    case Special::CtaidZ: return f.ctaid[2];
    case Special::NctaidX: return f.nctaid[0];
    case Special::NctaidY: return f.nctaid[1];
    case Special::NctaidZ: return f.nctaid[2];
    case Special::Laneid: return lane;
    case Special::Warpid: return warp_.index;
    case Special::Nwarpid: return block_.warps.size();
    case Special::WarpSize: return machine::kWarpSize;
    case Special::Smid: return f.smid;
    case Special::Nsmid: return f.nsmid;
    case Special::Gridid: return f.gridid;
    case Special::LanemaskEq: return bit;
    case Special::LanemaskLe: return bit | (bit - 1);
    case Special::LanemaskLt: return bit - 1;
    case Special::LanemaskGe: return ~(bit - 1);
    case Special::LanemaskGt: return ~(bit | (bit - 1));
    case Special::Clock:
    case Special::Clock64: return warp_.steps;  // one instruction is one cycle here
    case Special::ClockHi: return warp_.steps >> 32;
    case Special::Globaltimer:
    case Special::GlobaltimerLo: return nanoseconds();
    case Special::GlobaltimerHi: return nanoseconds() >> 32;
    case Special::DynamicSmemSize: return f.dynamicSharedBytes;
    case Special::TotalSmemSize: return f.totalSharedBytes;
    case Special::Envreg1: return reinterpret_cast<uint64_t>(f.gridWorkspace) >> 32;
    case Special::Envreg2: return uint32_t(reinterpret_cast<uint64_t>(f.gridWorkspace));
    // A cluster is one block.
    case Special::ClusterIdX: return f.ctaid[0];
    case Special::ClusterIdY: return f.ctaid[1];
    case Special::ClusterIdZ: return f.ctaid[2];
    case Special::ClusterCountX: return f.nctaid[0];
    case Special::ClusterCountY: return f.nctaid[1];
    case Special::ClusterCountZ: return f.nctaid[2];
    case Special::ClusterNctaidX:
    case Special::ClusterNctaidY:
    case Special::ClusterNctaidZ:
    case Special::ClusterNctarank: return 1;
    case Special::AggregateSmemSize: return f.totalSharedBytes;
    default: break;  // performance counters that count nothing, environment without meaning
  }
  return 0;
}

}  // namespace ordito::interp
