// PTX ISA, "Control Flow Instructions" and the few of "Miscellaneous Instructions" that end or delay a thread. Calls
// copy arguments into the callee's memory and results back, as the manual's .param space describes.
#include <fmt/format.h>

#include <cstring>

#include "interp/executor.hpp"
#include "machine/undefined.hpp"

namespace ordito::interp {

using isa::Type;
using machine::FaultKind;
using ptx::Operand;
using ptx::Symbol;

namespace {

constexpr size_t kMaxDepth = 2048;  // calls in one thread

const std::vector<Operand>& elementsOf(const Operand& list) { return list.elements; }

/// Whether a call's operand is a .param variable, passed by content, rather than a value.
bool isVariable(const Operand& operand) {
  return operand.is(Operand::Kind::Symbol) && operand.symbol.kind != Symbol::Kind::Function &&
         operand.symbol.kind != Symbol::Kind::ModuleVariable;
}

}  // namespace

void Executor::Bra() {
  Activation& top = thread_->top();
  uint32_t target = top.plan->source->labels[operand(0).label].instruction;
  wentBackwards_ |= target < top.pc;
  top.pc = target;
  if (top.plan->endsKernel[target]) thread_->state = Thread::State::Exited;  // a predicated exit, as on a GPU
}

void Executor::BrxIdx() {
  Activation& top = thread_->top();
  const auto& targets = top.plan->source->branchTargets[operand(1).bits].labels;
  const uint64_t index = read(0, Type::u32);
  if (index >= targets.size())
    fault(FaultKind::IllegalInstruction, 0,
          fmt::format("brx.idx with index {}; its .branchtargets are {}", index, targets.size()));
  const uint32_t target = top.plan->source->labels[targets[index]].instruction;
  wentBackwards_ |= target < top.pc;
  top.pc = target;
}

const FunctionPlan& Executor::callee() {
  const Operand& target = operand(1);
  if (target.is(Operand::Kind::Symbol)) return block_.program.functions[target.symbol.index];
  uint64_t address = read(1, Type::u64);
  const FunctionPlan* plan = block_.program.functionAt(address);
  if (!plan)
    fault(FaultKind::IllegalInstruction, address,
          fmt::format("indirect call of {:#x}, which is no function of the module", address));
  return *plan;
}

void Executor::copyUndefined(const std::byte* to, const std::byte* from, uint64_t bytes) const {
  machine::undefinedMemory()->copy(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from), bytes);
}

void Executor::storeParameter(const ptx::Parameter& parameter, uint32_t base, Activation& target,
                              const Operand& argument) {
  Slot value;
  if (isVariable(argument)) {
    auto* source = reinterpret_cast<const std::byte*>(symbolAddress(argument));
    if (!parameter.isRegister) {
      std::memcpy(target.memory.get() + base + parameter.offset, source, parameter.size);
      if (block_.isHeard) copyUndefined(target.memory.get() + base + parameter.offset, source, parameter.size);
      return;
    }
    std::memcpy(&value, source, std::min<size_t>(parameter.size, sizeof value));
  } else {
    value = read(argument, parameter.type);
  }
  if (parameter.isRegister)
    target.registers[parameter.reg] = value;
  else
    std::memcpy(target.memory.get() + base + parameter.offset, &value, std::min<size_t>(parameter.size, sizeof value));
}

void Executor::passArguments(const FunctionPlan& plan, Activation& target) {
  const auto& arguments = elementsOf(operand(2));
  const auto& parameters = plan.source->parameters;
  if (arguments.size() != parameters.size())
    fault(FaultKind::IllegalInstruction, 0,
          fmt::format("call of {} with {} arguments; it has {} parameters", plan.source->name, arguments.size(),
                      parameters.size()));
  for (size_t i = 0; i < arguments.size(); ++i) storeParameter(parameters[i], 0, target, arguments[i]);
}

void Executor::Call() {
  const FunctionPlan& plan = callee();
  if (plan.external) return callExternal(plan);
  if (plan.deviceRuntime) return callDeviceRuntime(plan);
  if (!plan.source->hasBody)
    fault(FaultKind::IllegalInstruction, 0, fmt::format("call of {}, which has no body", plan.source->name));
  if (thread_->stack.size() >= kMaxDepth)
    fault(FaultKind::StackOverflow, 0, fmt::format("call of {} at a depth of {} calls", plan.source->name, kMaxDepth));
  Activation target(plan);
  if (block_.isHeard) undefineVariables(target);
  passArguments(plan, target);
  thread_->stack.push_back(std::move(target));
}

/// An external function takes each argument as at most 64 bits and gives at most one result.
void Executor::callExternal(const FunctionPlan& plan) {
  Activation target(plan);
  passArguments(plan, target);
  std::array<uint64_t, 8> arguments{};
  for (size_t i = 0; i < plan.source->parameters.size(); ++i) {
    const ptx::Parameter& p = plan.source->parameters[i];
    if (p.isRegister)
      arguments[i] = target.registers[p.reg].lo;
    else
      std::memcpy(&arguments[i], target.memory.get() + p.offset, std::min<size_t>(p.size, 8));
  }
  ExternalCall call{arguments.data(), 0, block_.frame, thread_->tid};
  machine::faultHint() = {instruction_->line, true, {thread_->tid[0], thread_->tid[1], thread_->tid[2]}};
  block_.hasActed |= plan.external->watch != nullptr;
  if (block_.isHeard && plan.external->frees) raiseHeapFree(arguments[0]);
  const bool isSilent = block_.program.isReplay && plan.external->watch;
  (isSilent ? plan.external->watch : plan.external->run)(call);
  if (block_.isHeard) forgetVariables(target);
  returnWord(plan, target, call.result);
}

