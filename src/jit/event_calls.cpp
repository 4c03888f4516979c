// See event_calls.hpp.
#include "jit/event_calls.hpp"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <bit>

#include "ir/block_forms.hpp"
#include "machine/memory_order.hpp"
#include "rt/event_calls.hpp"
#include "rt/trial_windows.hpp"

namespace ordito::jit {

using isa::Type;
using machine::AccessKind;
using machine::AccessSpace;
using SyncKind = machine::SyncEvent::Kind;

namespace {

AccessSpace accessSpace(ptx::Space space) {
  switch (space) {
    case ptx::Space::Global: return AccessSpace::Global;
    case ptx::Space::Shared: return AccessSpace::Shared;
    case ptx::Space::Local: return AccessSpace::Local;
    case ptx::Space::Const: return AccessSpace::Constant;
    case ptx::Space::Param: return AccessSpace::Parameter;
    default: return AccessSpace::Generic;
  }
}

/// Is lane l's address that of lane 0 plus l × a stride?
bool isAffine(const Address& a) {
  if (a.segments != 1) return false;
  const int64_t stride = a.pattern[1] - a.pattern[0];
  for (unsigned l = 1; l < kLanes; ++l)
    if (a.pattern[l] - a.pattern[l - 1] != stride) return false;
  return true;
}

LlvmValue loadField(llvm::IRBuilder<>& b, LlvmValue record, size_t offset, llvm::Type* type) {
  return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), record, offset));
}

}  // namespace

const ptx::Operand* operandNamed(const Instruction& i, std::string_view name) {
  const auto forms = i.info().form.operandList();
  for (size_t k = 0; k < i.operands.size(); ++k)
    if (forms[k].name == name && i.operands[k].kind != ptx::Operand::Kind::None) return &i.operands[k];
  return nullptr;
}

