// Dispatch: which lanes execute an instruction, one by one or together, and what is counted for it.
#include "interp/executor.hpp"

#include "machine/listener.hpp"

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
  thread_ = &warp_.threads[lane];
  instruction_ = thread_->instruction();
}

uint32_t Executor::guardedLanes(uint32_t group) {
  if (!instruction_->guard) return group;
  uint32_t lanes = 0;
  for (uint32_t lane : Lanes(group)) {
    bool value = warp_.threads[lane].top().registers[instruction_->guard.reg].lo & 1;
    if (value != instruction_->guard.negated) lanes |= 1u << lane;
  }
  return lanes;
}

bool Executor::step(uint32_t group) {
  wentBackwards_ = false;
  select(*Lanes(group).begin());
  if (!instruction_) {  // the end of a body returns
    for (uint32_t lane : Lanes(group)) {
      select(lane);
      leave();
    }
    return false;
  }
  const ptx::Instruction& current = *instruction_;
  if (block_.isHeard && current.guard) judgeGuard(group);
  uint32_t lanes = guardedLanes(group);
  for (uint32_t lane : Lanes(group & ~lanes)) ++warp_.threads[lane].top().pc;
  raiseIssue(group, lanes);
  if (current.info().form.memberMask >= 0)
    park(lanes);
  else if (current.info().effect == Effect::Warp || current.info().effect == Effect::Barrier)
    runTogether(lanes);
  else
    runLanes(lanes);
  return wentBackwards_;
}

/// What is counted of an instruction as such; events.cpp has the other events (machine/events.hpp). `lanes` of `group`
/// execute the instruction, the guard has switched off the others.
void Executor::raiseIssue(uint32_t group, uint32_t lanes) const {
  uint64_t* counters = siteCounters();
  if (!counters) return;
  counters[size_t(Counter::WarpInstructions)] += 1;
  counters[size_t(Counter::ThreadInstructions)] += std::popcount(lanes);
  if (instruction_->info().effect == Effect::Barrier && lanes) counters[size_t(Counter::Barriers)] += 1;
  if (instruction_->op == Op::Bra && instruction_->guard) raiseBranch(group, lanes);
}

/// Not a branch that leads on whether it is taken or not, nor a predicated exit (machine/counters.hpp).
void Executor::raiseBranch(uint32_t group, uint32_t lanes) const {
  const FunctionPlan& plan = *thread_->top().plan;
  const size_t next = static_cast<size_t>(instruction_ - plan.source->instructions.data()) + 1;
  const size_t target = plan.source->labels[instruction_->operands[0].label].instruction;
  const bool goesBack = target < next;
  if (target == next || plan.endsKernel[target] || (plan.endsKernel[next] && !goesBack)) return;
  siteCounters()[size_t(Counter::Branches)] += 1;
  if (lanes != 0 && lanes != group) siteCounters()[size_t(Counter::DivergentBranches)] += 1;
}

/// Those of the instruction, or null.
uint64_t* Executor::siteCounters() const {
  if (!block_.frame.counters) return nullptr;
  const FunctionPlan& plan = *thread_->top().plan;
  const auto at = static_cast<size_t>(instruction_ - plan.source->instructions.data());
  return block_.frame.counters + (plan.firstSite + at) * machine::kCounterCount;
}

void Executor::runLanes(uint32_t lanes) {
  active_ = lanes;
  accesses_.clear();
  for (uint32_t lane : Lanes(lanes)) {
    select(lane);
    ++thread_->top().pc;
    if (block_.isHeard)
      runHeard();
    else
      (this->*kBodies[static_cast<size_t>(instruction_->op)])();
  }
  raiseAccess(accesses_);
}

/// Warp and barrier bodies select lanes themselves; the pc moves on afterwards, since they read the lanes' own
/// instructions.
void Executor::runTogether(uint32_t lanes) {
  if (!lanes) return;
  active_ = lanes;
  accesses_.clear();
  select(*Lanes(lanes).begin());
  if (block_.isHeard)
    runHeard();
  else
    (this->*kBodies[static_cast<size_t>(instruction_->op)])();
  raiseAccess(accesses_);
  for (uint32_t lane : Lanes(lanes)) ++warp_.threads[lane].top().pc;
}

/// The lanes wait until all that their member masks name have come.
void Executor::park(uint32_t lanes) {
  for (uint32_t lane : Lanes(lanes)) {
    select(lane);
    thread_->state = Thread::State::AtWarpOperation;
    uint32_t named = uint32_t(read(size_t(instruction_->info().form.memberMask), isa::Type::u32));
    // Else undefined (PTX ISA, "bar.warp.sync", "shfl.sync"); here the lane takes part.
    if (block_.isHeard && !(named >> lane & 1))
      machine::raise(machine::SyncEvent{.at = site(1u << lane), .kind = SyncKind::WarpSync, .mask = named});
    thread_->memberMask = named | 1u << lane;
  }
  completeWarpOperations();
}

bool Executor::completeWarpOperations() {
  bool any = false;
  uint32_t waiting = warp_.lanesIn(Thread::State::AtWarpOperation);
  while (waiting) {
    uint32_t first = *Lanes(waiting).begin();
    const Thread& leader = warp_.threads[first];
    uint32_t members = leader.memberMask & warp_.live();
    uint32_t arrived = 0;
    for (uint32_t lane : Lanes(members & waiting)) {
      const Thread& other = warp_.threads[lane];
      if (other.memberMask == leader.memberMask && matches(*other.instruction(), *leader.instruction()))
        arrived |= 1u << lane;
    }
    waiting &= ~(1u << first);
    if (arrived != members) continue;
    for (uint32_t lane : Lanes(arrived)) warp_.threads[lane].state = Thread::State::Ready;
    raiseMeeting(arrived, leader.memberMask);
    runTogether(arrived);
    waiting &= ~arrived;
    any = true;
  }
  return any;
}

void Executor::fault(machine::FaultKind kind, uint64_t address, std::string detail) const {
  block_.fault(kind, thread_, instruction_ ? instruction_->line : 0, address, std::move(detail));
}

}  // namespace ordito::interp
