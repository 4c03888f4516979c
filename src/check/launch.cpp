// See launch.hpp.
#include "check/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/kernel_name.hpp"
#include "check/touch.hpp"
#include "machine/memory.hpp"
#include "machine/watched_heap.hpp"
#include "ptx/source_lines.hpp"

namespace ordito::check {

using machine::AccessSpace;
using ptx::Root;
using ptx::Space;

namespace {

constexpr uint32_t kModule = machine::KernelLayout::kModule;
constexpr uint64_t kGridWorkspaceBytes = 64;

/// Does an instruction order blocks, or wait for what other blocks write?
bool ordersBlocks(const ptx::Instruction& i) {
  using isa::ModifierKind;
  if (i.op == isa::Op::Fence || i.op == isa::Op::Membar) return true;
  const std::string_view order = i.mods.name(ModifierKind::Semantics);
  return !order.empty() && order != "weak" && !(order == "relaxed" && i.info().effect == isa::Effect::Atomic);
}

/// A kernel that calls may reach all functions that are no kernels.
bool hasUnorderedBlocks(const ptx::Module& module, const ptx::Function& kernel) {
  const auto orders = [](const ptx::Function& f) { return std::ranges::any_of(f.instructions, ordersBlocks); };
  const bool calls =
      std::ranges::any_of(kernel.instructions, [](const ptx::Instruction& i) { return i.op == isa::Op::Call; });
  if (orders(kernel)) return false;
  return !calls ||
         std::ranges::none_of(module.functions, [&](const ptx::Function& f) { return !f.isEntry && orders(f); });
}

bool copiesInBulk(const ptx::Module& module) {
  using isa::Op;
  return std::ranges::any_of(module.functions, [](const ptx::Function& f) {
    return std::ranges::any_of(f.instructions, [](const ptx::Instruction& i) {
      return i.op == Op::CpBulkLoad || i.op == Op::CpBulkShared || i.op == Op::CpBulkStore;
    });
  });
}

/// Does the program call a function that it does not define and whose name has one of these words? Those of the device
/// runtime have prefixes that depend on the compiler.
bool calls(const ptx::Module& module, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(module.functions, [&](const ptx::Function& f) {
    const auto says = [&](std::string_view word) { return f.name.find(word) != std::string::npos; };
    return !f.hasBody && std::ranges::any_of(words, says);
  });
}

}  // namespace

uint64_t numberOf(const machine::BlockFrame& frame) {
  return frame.ctaid[0] + uint64_t{frame.nctaid[0]} * (frame.ctaid[1] + uint64_t{frame.nctaid[1]} * frame.ctaid[2]);
}

Launch::Launch(const machine::LaunchEvent& event)
    : module_(event.module),
      kernel_(event.function),
      number_(event.launch),
      name_(event.kernel),
      mangled_(event.mangled),
      grid_(event.grid),
      block_(event.block),
      layout_(machine::layoutKernel(event.module, event.function)),
      hasUnorderedBlocks_(check::hasUnorderedBlocks(event.module, event.function)),
      copiesInBulk_(check::copiesInBulk(event.module)),
      takesHeap_(calls(event.module, {"malloc", "_Znwm", "_Znam", "Malloc", "GetParameterBuffer"})),
      preparesLaunches_(calls(event.module, {"GetParameterBuffer"})),
      hasConstants_(std::ranges::any_of(module_.variables, [](const auto& v) { return v.space == Space::Const; })) {}

uint32_t Launch::sharedBytes(const machine::LaunchEvent& event) const {
  if (event.dynamicShared == 0) return layout_.staticSharedBytes;
  return static_cast<uint32_t>(layout_.dynamicSharedOffset + event.dynamicShared);
}

uint32_t Launch::functionIndex(const ptx::Function& function) const {
  return static_cast<uint32_t>(&function - module_.functions.data());
}

namespace {

/// Of local arrays, which PTX tells apart by a number: `window` of "window$1" (frontend/separate_locals_pass.cpp).
std::string nameInSource(const ptx::Variable& variable) {
  if (variable.space != Space::Local) return kernelName(variable.name);
  return variable.name.substr(0, variable.name.find('$'));
}

}  // namespace

std::string Object::name() const {
  if (words) return words;
  if (!variable)
    return fmt::format("the allocation of {} bytes at {:#x} that parameter {} of the kernel points to", bytes, begin,
                       parameter);
  const char* const kind = variable->space == Space::Shared  ? "shared array"
                           : variable->space == Space::Local ? "local array"
                                                             : "variable";
  return fmt::format("the {} '{}' of {} bytes", kind, nameInSource(*variable), bytes);
}

std::optional<Object> Launch::variable(const machine::BlockFrame& frame, const ptx::Function& function,
                                       const Root& root, AccessSpace space) const {
  const bool isModules = root.kind == Root::Kind::ModuleVariable;
  const ptx::Variable& v = isModules ? module_.variables[root.index] : function.variables[root.index];
  if ((v.space == Space::Shared) != (space == AccessSpace::Shared)) return std::nullopt;
  if (v.space == Space::Shared) {
    const auto at = layout_.sharedOffset.find({isModules ? kModule : functionIndex(function), root.index});
    if (at == layout_.sharedOffset.end()) return std::nullopt;
    if (v.count == 0)
      return Object{at->second, frame.totalSharedBytes - at->second, "dynamic shared memory", nullptr, 0};
    return Object{at->second, v.size, nullptr, &v, 0};
  }
  const bool isStored = v.space == Space::Global || v.space == Space::Const;
  if (!isModules || !isStored || space == AccessSpace::Local || v.size == 0) return std::nullopt;
  return Object{reinterpret_cast<uint64_t>(frame.globals[root.index]), v.size, nullptr, &v, 0};
}

std::optional<Object> Launch::writtenConstant(const machine::AccessEvent& access, uint64_t address) const {
  if (!hasConstants_ || !doesWrite(access.kind) || access.space == AccessSpace::Shared) return std::nullopt;
  for (size_t i = 0; i < module_.variables.size(); ++i) {
    const ptx::Variable& v = module_.variables[i];
    const auto begin = reinterpret_cast<uint64_t>(access.at.frame.globals[i]);
    if (v.space == Space::Const && begin && address - begin < v.size) return Object{begin, v.size, nullptr, &v, 0};
  }
  return std::nullopt;
}

/// The allocation that a pointer parameter leads to; nothing if it is no such pointer.
std::optional<Object> Launch::parameter(const machine::BlockFrame& frame, uint32_t offset) const {
  if (offset + sizeof(uint64_t) > kernel_.parameterBytes) return std::nullopt;
  uint64_t pointer = 0;
  std::memcpy(&pointer, frame.parameters + offset, sizeof pointer);
  const auto found = machine::allocations().find(pointer);
  if (!found) return std::nullopt;
  const uint64_t bytes = pointer - found->address + machine::allocations().bytesFrom(pointer);
  const auto is = [&](const ptx::Parameter& p) { return offset - p.offset < p.size; };
  const auto named = std::ranges::find_if(kernel_.parameters, is);
  return Object{found->address, bytes, nullptr, nullptr, static_cast<size_t>(named - kernel_.parameters.begin() + 1)};
}

std::optional<Object> Launch::objectOf(const machine::AccessEvent& access) {
  if (access.space == AccessSpace::Global && access.objectBegin) {
    const auto memory = machine::allocations().find(access.objectBegin);
    return memory ? std::optional(Object{memory->address, memory->bytes, "the memory of a texture", nullptr, 0})
                  : std::nullopt;
  }
  Known& known = objects_[access.at.line % objects_.size()];
  if (known.function != &access.at.function || known.line != access.at.line || known.space != access.space)
    known = {&access.at.function, access.at.line, access.space, findObject(access)};
  return known.object;
}

std::optional<Object> Launch::findObject(const machine::AccessEvent& access) {
  const ptx::Function& function = access.at.function;
  const auto it = roots_.try_emplace(&function, function).first;
  std::optional<Object> only;
  for (const Root& root : it->second.at(access.at.line)) {
    if (root.kind == Root::Kind::Unknown) return std::nullopt;
    const bool isParameter = root.kind == Root::Kind::Parameter;
    if (isParameter && access.space != AccessSpace::Global) continue;
    const auto object =
        isParameter ? parameter(access.at.frame, root.index) : variable(access.at.frame, function, root, access.space);
    if (!object) continue;
    if (only && only->begin != object->begin) return std::nullopt;
    only = object;
  }
  return only;
}

std::string Launch::describeShared(const machine::WarpSite& at, uint64_t offset) const {
  for (const auto& [key, begin] : layout_.sharedOffset) {
    const Root root{key.first == kModule ? Root::Kind::ModuleVariable : Root::Kind::FunctionVariable, key.second};
    const ptx::Function& owner = key.first == kModule ? kernel_ : module_.functions[key.first];
    const auto object = variable(at.frame, owner, root, AccessSpace::Shared);
    if (object && object->contains(offset, 1))
      return fmt::format("byte {} of {}", offset - object->begin, object->name());
  }
  return fmt::format("byte {} of shared memory", offset);
}

bool Launch::isItsOwn(const machine::BlockFrame& frame, uint64_t address) const {
  if (preparesLaunches_) return true;
  if (address - reinterpret_cast<uint64_t>(frame.parameters) < kernel_.parameterBytes) return true;
  if (frame.gridWorkspace && address - reinterpret_cast<uint64_t>(frame.gridWorkspace) < kGridWorkspaceBytes)
    return true;
  for (size_t i = 0; i < module_.variables.size(); ++i)
    if (frame.globals[i] && address - reinterpret_cast<uint64_t>(frame.globals[i]) < module_.variables[i].size)
      return true;
  return false;
}

bool Launch::isHeaps(uint64_t address) const {
  if (!takesHeap_) return false;
  const auto found = machine::allocations().find(address);
  return found ? found->kind == machine::MemoryKind::Heap && machine::hasReusedWatched() : true;
}

uint32_t Launch::atomicBytes(const ptx::Function& function, uint32_t line) {
  const auto it = std::ranges::find(function.instructions, line, &ptx::Instruction::line);
  return it == function.instructions.end() ? 0 : isa::bits(it->type[0]) / 8;
}

bool Launch::initialises(const machine::WarpSite& at) {
  const auto& all = at.function.instructions;
  const auto it = std::ranges::find(all, at.line, &ptx::Instruction::line);
  return it != all.end() && (it->op == isa::Op::MbarrierInit || it->op == isa::Op::MbarrierInval);
}

Side Launch::side(const ptx::Function& function, uint32_t line, uint64_t block, uint32_t thread, const char* what,
                  uint32_t bytes) const {
  Side side{.what = what,
            .bytes = bytes,
            .warp = thread / machine::kWarpSize,
            .lane = thread % machine::kWarpSize,
            .ptxLine = line,
            .source = ptx::sourceOf(module_, function, line),
            .column = ptx::columnOf(module_, function, line)};
  const auto set = [](uint32_t(&to)[3], uint64_t number, const machine::Dim3& size) {
    to[0] = static_cast<uint32_t>(number % size.x);
    to[1] = static_cast<uint32_t>(number / size.x % size.y);
    to[2] = static_cast<uint32_t>(number / size.x / size.y);
  };
  set(side.thread, thread, block_);
  set(side.block, block, grid_);
  return side;
}

std::optional<Meeting> Launch::meeting(const Meetings::Last& last) const {
  if (!last.isKnown) return std::nullopt;
  if (!last.place) return Meeting{.what = "start of the block"};
  const auto& [function, line, isOfWarp] = *last.place;
  return Meeting{.what = isOfWarp ? "__syncwarp" : "barrier",
                 .ptxLine = line,
                 .source = ptx::sourceOf(module_, *function, line),
                 .column = ptx::columnOf(module_, *function, line)};
}

std::string Launch::describe(uint64_t address) { return machine::describeAddress(address); }

Finding Launch::finding(Rule rule) const {
  Finding f;
  f.rule = rule;
  f.kernel = name_;
  f.grid = grid_;
  f.block = block_;
  f.call = call_;
  return f;
}

uint32_t Launch::lineOf(const Place& place) const {
  if (!place.function) return 0;
  return places_.try_emplace(place.function, module_, *place.function).first->second.first(place.line);
}

Findings::Key Launch::key(Rule rule, const Place& place, const Place& other) const {
  const uint32_t one = lineOf(place), two = lineOf(other);
  return {rule, module_.source.digest.hex() + mangled_, std::min(one, two), std::max(one, two)};
}

}  // namespace ordito::check
