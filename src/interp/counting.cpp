// Sectors and bank conflicts, counted the slow and evident way: sets of what was touched.
#include "interp/counting.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace ordito::interp {

using machine::Counter;
using ptx::Space;

namespace {

constexpr uint64_t kSectorBytes = 32;
constexpr uint64_t kBanks = 32;
constexpr uint64_t kBankBytes = 4;

uint64_t& at(uint64_t* counters, Counter counter) { return counters[static_cast<size_t>(counter)]; }

}  // namespace

bool AccessLog::touches(Space space) const {
  return std::any_of(entries.begin(), entries.begin() + count, [&](const Entry& e) { return e.space == space; });
}

uint64_t AccessLog::sectors() const {
  std::set<uint64_t> touched;
  for (uint32_t i = 0; i < count; ++i)
    if (entries[i].space == Space::Global)
      for (uint64_t s = entries[i].address / kSectorBytes;
           s <= (entries[i].address + entries[i].bytes - 1) / kSectorBytes; ++s)
        touched.insert(s);
  return touched.size();
}

/// A copy's lanes go in groups that move 128 bytes, and each group in passes: a lane whose words in shared memory meet
/// others in a bank waits for the next pass. Every pass fetches its sectors for itself (measured on an H200,
/// tests/gpu/access_patterns.cu).
uint64_t AccessLog::copiedSectors() const {
  const uint32_t lanes = 128 / entries[0].bytes;
  uint64_t total = 0;
  for (uint32_t first = 0; first < 32; first += lanes) {
    std::vector<Entry> waiting;
    for (uint32_t i = 0; i < count; ++i)
      if (entries[i].lane >= first && entries[i].lane < first + lanes) waiting.push_back(entries[i]);
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
  for (uint32_t i = 0; i < count; ++i) {
    const Entry& e = entries[i];
    if (e.space != Space::Shared || e.lane < firstLane || e.lane >= firstLane + lanes) continue;
    for (uint64_t w = e.address / kBankBytes; w <= (e.address + e.bytes - 1) / kBankBytes; ++w)
      words[w % kBanks].insert(w);
  }
  uint64_t most = 0;
  for (const auto& bank : words) most = std::max<uint64_t>(most, bank.size());
  return most;
}

/// Do all lanes read what the lane `distance` away from them reads? One that is absent agrees.
bool AccessLog::readsInPairs(uint32_t distance) const {
  for (uint32_t i = 0; i < count; ++i)
    for (uint32_t k = 0; k < count; ++k)
      if (entries[k].lane == (entries[i].lane ^ distance) && entries[k].address != entries[i].address) return false;
  return true;
}

/// 8-byte accesses go by half-warps and 16-byte ones by quarters, because one pass delivers 32 words; loads by twice as
/// many lanes where these read in pairs of neighbours or of next but one neighbours.
void AccessLog::addShared(uint64_t* counters) const {
  bool isLoad = entries[0].kind == AccessLog::Kind::Load;
  uint32_t words = std::max<uint32_t>(1, entries[0].bytes / kBankBytes), lanes = 32 / words;
  if (isLoad && words > 1 && (readsInPairs(1) || readsInPairs(2))) lanes *= 2;
  uint64_t total = 0, least = 0;
  for (uint32_t first = 0; first < 32; first += lanes) {
    uint64_t passes = wavefronts(first, lanes);
    total += passes;
    least += passes != 0;
  }
  at(counters, isLoad ? Counter::SharedLoadRequests : Counter::SharedStoreRequests) += 1;
  at(counters, isLoad ? Counter::SharedLoadWavefronts : Counter::SharedStoreWavefronts) += total;
  at(counters, isLoad ? Counter::SharedLoadConflicts : Counter::SharedStoreConflicts) += total - least;
}

void AccessLog::addTo(uint64_t* counters) const {
  if (count == 0) return;
  Kind kind = entries[0].kind;
  if (kind == Kind::Atomic) {
    if (touches(Space::Global)) at(counters, Counter::GlobalAtomics) += 1;
    if (touches(Space::Shared)) at(counters, Counter::SharedAtomics) += 1;
    return;
  }
  if (kind == Kind::Copy) {
    at(counters, Counter::GlobalLoadRequests) += 1;
    at(counters, Counter::GlobalLoadSectors) += copiedSectors();
    return;
  }
  bool isLoad = kind == Kind::Load;
  if (touches(Space::Global)) {
    at(counters, isLoad ? Counter::GlobalLoadRequests : Counter::GlobalStoreRequests) += 1;
    at(counters, isLoad ? Counter::GlobalLoadSectors : Counter::GlobalStoreSectors) += sectors();
  }
  if (touches(Space::Shared)) addShared(counters);
  if (touches(Space::Local)) at(counters, isLoad ? Counter::LocalLoadRequests : Counter::LocalStoreRequests) += 1;
}

}  // namespace ordito::interp