/// Hands what an external function returned to the call.
void Executor::returnWord(const FunctionPlan& plan, Activation& target, uint64_t word) {
  if (plan.source->returns.empty()) return;
  const ptx::Parameter& result = plan.source->returns[0];
  if (result.isRegister)
    target.registers[result.reg] = {word, 0};
  else
    std::memcpy(target.memory.get() + plan.returnBase + result.offset, &word, std::min<size_t>(result.size, 8));
  fetchResults(plan, target);
}

void Executor::callDeviceRuntime(const FunctionPlan& plan) {
  const machine::DeviceFunction& function = *plan.deviceRuntime;
  if (block_.program.isReplay) block_.giveUp();
  block_.hasActed = true;
  Activation target(plan);
  passArguments(plan, target);
  std::array<uint64_t, machine::kMostDeviceWords> words{};
  size_t next = 0;
  for (size_t i = 0; i < plan.source->parameters.size(); ++i) {
    const ptx::Parameter& p = plan.source->parameters[i];
    const machine::DeviceArgument shape = machine::deviceArgument(function.signature[i + 1]);
    for (unsigned k = 0; k < shape.words; ++k, ++next) {
      if (p.isRegister)
        words[next] = target.registers[p.reg].lo;
      else
        std::memcpy(&words[next], target.memory.get() + p.offset + k * shape.bytesPerWord, shape.bytesPerWord);
    }
  }
  const uint32_t(&size)[3] = block_.frame.ntid;
  const uint32_t number = thread_->tid[0] + size[0] * (thread_->tid[1] + size[1] * thread_->tid[2]);
  if (block_.isHeard) forgetVariables(target);
  const auto isLocal = [](const void* self, uint64_t address) {
    return static_cast<const Executor*>(self)->inLocalMemory(address);
  };
  returnWord(plan, target, function.run({block_.frame, number, isLocal, this}, words.data()));
}

/// Copies what a finished callee returns to where the current call instruction wants it.
void Executor::fetchResults(const FunctionPlan& plan, const Activation& finished) {
  const auto& wanted = elementsOf(operand(0));
  for (size_t i = 0; i < wanted.size() && i < plan.source->returns.size(); ++i) {
    const ptx::Parameter& result = plan.source->returns[i];
    const std::byte* memory = finished.memory.get() + plan.returnBase + result.offset;
    Slot value;
    if (result.isRegister)
      value = finished.registers[result.reg];
    else
      std::memcpy(&value, memory, std::min<size_t>(result.size, sizeof value));
    if (!isVariable(wanted[i]))
      write(wanted[i], result.type, value);
    else if (result.isRegister)
      std::memcpy(reinterpret_cast<std::byte*>(symbolAddress(wanted[i])), &value,
                  std::min<size_t>(result.size, sizeof value));
    else {
      auto* to = reinterpret_cast<std::byte*>(symbolAddress(wanted[i]));
      std::memcpy(to, memory, result.size);
      if (block_.isHeard) copyUndefined(to, memory, result.size);
    }
  }
}

/// Returns from the current function; from the kernel, exits.
void Executor::leave() {
  if (thread_->stack.size() == 1) {
    thread_->state = Thread::State::Exited;
    return;
  }
  Activation finished = std::move(thread_->stack.back());
  thread_->stack.pop_back();
  if (finished.stackTop) thread_->allocatedTop = finished.stackTop;
  const Activation& caller = thread_->top();
  instruction_ = &caller.plan->source->instructions[caller.pc - 1];
  fetchResults(*finished.plan, finished);
  if (block_.isHeard) forgetVariables(finished);
}

// alloca: the stack grows downwards; what a function takes it gives back when it returns.
uint64_t& Executor::stackTop() {
  if (!thread_->allocated) {
    thread_->allocated = alignedMemory(kAllocaBytes);
    thread_->allocatedTop = reinterpret_cast<uint64_t>(thread_->allocated.get()) + kAllocaBytes;
  }
  if (!thread_->top().stackTop) thread_->top().stackTop = thread_->allocatedTop;
  return thread_->allocatedTop;
}

void Executor::Alloca() {
  uint64_t& top = stackTop();
  const uint64_t size = read(1, Type::u64), alignment = present(2) ? std::max<uint64_t>(read(2, Type::u64), 16) : 16;
  if (size > top - reinterpret_cast<uint64_t>(thread_->allocated.get()))
    fault(FaultKind::StackOverflow, 0, fmt::format("alloca of {} bytes, of {} in all", size, kAllocaBytes));
  top = (top - size) & ~(alignment - 1);
  if (top < reinterpret_cast<uint64_t>(thread_->allocated.get()))
    fault(FaultKind::StackOverflow, 0, fmt::format("alloca of {} bytes, of {} in all", size, kAllocaBytes));
  if (block_.isHeard) machine::undefinedMemory()->undefine(top, size);
  write(0, Type::u64, top);
}

void Executor::StackSave() { write(0, Type::u64, stackTop()); }
void Executor::StackRestore() { stackTop() = read(0, Type::u64); }

void Executor::Ret() { leave(); }
void Executor::Exit() { thread_->state = Thread::State::Exited; }
void Executor::Trap() { fault(FaultKind::Trap, 0, "trap instruction"); }
void Executor::Brkpt() { fault(FaultKind::Trap, 0, "brkpt instruction, and no debugger is attached"); }
/// Time does not pass between instructions here; the lanes that a thread waits for get their turns from the scheduler.
void Executor::Nanosleep() {}

void Executor::Pmevent() {}
void Executor::PmeventMask() {}
/// Registers are not scarce here.
void Executor::Setmaxnreg() {}

}  // namespace ordito::interp
