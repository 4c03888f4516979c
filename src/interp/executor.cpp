// Dispatch: which lanes execute an instruction, one by one or together, and what is counted for it.
#include "interp/executor.hpp"

namespace ordito::interp {

using isa::Effect;
using isa::Op;
using machine::Counter;

const Executor::Body Executor::kBodies[] = {
#define PTX(name, ...) &Executor::name,
#include "isa/ptx.def"
};

namespace {

/// Whether two lanes' instructions are the same operation in the sense of "executed the same instruction with the same
/// qualifiers".
bool matches(const ptx::Instruction& a, const ptx::Instruction& b) {
  return a.op == b.op && a.mods == b.mods && a.type[0] == b.type[0];
}

}  // namespace

void Executor::select(uint32_t lane) {
  thread = &warp.threads[lane];
  instruction = thread->instruction();
}

uint32_t Executor::guardedLanes(uint32_t group) {
  if (!instruction->guard) return group;
  uint32_t lanes = 0;
  for (uint32_t lane : Lanes(group)) {
    bool value = warp.threads[lane].top().registers[instruction->guard.reg].lo & 1;
    if (value != instruction->guard.negated) lanes |= 1u << lane;
  }
  return lanes;
}

bool Executor::step(uint32_t group) {
  wentBackwards = false;
  select(*Lanes(group).begin());
  if (!instruction) {  // the end of a body returns
    for (uint32_t lane : Lanes(group)) {
      select(lane);
      leave();
    }
    return false;
  }
  const ptx::Instruction& current = *instruction;
  uint32_t lanes = guardedLanes(group);
  for (uint32_t lane : Lanes(group & ~lanes)) ++warp.threads[lane].top().pc;
  if (uint64_t* counters = block.frame.counters) {
    counters[size_t(Counter::WarpInstructions)] += 1;
    counters[size_t(Counter::ThreadInstructions)] += std::popcount(lanes);
    if (current.op == Op::Bra) countBranch(group, lanes);
    if (current.info().effect == Effect::Barrier && lanes) counters[size_t(Counter::Barriers)] += 1;
  }
  if (current.info().form.memberMask >= 0)
    park(lanes);
  else if (current.info().effect == Effect::Warp || current.info().effect == Effect::Barrier)
    runTogether(lanes);
  else
    runLanes(lanes);
  return wentBackwards;
}

/// Only conditional branches count, and not one of whose ways leads straight to the end of the kernel
/// (machine/counters.hpp).
void Executor::countBranch(uint32_t group, uint32_t active) {
  const ptx::Function& function = *thread->top().plan->source;
  auto endsKernel = [&](size_t at) {
    const auto& code = function.instructions;
    for (size_t steps = 0; steps <= code.size() && at < code.size() && code[at].op == Op::Bra && !code[at].guard;
         ++steps)
      at = function.labels[code[at].operands[0].label].instruction;
    if (at >= code.size()) return function.isEntry;
    return !code[at].guard && (code[at].op == Op::Exit || (code[at].op == Op::Ret && function.isEntry));
  };
  const size_t here = static_cast<size_t>(instruction - function.instructions.data());
  if (!instruction->guard || endsKernel(here + 1) ||
      endsKernel(function.labels[instruction->operands[0].label].instruction))
    return;
  block.frame.counters[size_t(Counter::Branches)] += 1;
  if (active != 0 && active != group) block.frame.counters[size_t(Counter::DivergentBranches)] += 1;
}

void Executor::runLanes(uint32_t lanes) {
  active = lanes;
  accesses.clear();
  for (uint32_t lane : Lanes(lanes)) {
    select(lane);
    ++thread->top().pc;
    (this->*kBodies[static_cast<size_t>(instruction->op)])();
  }
  if (block.frame.counters) accesses.addTo(block.frame.counters);
}

/// Warp and barrier bodies select lanes themselves; the pc moves on afterwards, since they read the lanes' own
/// instructions.
void Executor::runTogether(uint32_t lanes) {
  if (!lanes) return;
  active = lanes;
  select(*Lanes(lanes).begin());
  (this->*kBodies[static_cast<size_t>(instruction->op)])();
  for (uint32_t lane : Lanes(lanes)) ++warp.threads[lane].top().pc;
}

/// The lanes wait until all that their member masks name have come.
void Executor::park(uint32_t lanes) {
  for (uint32_t lane : Lanes(lanes)) {
    select(lane);
    thread->state = Thread::State::AtWarpOperation;
    uint32_t named = uint32_t(read(size_t(instruction->info().form.memberMask), isa::Type::u32));
    thread->memberMask = named | 1u << lane;
  }
  completeWarpOperations();
}

bool Executor::completeWarpOperations() {
  bool any = false;
  uint32_t waiting = warp.lanesIn(Thread::State::AtWarpOperation);
  while (waiting) {
    uint32_t first = *Lanes(waiting).begin();
    const Thread& leader = warp.threads[first];
    uint32_t members = leader.memberMask & warp.live();
    uint32_t arrived = 0;
    for (uint32_t lane : Lanes(members & waiting)) {
      const Thread& other = warp.threads[lane];
      if (other.memberMask == leader.memberMask && matches(*other.instruction(), *leader.instruction()))
        arrived |= 1u << lane;
    }
    waiting &= ~(1u << first);
    if (arrived != members) continue;
    for (uint32_t lane : Lanes(arrived)) warp.threads[lane].state = Thread::State::Ready;
    runTogether(arrived);
    waiting &= ~arrived;
    any = true;
  }
  return any;
}

void Executor::fault(machine::FaultKind kind, uint64_t address, std::string detail) const {
  block.fault(kind, thread, instruction ? instruction->line : 0, address, std::move(detail));
}

}  // namespace ordito::interp
