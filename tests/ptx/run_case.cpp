// A launch without a driver: module variables and buffers live in aligned host memory, the grid goes through the
// machine's own scheduler.
#include "run_case.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>

#include "ir/contraction.hpp"
#include "machine/layout.hpp"
#include "machine/memory.hpp"
#include "machine/scheduler.hpp"
#include "ptx/parser.hpp"
#include "ptx/verifier.hpp"

namespace ordito::test {

namespace {

using machine::FaultKind;

constexpr std::pair<std::string_view, FaultKind> kFaultNames[] = {
    {"IllegalAddress", FaultKind::IllegalAddress},
    {"MisalignedAddress", FaultKind::MisalignedAddress},
    {"IllegalInstruction", FaultKind::IllegalInstruction},
    {"Assert", FaultKind::Assert},
    {"Trap", FaultKind::Trap},
    {"StackOverflow", FaultKind::StackOverflow},
    {"AddressWrap", FaultKind::AddressWrap},
    {"BarrierDeadlock", FaultKind::BarrierDeadlock},
    {"Unsupported", FaultKind::Unsupported},
};

constexpr std::string_view kCounterNames[] = {
    "WarpInstructions",
    "ThreadInstructions",
    "Branches",
    "DivergentBranches",
    "GlobalLoadRequests",
    "GlobalLoadSectors",
    "GlobalStoreRequests",
    "GlobalStoreSectors",
    "SharedLoadRequests",
    "SharedLoadWavefronts",
    "SharedStoreRequests",
    "SharedStoreWavefronts",
    "SharedLoadConflicts",
    "SharedStoreConflicts",
    "Barriers",
    "GlobalAtomics",
    "SharedAtomics",
    "LocalLoadRequests",
    "LocalStoreRequests",
    "TextureRequests",
    "SurfaceLoadRequests",
    "SurfaceStoreRequests",
    "SurfaceReductionRequests",
    "GlobalReductions",
    "MatrixLoads",
    "MatrixStores",
};
static_assert(std::size(kCounterNames) == machine::kCounterCount);

/// Zeroed memory on a 256-byte boundary, as cudaMalloc gives, and known as memory of the device.
class Memory {
 public:
  explicit Memory(size_t bytes) : storage(bytes + kAlignment) {
    auto address = reinterpret_cast<uintptr_t>(storage.data());
    begin = address + (kAlignment - address % kAlignment) % kAlignment;
    if (bytes) machine::allocations().add({.address = begin, .bytes = bytes, .kind = machine::MemoryKind::Device});
  }
  ~Memory() { machine::allocations().remove(begin, machine::MemoryKind::Device); }
  Memory(const Memory&) = delete;
  std::byte* data() { return reinterpret_cast<std::byte*>(begin); }

 private:
  static constexpr size_t kAlignment = 256;
  std::vector<std::byte> storage;
  uintptr_t begin;
};

/// The module's variables, initialised.
class Globals {
 public:
  explicit Globals(const ptx::Module& module) : module(module) {
    for (const ptx::Variable& v : module.variables) {
      memories.emplace_back(v.size);
      addresses.push_back(memories.back().data());
      if (!v.initial.empty()) std::memcpy(addresses.back(), v.initial.data(), v.initial.size());
    }
    for (size_t i = 0; i < addresses.size(); ++i)
      for (const ptx::Relocation& r : module.variables[i].relocations) {
        uint64_t address = addressOf(r.symbol) + uint64_t(r.addend);
        std::memcpy(addresses[i] + r.offset, &address, r.bytes);
      }
  }
  std::byte* const* data() const { return addresses.data(); }

 private:
  uint64_t addressOf(const ptx::Symbol& symbol) const {
    if (symbol.kind == ptx::Symbol::Kind::Function) return reinterpret_cast<uint64_t>(&module.functions[symbol.index]);
    return reinterpret_cast<uint64_t>(addresses[symbol.index]);
  }

