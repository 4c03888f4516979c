// Sectors and bank conflicts, counted the slow and evident way: sets of what was touched.
#include "interp/counting.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace ordito::interp {

using machine::Counter;

namespace {

constexpr uint64_t kSectorBytes = 32;
constexpr uint64_t kBanks = 32;
constexpr uint64_t kBankBytes = 4;

uint64_t& at(uint64_t* counters, Counter counter) { return counters[static_cast<size_t>(counter)]; }

bool isEmptyCopy(const AccessLog::Entry& e) { return e.kind == machine::AccessKind::Copy && e.copied == 0; }

}  // namespace

/// The lanes that went to `space`.
AccessLog AccessLog::in(Space space) const {
  AccessLog log;
  for (uint32_t i = 0; i < count_; ++i)
    if (entries_[i].space == space) log.entries_[log.count_++] = entries_[i];
  return log;
}

uint64_t AccessLog::sectors() const {
  std::set<uint64_t> touched;
  for (uint32_t i = 0; i < count_; ++i)
    for (uint64_t s = entries_[i].address / kSectorBytes;
         s <= (entries_[i].address + entries_[i].bytes - 1) / kSectorBytes; ++s)
      touched.insert(s);
  return touched.size();
}

/// A copy's lanes go in groups that move 128 bytes, and each group in passes: a lane whose words in shared memory meet
/// others in a bank waits for the next pass. Every pass fetches its sectors for itself (measured on an H200,
/// tests/gpu/access_patterns.cu).
uint64_t AccessLog::copiedSectors() const {
  const uint32_t lanes = 128 / entries_[0].bytes;
  uint64_t total = 0;
  for (uint32_t first = 0; first < 32; first += lanes) {
    std::vector<Entry> waiting;
    for (uint32_t i = 0; i < count_; ++i)
      if (entries_[i].lane >= first && entries_[i].lane < first + lanes) waiting.push_back(entries_[i]);
    while (!waiting.empty()) {
      std::map<uint64_t, uint64_t> wordOfBank;
      std::set<uint64_t> touched;
      std::erase_if(waiting, [&](const Entry& e) {
        const uint64_t word = e.to / kBankBytes, last = (e.to + e.bytes - 1) / kBankBytes;
        for (uint64_t w = word; w <= last; ++w)
          if (const auto taken = wordOfBank.find(w % kBanks); taken != wordOfBank.end() && taken->second != w)
            return false;
        for (uint64_t w = word; w <= last; ++w) wordOfBank[w % kBanks] = w;
        touched.insert(e.address / kSectorBytes);  // copies are aligned, so none crosses a sector's edge
        return true;
      });
      total += touched.size();
    }
  }
  return total;
}

/// Passes over the banks that the lanes from `firstLane` on need: the fullest bank decides. Lanes that want the same
/// word share it.
uint64_t AccessLog::wavefronts(uint32_t firstLane, uint32_t lanes) const {
  std::array<std::set<uint64_t>, kBanks> words;
  for (uint32_t i = 0; i < count_; ++i) {
    const Entry& e = entries_[i];
    if (e.lane < firstLane || e.lane >= firstLane + lanes) continue;
    for (uint64_t w = e.address / kBankBytes; w <= (e.address + e.bytes - 1) / kBankBytes; ++w)
      words[w % kBanks].insert(w);
  }
  uint64_t most = 0;
  for (const auto& bank : words) most = std::max<uint64_t>(most, bank.size());
  return most;
}

/// Do all lanes read what the lane `distance` away from them reads? One that is absent agrees.
bool AccessLog::readsInPairs(uint32_t distance) const {
  for (uint32_t i = 0; i < count_; ++i)
    for (uint32_t k = 0; k < count_; ++k)
      if (entries_[k].lane == (entries_[i].lane ^ distance) && entries_[k].address != entries_[i].address) return false;
  return true;
}

/// 8-byte accesses go by half-warps and 16-byte ones by quarters, because one pass delivers 32 words; loads by twice as
/// many lanes where these read in pairs of neighbours or of next but one neighbours.
void AccessLog::addShared(uint64_t* counters) const {
  const Kind kind = entries_[0].kind;
  const bool isMatrix = kind == Kind::MatrixLoad || kind == Kind::MatrixStore;
  const bool isLoad = kind == Kind::Load || kind == Kind::MatrixLoad;
  uint32_t words = std::max<uint32_t>(1, entries_[0].bytes / kBankBytes), lanes = 32 / words;
  if (kind == Kind::Load && words > 1 && (readsInPairs(1) || readsInPairs(2))) lanes *= 2;
  uint64_t total = 0, least = 0;
  for (uint32_t first = 0; first < 32; first += lanes) {
    uint64_t passes = wavefronts(first, lanes);
    total += passes;
    least += passes != 0;
  }
  at(counters, isMatrix ? (isLoad ? Counter::MatrixLoads : Counter::MatrixStores)
                        : (isLoad ? Counter::SharedLoadRequests : Counter::SharedStoreRequests)) += 1;
  at(counters, isLoad ? Counter::SharedLoadWavefronts : Counter::SharedStoreWavefronts) += total;
  at(counters, isLoad ? Counter::SharedLoadConflicts : Counter::SharedStoreConflicts) += total - least;
}

void AccessLog::addGlobal(uint64_t* counters) const {
  const bool isStore = entries_[0].kind == Kind::Store;
  at(counters, isStore ? Counter::GlobalStoreRequests : Counter::GlobalLoadRequests) += 1;
  at(counters, isStore ? Counter::GlobalStoreSectors : Counter::GlobalLoadSectors) +=
      entries_[0].kind == Kind::Copy ? copiedSectors() : sectors();
}

/// All lanes go to one space.
void AccessLog::addRequest(uint64_t* counters) const {
  const Kind kind = entries_[0].kind;
  const Space space = entries_[0].space;
  const bool isAtomic = kind == Kind::Atomic || kind == Kind::Reduction, isLoad = kind == Kind::Load;
  if (space == Space::Texture) {
    at(counters, Counter::TextureRequests) += 1;
  } else if (space == Space::Surface) {
    at(counters, isAtomic ? Counter::SurfaceReductionRequests
                 : isLoad ? Counter::SurfaceLoadRequests
                          : Counter::SurfaceStoreRequests) += 1;
  } else if (space == Space::Local) {
    if (!isAtomic) at(counters, isLoad ? Counter::LocalLoadRequests : Counter::LocalStoreRequests) += 1;
  } else if (space == Space::Global) {
    isAtomic ? void(at(counters, kind == Kind::Atomic ? Counter::GlobalAtomics : Counter::GlobalReductions) += 1)
             : addGlobal(counters);
  } else if (space == Space::Shared) {
    isAtomic ? void(at(counters, Counter::SharedAtomics) += 1) : addShared(counters);
  }
}

/// Parameters, constants and mbarriers have units of their own, of which nothing is counted; a copy of which nothing is
/// read is no request.
void AccessLog::addTo(uint64_t* counters) const {
  if (std::ranges::any_of(entries(), isEmptyCopy)) {
    AccessLog rest;
    for (const Entry& e : entries())
      if (!isEmptyCopy(e)) rest.entries_[rest.count_++] = e;
    return rest.addTo(counters);
  }
  if (count_ && entries_[0].kind == Kind::Mbarrier) return;
  for (Space space : {Space::Global, Space::Shared, Space::Local, Space::Texture, Space::Surface})
    if (const AccessLog lanes = in(space); lanes.count_) lanes.addRequest(counters);
}

}  // namespace ordito::interp