LlvmValue EventCalls::constants(llvm::Constant* data) {
  auto* made = new llvm::GlobalVariable(c_.module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
  made->setAlignment(llvm::Align(8));
  return made;
}

LlvmValue EventCalls::words(llvm::ArrayRef<uint32_t> words) {
  return constants(llvm::ConstantDataArray::get(b_.getContext(), words));
}

LlvmValue EventCalls::ask(const char* name, llvm::ArrayRef<LlvmValue> arguments) {
  std::vector<LlvmValue> all{c_.frame};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return c_.helper(name, b_.getInt32Ty(), all);
}

void EventCalls::tell(const char* name, llvm::ArrayRef<LlvmValue> arguments) {
  std::vector<LlvmValue> all{c_.frame};
  all.insert(all.end(), arguments.begin(), arguments.end());
  c_.helper(name, b_.getVoidTy(), all);
}

/// Calls are inlined, and lines of modules that were linked can be the same: the kernel's own come first.
uint32_t EventCalls::functionOf(const ptx::Instruction& i) const {
  const auto& functions = f_.module->functions;
  auto has = [&](const ptx::Function& f) {
    auto at = std::ranges::lower_bound(f.instructions, i.line, {}, &ptx::Instruction::line);
    while (at != f.instructions.end() && at->line == i.line && at->op != i.op) ++at;
    return at != f.instructions.end() && at->line == i.line;
  };
  const auto kernel = static_cast<uint32_t>(f_.kernel - functions.data());
  if (has(*f_.kernel)) return kernel;
  const auto found = std::ranges::find_if(functions, has);
  return found == functions.end() ? kernel : static_cast<uint32_t>(found - functions.begin());
}

LlvmValue EventCalls::accessSite(const Instruction& i, AccessKind kind, AccessSpace space, unsigned bytes) {
  numberObjects();
  const uint32_t object = i.object == ptx::kNoVariable ? rt::kAnyObject : objectNumbers_[i.object];
  return words({i.line, functionOf(i), static_cast<uint32_t>(kind), static_cast<uint32_t>(space),
                static_cast<uint32_t>(machine::memoryOrder(i)), static_cast<uint32_t>(machine::memoryScope(i)), bytes,
                c_.result.sites++, object});
}

LlvmValue EventCalls::syncSite(const Instruction& i, uint32_t line, SyncKind kind) {
  const bool isFence = kind == SyncKind::Fence;
  const auto order = isFence ? machine::fenceOrder(i) : machine::MemoryOrder::Weak;
  const auto scope = isFence ? machine::memoryScope(i) : machine::MemoryScope::Block;
  ptx::Instruction at = i;
  at.line = line;
  return words(
      {line, functionOf(at), static_cast<uint32_t>(kind), static_cast<uint32_t>(order), static_cast<uint32_t>(scope)});
}

/// Those that lie in memory by themselves, then those of frames.
void EventCalls::numberObjects() {
  if (!objectNumbers_.empty()) return;
  objectNumbers_.assign(f_.variables.size(), rt::kAnyObject);
  for (const ir::Frame& frame : f_.stack.frames)
    for (const auto& [v, offset] : frame.variables) inFrames_.push_back(v);
  const auto isByItself = [&](uint32_t v) {
    return f_.variables[v].space != ptx::Space::Shared && !plan_.memory.privateSlots.isPrivate[v] &&
           v != f_.stack.variable && std::ranges::find(inFrames_, v) == inFrames_.end();
  };
  uint32_t number = 0;
  for (uint32_t v = 0; v < f_.variables.size(); ++v)
    if (isByItself(v)) objectNumbers_[v] = number++;
  objects_ = number;
  for (uint32_t v : inFrames_) objectNumbers_[v] = number++;
}

/// See rt::LocalVariables.
LlvmValue EventCalls::localVariables() {
  if (locals_) return locals_;
  numberObjects();
  const ir::Stack& stack = f_.stack;
  const bool hasStack = stack.variable != ptx::kNoVariable;
  std::vector<uint64_t> table{plan_.memory.privateSlots.localBytes,
                              objects_,
                              inFrames_.size(),
                              hasStack ? plan_.memory.privateSlots.localOffset[stack.variable] : 0,
                              hasStack ? f_.variables[stack.variable].size : 0,
                              stack.frames.size()};
  const auto add = [&](uint32_t v, uint64_t offset) {
    const auto [function, variable] = f_.origin[v];
    const bool isNameless = function == ~0u;
    table.insert(table.end(), {offset, f_.variables[v].size,
                               isNameless ? rt::LocalObject::kNameless : uint64_t{function} << 32 | variable});
  };
  for (uint32_t v = 0; v < f_.variables.size(); ++v)
    if (objectNumbers_[v] < objects_) add(v, plan_.memory.privateSlots.localOffset[v]);
  for (const ir::Frame& frame : stack.frames)
    for (const auto& [v, offset] : frame.variables) add(v, offset);
  uint64_t first = objects_;
  for (const ir::Frame& frame : stack.frames) {
    table.insert(table.end(), {frame.bytes, first, frame.variables.size(), frame.sites.size()});
    table.insert(table.end(), frame.sites.begin(), frame.sites.end());
    first += frame.variables.size();
  }
  return locals_ = constants(llvm::ConstantDataArray::get(b_.getContext(), table));
}

/// The bytes of the elements as a number; of more than 8 a digest, as the interpreter makes it (AccessEvent::stored).
LlvmValue EventCalls::storedBy(llvm::ArrayRef<LlvmValue> elements) {
  if (elements.empty()) return llvm::ConstantPointerNull::get(b_.getPtrTy());
  auto* wide = llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes);
  std::vector<LlvmValue> words;
  unsigned bit = 0;
  for (LlvmValue x : elements) {
    const unsigned bits = x->getType()->getScalarSizeInBits();
    x = b_.CreateBitCast(x, llvm::FixedVectorType::get(b_.getIntNTy(bits), kLanes));
    x = b_.CreateShl(b_.CreateZExt(x, wide), bit % 64);
    if (bit % 64 == 0)
      words.push_back(x);
    else
      words.back() = b_.CreateOr(words.back(), x);
    bit += bits;
  }
  LlvmValue digest = words[0];
  for (size_t k = 1; k < words.size(); ++k)
    digest = b_.CreateAdd(b_.CreateMul(digest, values_.constant(Type::u64, 0x9E3779B97F4A7C15, true)), words[k]);
  return c_.inMemory(digest);
}

bool EventCalls::hears(const Instruction& i) const {
  return listens() &&
         (plan_.facts.lines.empty() || std::ranges::find(plan_.facts.lines, i.line) != plan_.facts.lines.end());
}

/// That of lane 0.
LlvmValue EventCalls::firstAddress(const AccessEvent& e) {
  return b_.CreateAdd(e.at.bases[0][0], b_.getInt64(static_cast<uint64_t>(e.at.pattern[0] + e.offset)));
}