  const ptx::Module& module;
  std::deque<Memory> memories;
  std::vector<std::byte*> addresses;
};

const ptx::Function* findKernel(const ptx::Module& module, const std::string& name) {
  for (const ptx::Function& f : module.functions)
    if (f.isEntry && (name.empty() || f.name == name)) return &f;
  return nullptr;
}

void toMemory(const Buffer& b, std::byte* memory) {
  unsigned bytes = isa::bytes(b.type);
  for (size_t i = 0; i < b.initial.size(); ++i) std::memcpy(memory + i * bytes, &b.initial[i], bytes);
}

std::vector<uint64_t> fromMemory(const Buffer& b, const std::byte* memory) {
  unsigned bytes = isa::bytes(b.type);
  std::vector<uint64_t> values(b.initial.size());
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(&values[i], memory + i * bytes, bytes);
  return values;
}

Outcome launch(machine::Engine& engine, const machine::ModulePtr& owner, const ptx::Function& kernel, const Case& c,
               Wanted wanted) {
  Outcome outcome;
  const ptx::Module& module = *owner;
  const bool counters = wanted == Wanted::Counters;
  auto executable = engine.compile(owner, kernel, {c.block, counters, wanted == Wanted::Events});
  if (!executable) {
    outcome.error = executable.error().message;
    return outcome;
  }
  Globals globals(module);
  Memory parameters(kernel.parameterBytes);
  std::deque<Memory> buffers;
  for (size_t i = 0; i < c.parameters.size(); ++i) {
    const Buffer& b = c.parameters[i];
    Memory& memory = buffers.emplace_back(b.initial.size() * isa::bytes(b.type));
    toMemory(b, memory.data());
    auto address = reinterpret_cast<uint64_t>(memory.data());
    const ptx::Parameter& p = kernel.parameters[i];
    std::memcpy(parameters.data() + p.offset, b.isScalar ? static_cast<const void*>(memory.data()) : &address,
                b.isScalar ? p.size : 8);
  }
  std::vector<std::pair<uint64_t, uint64_t>> memories;
  for (size_t i = 0; i < module.variables.size(); ++i)
    memories.emplace_back(reinterpret_cast<uint64_t>(globals.data()[i]), module.variables[i].size);
  for (size_t i = 0; i < buffers.size(); ++i)
    memories.emplace_back(reinterpret_cast<uint64_t>(buffers[i].data()),
                          c.parameters[i].initial.size() * isa::bytes(c.parameters[i].type));
  beginEvents(std::move(memories));
  machine::KernelLayout layout = machine::layoutKernel(module, kernel);
  machine::GridLaunch grid;
  grid.executable = executable->get();
  grid.kernelName = kernel.name.c_str();
  grid.grid = c.grid;
  grid.block = c.block;
  grid.parameters = parameters.data();
  grid.globals = globals.data();
  grid.functions = module.functions.data();
  grid.dynamicSharedBytes = c.dynamicShared;
  grid.totalSharedBytes = layout.dynamicSharedOffset + c.dynamicShared;
  grid.sharedAlignment = 128;
  grid.counters = counters;
  grid.replay = [&] { return engine.replay(module, kernel, {c.block}); };
  machine::GridResult result = machine::scheduler().run(grid);
  outcome.fault = result.fault;
  outcome.events = takeEvents();
  for (size_t i = 0; i < c.parameters.size(); ++i)
    outcome.buffers.push_back(fromMemory(c.parameters[i], buffers[i].data()));
  if (counters) outcome.counters.assign(result.counters, result.counters + machine::kCounterCount);
  outcome.sites = std::move(result.sites);
  return outcome;
}

std::string nameOf(FaultKind kind) {
  for (auto [name, value] : kFaultNames)
    if (value == kind) return std::string(name);
  return "unknown";
}

std::string show(uint64_t bits, isa::Type type) {
  unsigned digits = isa::bytes(type) * 2;
  std::string text = fmt::format("0x{:0{}x}", bits, digits);
  if (type == isa::Type::f32) return fmt::format("{} ({})", text, std::bit_cast<float>(uint32_t(bits)));
  if (type == isa::Type::f64) return fmt::format("{} ({})", text, std::bit_cast<double>(bits));
  return fmt::format(
      "{} ({})", text,
      isa::isSigned(type) ? int64_t(bits << (64 - isa::bits(type))) >> (64 - isa::bits(type)) : int64_t(bits));
}

void checkBuffer(const Buffer& b, const std::vector<uint64_t>& actual, std::vector<std::string>& differences) {
  if (b.expected.empty()) return;
  if (actual.size() < b.expected.size()) {
    differences.push_back(fmt::format("{} has {} elements, {} are expected", b.name, actual.size(), b.expected.size()));
    return;
  }
  for (size_t i = 0; i < b.expected.size(); ++i)
    if (!b.expected[i].any && actual[i] != b.expected[i].bits)
      differences.push_back(fmt::format("{}[{}] is {}, expected {}", b.name, i, show(actual[i], b.type),
                                        show(b.expected[i].bits, b.type)));
}

/// The outcome of a launch that should have failed in a certain way.
void checkFault(const Case& c, const Outcome& o, std::vector<std::string>& differences) {
  if (!o.fault) return differences.push_back(fmt::format("no fault, expected {}", *c.fault));
  if (nameOf(o.fault->kind) != *c.fault)
    differences.push_back(fmt::format("fault {} ({}), expected {}", nameOf(o.fault->kind), o.fault->message, *c.fault));
  if (c.faultLine && o.fault->ptxLine != c.faultLine)
    differences.push_back(
        fmt::format("fault at PTX line {}, expected {} ({})", o.fault->ptxLine, c.faultLine, o.fault->message));
  if (!c.faultThread.empty() && o.fault->message.find("thread " + c.faultThread + ", PTX line") == std::string::npos)
    differences.push_back(fmt::format("thread {} is not named ({})", c.faultThread, o.fault->message));
}

void checkCounts(const Case& c, const Outcome& o, std::vector<std::string>& differences) {
  for (const auto& [name, expected] : c.counts) {
    auto position = std::find(std::begin(kCounterNames), std::end(kCounterNames), name);
    if (position == std::end(kCounterNames)) {
      differences.push_back(fmt::format("no counter is called {}", name));
      continue;
    }
    uint64_t actual = o.counters[size_t(position - std::begin(kCounterNames))];
    if (actual != expected) differences.push_back(fmt::format("{} is {}, expected {}", name, actual, expected));
  }
}

/// Site by site; the sums are equal then, too.
void compareSites(const machine::SiteCounters& a, const machine::SiteCounters& b,
                  std::vector<std::string>& differences) {
  const machine::CounterValues none{};
  auto at = [&](const machine::SiteCounters& sites, uint32_t line) {
    const auto found = sites.find(line);
    return found == sites.end() ? none : found->second;
  };
  machine::SiteCounters all = a;
  all.insert(b.begin(), b.end());
  for (const auto& [line, ignored] : all) {
    const auto first = at(a, line), second = at(b, line);
    for (size_t i = 0; i < machine::kCounterCount; ++i)
      if (first[i] != second[i])
        differences.push_back(
            fmt::format("PTX line {}: {}: interpreter {}, JIT {}", line, kCounterNames[i], first[i], second[i]));
  }
}

}  // namespace

Outcome runCase(machine::Engine& engine, const TextTest& test, const Case& c, Wanted wanted) {
  Outcome outcome;
  auto module = ptx::parse(test.text, test.name);
  if (!module) {
    outcome.error = module.error().message;
    return outcome;
  }
  if (auto ok = ptx::verify(*module); !ok) {
    outcome.error = ok.error().message;
    return outcome;
  }
  ir::contractProducts(*module);
  const auto kept = std::make_shared<const ptx::Module>(std::move(*module));
  const ptx::Function* kernel = findKernel(*kept, c.kernel);
  if (!kernel)
    outcome.error = fmt::format("no kernel {}", c.kernel);
  else if (kernel->parameters.size() != c.parameters.size() && !c.error)
    outcome.error = fmt::format("kernel {} has {} parameters, the case gives {}", kernel->name,
                                kernel->parameters.size(), c.parameters.size());
  else
    outcome = launch(engine, kept, *kernel, c, wanted);
  return outcome;
}

std::vector<std::string> check(const Case& c, const Outcome& o, bool onGpu) {
  std::vector<std::string> differences;
  if (c.error) {
    if (o.error.find(*c.error) == std::string::npos)
      differences.push_back(
          fmt::format("expected an error with '{}', got '{}'", *c.error, o.error.empty() ? "success" : o.error));
    return differences;
  }
  if (!o.error.empty()) return {o.error};
  if (c.fault) {
    checkFault(c, o, differences);
    return differences;
  }
  if (o.fault) return {fmt::format("fault {}: {}", nameOf(o.fault->kind), o.fault->message)};
  for (size_t i = 0; i < c.parameters.size(); ++i)
    if (!onGpu || c.parameters[i].expectedOnGpu) checkBuffer(c.parameters[i], o.buffers[i], differences);
  if (!o.counters.empty()) checkCounts(c, o, differences);
  return differences;
}

std::vector<std::string> compare(const Case& c, const Outcome& a, const Outcome& b) {
  if (!a.error.empty() || !b.error.empty()) {
    if (!a.error.empty() && !b.error.empty()) return {};
    return {fmt::format("interpreter: {}; JIT: {}", a.error.empty() ? "success" : a.error,
                        b.error.empty() ? "success" : b.error)};
  }
  if (a.fault || b.fault) {
    std::string first = a.fault ? nameOf(a.fault->kind) : "no fault",
                second = b.fault ? nameOf(b.fault->kind) : "no fault";
    if (first == second) return {};
    return {fmt::format("interpreter: {}; JIT: {}", first, second)};
  }
  std::vector<std::string> differences;
  auto isOpen = [&](size_t i, size_t k) {
    return k < c.parameters[i].expected.size() && c.parameters[i].expected[k].any;
  };
  for (size_t i = 0; i < a.buffers.size(); ++i)
    for (size_t k = 0; k < a.buffers[i].size(); ++k)
      if (!isOpen(i, k) && a.buffers[i][k] != b.buffers[i][k])
        differences.push_back(fmt::format("{}[{}]: interpreter {}, JIT {}", c.parameters[i].name, k,
                                          show(a.buffers[i][k], c.parameters[i].type),
                                          show(b.buffers[i][k], c.parameters[i].type)));
  compareSites(a.sites, b.sites, differences);
  const auto ofEvents = compareEvents(a.events, b.events);
  differences.insert(differences.end(), ofEvents.begin(), ofEvents.end());
  return differences;
}

}  // namespace ordito::test
