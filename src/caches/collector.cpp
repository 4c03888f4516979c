// See collector.hpp.
#include "caches/collector.hpp"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "base/environment.hpp"
#include "machine/memory.hpp"

namespace ordito::caches {

namespace {

using Json = nlohmann::ordered_json;
using isa::ModifierKind;
using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;

constexpr uint32_t kFirstWays = 4, kSecondWays = 16;

/// What the lanes touch, in units of `unit` bytes, each once.
std::vector<uint64_t> unitsOf(const AccessEvent& access, uint64_t unit) {
  std::vector<uint64_t> units;
  for (uint32_t lanes = access.at.lanes; lanes; lanes &= lanes - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(lanes));
    const uint64_t first = access.addressOf(lane);
    const uint64_t bytes = access.copied ? access.copied[lane] : access.bytes;
    for (uint64_t at = first / unit; bytes && at <= (first + bytes - 1) / unit; ++at) units.push_back(at * unit);
  }
  std::sort(units.begin(), units.end());
  units.erase(std::unique(units.begin(), units.end()), units.end());
  return units;
}

/// Loads that say so, and those that other threads of the GPU must be able to answer, do not ask L1 (PTX ISA, "Cache
/// Operators").
bool passesL1(const AccessEvent& access, const ptx::Instruction* instruction) {
  if (access.order != machine::MemoryOrder::Weak) return true;
  if (!instruction) return false;
  const auto name = instruction->mods.name(ModifierKind::CacheOp);
  return name == "cg" || name == "cv" || name == "cs";
}

}  // namespace

Collector::Multiprocessor::Multiprocessor(const Layout& layout)
    : l1(layout.l1Bytes, kFirstWays, layout.l1FillsLines),
      readOnly(layout.readOnlyBytes, kFirstWays, false),
      constant(layout.constantBytes, kFirstWays, false) {}

Collector::Multiprocessor& Collector::Launch::at(const machine::BlockFrame& frame) {
  const uint64_t block =
      (static_cast<uint64_t>(frame.ctaid[2]) * frame.nctaid[1] + frame.ctaid[1]) * frame.nctaid[0] + frame.ctaid[0];
  const auto number = static_cast<uint32_t>(block % multiprocessors);
  return used.try_emplace(number, layout).first->second;
}

const ptx::Instruction* Collector::Launch::instructionAt(const machine::WarpSite& site) {
  const auto [it, isNew] = instructions.try_emplace({&site.function, site.line}, nullptr);
  if (isNew)
    for (const ptx::Instruction& i : site.function.instructions)
      if (i.line == site.line) it->second = &i;
  return it->second;
}

bool Collector::Launch::isHosts(uint64_t address) const {
  const auto after = hosts.upper_bound(address + kSectorBytes - 1);
  return after != hosts.begin() && address < std::prev(after)->second;
}

void Collector::Launch::readL2(uint64_t sector) {
  if (isHosts(sector)) {
    counts.hostRead += kSectorBytes;
    return;
  }
  ++counts.l2Reads.sectors;
  if (l2.read(sector))
    ++counts.l2Reads.hits;
  else
    counts.dramRead += kSectorBytes;
}

void Collector::Launch::writeL2(uint64_t sector) {
  if (isHosts(sector)) {
    counts.hostWritten += kSectorBytes;
    return;
  }
  ++counts.l2Writes.sectors;
  counts.l2Writes.hits += l2.write(sector);
}

void Collector::Launch::load(const AccessEvent& access) {
  const ptx::Instruction* instruction = instructionAt(access.at);
  const bool readOnly = layout.readOnlyLoads && instruction && instruction->has(ModifierKind::NonCoherent);
  Multiprocessor& processor = at(access.at.frame);
  Cache& first = readOnly && layout.readOnlyBytes ? processor.readOnly : processor.l1;
  Path& path = readOnly ? counts.readOnly : counts.l1;
  const bool asksFirst = readOnly || (layout.globalLoadsInL1 && !passesL1(access, instruction));
  path.requests += asksFirst;
  for (const uint64_t sector : unitsOf(access, kSectorBytes)) {
    if (!asksFirst) {
      ++counts.uncached;
      readL2(sector);
      continue;
    }
    ++path.sectors;
    if (first.read(sector)) {
      ++path.hits;
      continue;
    }
    if (!(layout.l1FillsLines && &first == &processor.l1)) {
      readL2(sector);
      continue;
    }
    for (uint64_t at = sector / kLineBytes * kLineBytes, end = at + kLineBytes; at < end; at += kSectorBytes)
      readL2(at);
  }
}

/// Stores and atomics go to L2; L1 keeps no data that is older.
void Collector::Launch::store(const AccessEvent& access) {
  const bool isAtomic = access.kind == AccessKind::Atomic || access.kind == AccessKind::Reduction;
  Multiprocessor& processor = at(access.at.frame);
  for (const uint64_t sector : unitsOf(access, kSectorBytes)) {
    ++counts.stores;
    if (isAtomic || layout.storesDropL1) processor.l1.drop(sector);
    if (isAtomic) readL2(sector);
    writeL2(sector);
  }
}