/// In a trial all lanes that want to may, or the block ends.
LlvmValue EventCalls::tryAccess(const Instruction& i, const AccessEvent& e) {
  if (byThread_) return tryThread(i, e), lanes(e.mask);
  LlvmValue site = accessSite(i, e.kind, accessSpace(e.at.space), e.bytes), wanted = lanes(e.mask);
  const bool isPlain = e.at.space == ptx::Space::Global || e.at.space == ptx::Space::Shared;
  if (isPlain && e.at.isSegmented() && isAffine(e.at)) {
    LlvmValue base = firstAddress(e);
    LlvmValue stride = b_.getInt64(static_cast<uint64_t>(e.at.pattern[1] - e.at.pattern[0]));
    tell("ordito_try_affine", {site, c_.at.firstWarp, wanted, base, stride});
  } else {
    tell("ordito_try_lanes",
         {site, localVariables(), c_.at.firstWarp, wanted, c_.inMemory(addresses_.addressVector(e.at, 0, e.offset))});
  }
  return wanted;
}

/// A load by one thread (simt/stretch_rules.cpp). Where nobody writes, the code itself sees that all is well.
void EventCalls::tryThread(const Instruction& i, const AccessEvent& e) {
  const uint32_t number = c_.result.sites;
  LlvmValue site = accessSite(i, e.kind, accessSpace(e.at.space), e.bytes);
  LlvmValue address = firstAddress(e);
  const auto askAbout = [&] {
    LlvmValue lane = b_.CreateAnd(c_.at.thread, kLanes - 1);
    tell("ordito_try_affine", {site, b_.CreateLShr(c_.at.thread, std::countr_zero(kLanes)),
                               b_.CreateShl(b_.getInt32(1), lane), address, b_.getInt64(0)});
  };
  if (number >= rt::TrialWindows::kCount) return askAbout();
  LlvmValue trial = c_.frameField(offsetof(machine::BlockFrame, trial), b_.getPtrTy(), "trial");
  LlvmValue window = b_.CreateConstInBoundsGEP1_64(
      b_.getInt8Ty(), trial, offsetof(rt::TrialWindows, windows) + number * sizeof(rt::TrialWindow));
  auto *inside = c_.newBlock("inside"), *outside = c_.newBlock("outside"), *next = c_.newBlock("tried");
  b_.CreateCondBr(isInWindow(window, address), inside, outside,
                  llvm::MDBuilder(b_.getContext()).createLikelyBranchWeights());
  b_.SetInsertPoint(inside);
  mark(window, address, number + 1);
  b_.CreateBr(next);
  b_.SetInsertPoint(outside);
  askAbout();
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
}

/// Misaligned accesses are a fault behind this, which ends a trial, too.
LlvmValue EventCalls::isInWindow(LlvmValue window, LlvmValue address) {
  LlvmValue low = loadField(b_, window, offsetof(rt::TrialWindow, low), b_.getInt64Ty());
  LlvmValue span = loadField(b_, window, offsetof(rt::TrialWindow, span), b_.getInt64Ty());
  return b_.CreateICmpULE(b_.CreateSub(address, low), span);
}

void EventCalls::mark(LlvmValue window, LlvmValue address, uint32_t number) {
  auto field = [&](size_t offset, llvm::Type* type) { return loadField(b_, window, offset, type); };
  LlvmValue low = field(offsetof(rt::TrialWindow, low), b_.getInt64Ty());
  LlvmValue shift = b_.CreateZExt(field(offsetof(rt::TrialWindow, shift), b_.getInt32Ty()), b_.getInt64Ty());
  LlvmValue last = b_.CreateZExt(field(offsetof(rt::TrialWindow, last), b_.getInt32Ty()), b_.getInt64Ty());
  LlvmValue first = b_.CreateGEP(b_.getInt8Ty(), field(offsetof(rt::TrialWindow, marks), b_.getPtrTy()),
                                 b_.CreateLShr(b_.CreateSub(address, low), shift));
  LlvmValue second = b_.CreateGEP(b_.getInt8Ty(), first, last);
  auto isMarked = [&](LlvmValue unit) { return b_.CreateICmpNE(b_.CreateLoad(b_.getInt8Ty(), unit), b_.getInt8(0)); };
  auto *writes = c_.newBlock("mark"), *next = c_.newBlock("marked");
  b_.CreateCondBr(b_.CreateAnd(isMarked(first), isMarked(second)), next, writes);
  b_.SetInsertPoint(writes);
  for (LlvmValue unit : {first, second}) b_.CreateStore(b_.getInt8(static_cast<uint8_t>(number)), unit);
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
}

/// A trial knows nothing of such instructions.
void EventCalls::doubt() {
  if (isTried()) tell("ordito_try_nothing", {});
}

LlvmValue EventCalls::access(const Instruction& i, const AccessEvent& e) {
  if (isTried()) return tryAccess(i, e);
  LlvmValue site = accessSite(i, e.kind, accessSpace(e.at.space), e.bytes), stored = storedBy(e.stored);
  const bool isPlain = e.at.space == ptx::Space::Global || e.at.space == ptx::Space::Shared;
  if (isPlain && e.at.isSegmented() && isAffine(e.at)) {
    LlvmValue base = firstAddress(e);
    LlvmValue stride = b_.getInt64(static_cast<uint64_t>(e.at.pattern[1] - e.at.pattern[0]));
    return ask("ordito_tell_affine", {site, c_.at.firstWarp, lanes(e.mask), base, stride, stored});
  }
  return ask("ordito_tell_lanes", {site, localVariables(), c_.at.firstWarp, lanes(e.mask),
                                   c_.inMemory(addresses_.addressVector(e.at, 0, e.offset)), stored});
}

LlvmValue EventCalls::copy(const Instruction& i, const Address& from, const Address& to, const Parts& mask,
                           unsigned bytes, LlvmValue wanted) {
  doubt();
  if (!wanted) wanted = values_.constant(Type::u32, bytes, true);
  return ask("ordito_tell_copy",
             {accessSite(i, AccessKind::Copy, AccessSpace::Global, bytes), c_.at.firstWarp, lanes(mask),
              c_.inMemory(addresses_.addressVector(from, 0, i.operands[1].offset)),
              c_.inMemory(addresses_.addressVector(to, 0, i.operands[0].offset)), c_.inMemory(wanted)});
}

LlvmValue EventCalls::bulkCopy(const Instruction& i, uint32_t shared, LlvmValue to, LlvmValue from, LlvmValue bytes,
                               LlvmValue barriers, const Parts& mask) {
  doubt();
  return ask("ordito_tell_bulk", {accessSite(i, AccessKind::Copy, AccessSpace::Global, 0), c_.at.firstWarp, lanes(mask),
                                  b_.getInt32(shared), c_.inMemory(to), c_.inMemory(from), c_.inMemory(bytes),
                                  barriers ? c_.inMemory(barriers) : llvm::ConstantPointerNull::get(b_.getPtrTy())});
}

LlvmValue EventCalls::texels(const Instruction& i, const Parts& mask, llvm::ArrayRef<LlvmValue> operands) {
  doubt();
  std::vector<LlvmValue> all{accessSite(i, AccessKind::Load, AccessSpace::Texture, 0), c_.at.firstWarp, lanes(mask)};
  all.insert(all.end(), operands.begin(), operands.end());
  return ask("ordito_tell_texels", all);
}

LlvmValue EventCalls::surface(const Instruction& i, const SurfaceAccess& access) {
  doubt();
  LlvmValue site = surfaceSite(i, access.kind, access.bytes), mask = lanes(access.mask),
            places = c_.inMemory(access.places);
  if (access.handles) return ask("ordito_tell_formatted", {site, c_.at.firstWarp, mask, access.handles, places});
  LlvmValue nothing = llvm::ConstantPointerNull::get(b_.getPtrTy());
  return ask("ordito_tell_lanes", {site, nothing, c_.at.firstWarp, mask, places, nothing});
}

LlvmValue EventCalls::askMbarrier(const Instruction& i, LlvmValue addresses, const Parts& mask) {
  doubt();
  return ask("ordito_ask_mbarrier", {accessSite(i, AccessKind::Mbarrier, AccessSpace::Shared, 8), c_.at.firstWarp,
                                     lanes(mask), c_.inMemory(addresses)});
}

void EventCalls::mbarrier(const Instruction& i, SyncKind kind, LlvmValue addresses, LlvmValue numbers,
                          const Parts& mask, LlvmValue told, bool touches) {
  tell("ordito_tell_mbarrier", {accessSite(i, AccessKind::Mbarrier, AccessSpace::Shared, 8), c_.at.firstWarp,
                                lanes(mask), b_.getInt32(static_cast<uint32_t>(kind)), c_.inMemory(addresses),
                                c_.inMemory(numbers), told, b_.getInt32(touches)});
}

void EventCalls::operands(const Instruction& i) {
  if (!hearsAll()) return;
  const ir::GuardOperands guard = ir::guardOperands(i);
  if (!guard) return;
  auto* wide = llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes);
  auto read = [&](size_t k) {
    LlvmValue x = operands_.operand(i, k, guard.type, {});
    return c_.inMemory(isa::isSigned(guard.type) ? b_.CreateSExt(x, wide) : b_.CreateZExt(x, wide));
  };
  LlvmValue a = read(guard.a);
  tell("ordito_tell_operands", {words({i.line, functionOf(i)}), c_.at.firstWarp, lanes(values_.guardedMask(i)), a,
                                guard.b == guard.a ? a : read(guard.b)});
}