/// A warp gets one address at a time; those of a sector are there together.
void Collector::Launch::loadConstant(const AccessEvent& access) {
  ++counts.constant.requests;
  Multiprocessor& processor = at(access.at.frame);
  for (const uint64_t address : unitsOf(access, 4)) {
    ++counts.constant.sectors;
    if (processor.constant.read(address))
      ++counts.constant.hits;
    else
      readL2(address / kSectorBytes * kSectorBytes);
  }
}

void Collector::launchBegan(const machine::LaunchEvent& launch) {
  const std::lock_guard lock(mutex_);
  const machine::GpuDescription& gpu = launch.gpu;
  gpu_ = gpu.name;
  const uint32_t shared = launch.staticShared + launch.dynamicShared;
  const uint32_t threads = launch.block.x * launch.block.y * launch.block.z;
  const machine::Occupancy fits = machine::occupancy(gpu, {threads, launch.registers, shared});
  const Layout layout =
      layoutOf(gpu, static_cast<uint64_t>(fits.blocks) * (shared ? shared + gpu.sharedReservedPerBlock : 0), l1_);
  LaunchCounts& counts = counts_.emplace_back();
  counts.kernel = launch.kernel, counts.grid = launch.grid, counts.block = launch.block;
  Cache& l2 = l2_.try_emplace(&gpu, layout.l2Bytes, kSecondWays, false).first->second;
  counts.dramWritten = l2.writtenBack();  // until the end, what others had written
  running_.try_emplace(launch.launch, Launch{counts, layout, l2, std::max(gpu.multiprocessors, 1u), hosts_});
}

void Collector::allocated(const machine::Allocation& allocation) {
  if (allocation.kind != machine::MemoryKind::Host && allocation.kind != machine::MemoryKind::Registered) return;
  const std::lock_guard lock(mutex_);
  hosts_[allocation.address] = allocation.address + allocation.bytes;
}

void Collector::freed(const machine::Allocation& allocation) {
  const std::lock_guard lock(mutex_);
  hosts_.erase(allocation.address);
}

void Collector::launchEnded(const machine::LaunchEvent& launch) {
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(launch.launch);
  if (found == running_.end()) return;
  LaunchCounts& counts = found->second.counts;
  counts.dramWritten = (found->second.l2.writtenBack() - counts.dramWritten) * kSectorBytes;
  running_.erase(found);
}

void Collector::accessed(const AccessEvent& access) {
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(access.at.frame.gridid);
  if (found == running_.end()) return;
  Launch& launch = found->second;
  switch (access.space) {
    case AccessSpace::Constant: return launch.loadConstant(access);
    case AccessSpace::Local: ++launch.counts.local; return;
    case AccessSpace::Texture:
    case AccessSpace::Surface: ++launch.counts.textures; return;
    case AccessSpace::Global: break;
    default: return;
  }
  const bool isLoad = access.kind == AccessKind::Load || access.kind == AccessKind::Copy;
  isLoad ? launch.load(access) : launch.store(access);
}

std::vector<LaunchCounts> Collector::launches() const {
  const std::lock_guard lock(mutex_);
  return {counts_.begin(), counts_.end()};
}

namespace {

Json jsonOf(const Path& path) { return {{"requests", path.requests}, {"sectors", path.sectors}, {"hits", path.hits}}; }

Json jsonOf(const LaunchCounts& c) {
  return {{"kernel", c.kernel},
          {"grid", {c.grid.x, c.grid.y, c.grid.z}},
          {"block", {c.block.x, c.block.y, c.block.z}},
          {"l1", jsonOf(c.l1)},
          {"read_only", jsonOf(c.readOnly)},
          {"constant", jsonOf(c.constant)},
          {"uncached_sectors", c.uncached},
          {"store_sectors", c.stores},
          {"l2_reads", jsonOf(c.l2Reads)},
          {"l2_writes", jsonOf(c.l2Writes)},
          {"local_requests", c.local},
          {"texture_requests", c.textures},
          {"dram_read_bytes", c.dramRead},
          {"dram_written_bytes", c.dramWritten},
          {"host_read_bytes", c.hostRead},
          {"host_written_bytes", c.hostWritten}};
}

}  // namespace

std::string Collector::report() const {
  Json list = Json::array();
  for (const LaunchCounts& counts : launches()) list.push_back(jsonOf(counts));
  return Json{{"gpu", gpu_}, {"launches", list}}.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

machine::Listener* listener() {
  const Environment environment = readEnvironment();
  if (environment.caches.empty()) return nullptr;
  static auto* const instance = new Collector(environment.caches, environment.cachesL1);
  return instance;
}

}  // namespace ordito::caches