void EventCalls::heapFree(const Instruction& i, LlvmValue addresses) {
  doubt();
  if (hearsAll())
    tell("ordito_tell_heap_free",
         {words({i.line, functionOf(i)}), c_.at.firstWarp, lanes(values_.guardedMask(i)), c_.inMemory(addresses)});
}

void EventCalls::fence(const Instruction& i) {
  doubt();
  if (hearsAll())
    tell("ordito_tell_sync", {syncSite(i, i.line, SyncKind::Fence), c_.at.firstWarp, lanes(values_.guardedMask(i)),
                              b_.getInt32(machine::fencedProxies(i))});
}

void EventCalls::copies(const Instruction& i, SyncKind kind, uint32_t number) {
  if (hearsAll())
    tell("ordito_tell_sync",
         {syncSite(i, i.line, kind), c_.at.firstWarp, lanes(values_.guardedMask(i)), b_.getInt32(number)});
}

/// Lanes that run an operation which names lanes.
void EventCalls::meeting(const Instruction& i) {
  const int8_t named = i.info().form.memberMask;
  if ((!hearsAll() && !isTried()) || named < 0) return;
  LlvmValue members = operands_.operand(i, static_cast<size_t>(named), Type::u32, {});
  if (isTried())
    return tell("ordito_try_meeting", {c_.at.firstWarp, lanes(values_.guardedMask(i)), c_.inMemory(members),
                                       b_.getInt32(i.op == isa::Op::BarWarpSync)});
  tell("ordito_tell_meeting", {words({i.line, functionOf(i)}), c_.at.firstWarp, lanes(values_.guardedMask(i)),
                               c_.inMemory(members), b_.getInt32(i.op == isa::Op::BarWarpSync)});
}

/// A barrier without a number is the cluster's.
void EventCalls::barrier(const ir::Terminator& end, const Parts& mask, bool ends) {
  if (!listens() || end.kind != ir::Terminator::Kind::Barrier || end.barrier.op == isa::Op::BarWarpSync) return;
  if (isTried()) return ends ? tell("ordito_try_arrive", {c_.at.firstWarp, lanes(mask)}) : doubt();
  if (!hearsAll()) return;
  const Instruction& i = end.barrier;
  const bool isArrival = i.op == isa::Op::BarArrive || i.op == isa::Op::BarrierArrive;
  auto valueOf = [&](const ptx::Operand* o, uint64_t otherwise) {
    return c_.inMemory(o ? operands_.operand(*o, Type::u32, {}) : values_.constant(Type::u32, otherwise, true));
  };
  LlvmValue arrivals =
      ends ? c_.scratchAddress(plan_.kept.spills.arrivals) : llvm::ConstantPointerNull::get(b_.getPtrTy());
  tell("ordito_tell_barrier",
       {syncSite(i, end.line, isArrival ? SyncKind::BarrierArrive : SyncKind::BarrierWait), c_.at.firstWarp,
        lanes(mask), valueOf(operandNamed(i, "a"), 16), valueOf(operandNamed(i, "b"), 0), arrivals});
}

void EventCalls::beginBarriers() {
  if (hearsAll())
    b_.CreateMemSet(c_.scratchAddress(plan_.kept.spills.arrivals), b_.getInt8(0), plan_.facts.arrivalBytes,
                    llvm::Align(4));
}

void EventCalls::endBarriers() {
  if (isTried())
    tell("ordito_try_all_met", {});
  else if (hearsAll())
    tell("ordito_tell_barrier_done", {c_.scratchAddress(plan_.kept.spills.arrivals), b_.getInt32(plan_.facts.warps())});
}

LlvmValue EventCalls::functionLines() {
  std::vector<uint32_t> table;
  auto add = [&](const ptx::Function& f) {
    if (!f.instructions.empty())
      table.insert(table.end(), {f.instructions.front().line, f.instructions.back().line,
                                 static_cast<uint32_t>(&f - f_.module->functions.data())});
  };
  add(*f_.kernel);
  for (const ptx::Function& f : f_.module->functions)
    if (&f != f_.kernel) add(f);
  table.insert(table.end(), {0, 0, static_cast<uint32_t>(f_.kernel - f_.module->functions.data())});
  return words(table);
}

}  // namespace ordito::jit
