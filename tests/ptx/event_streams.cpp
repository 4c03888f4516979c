// See event_streams.hpp.
#include "event_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "machine/kernel.hpp"
#include "machine/lanes.hpp"
#include "machine/listener.hpp"

namespace ordito::test {

namespace {

using machine::AccessEvent;
using machine::AccessKind;
using machine::AccessSpace;
using machine::SyncEvent;

constexpr const char* kKinds[] = {"load",   "store",     "matrix load", "matrix store",
                                  "atomic", "reduction", "copy",        "mbarrier"};
constexpr const char* kSpaces[] = {"generic",  "global",    "shared",  "local",
                                   "constant", "parameter", "texture", "surface"};
constexpr const char* kSyncs[] = {"arrives",
                                  "waits",
                                  "goes on",
                                  "meets",
                                  "fence",
                                  "commits",
                                  "waits for",
                                  "waits for all",
                                  "init",
                                  "invalidate",
                                  "mbarrier come",
                                  "copies come to",
                                  "mbarrier passed",
                                  "commits bulk",
                                  "waits for bulk",
                                  "waits for reads of",
                                  "bulk comes to"};

class Recorder : public machine::Listener {
 public:
  bool wantsAccesses() const override { return true; }
  void accessed(const AccessEvent& e) override {
    const std::string what = fmt::format("{} {} of {} bytes, order {} scope {}, at ", kSpaces[size_t(e.space)],
                                         kKinds[size_t(e.kind)], e.bytes, int(e.order), int(e.scope));
    machine::forEachLane(e.at.lanes, [&](uint32_t lane) {
      std::string text = what + place(e.space, e.addressOf(lane));
      if (e.targets) text += fmt::format(" to {}, {} read", place(e.toSpace, e.targets[lane]), e.copied[lane]);
      if (e.stored) text += fmt::format(", stores {:#x}", stored(e, lane));
      add(e.at, lane, text);
    });
  }
  void synchronised(const SyncEvent& e) override {
    const std::string what =
        fmt::format("{} {} of {}, mask {:x}{}, order {} scope {}, {:x}", kSyncs[size_t(e.kind)], e.number, e.threads,
                    e.mask, e.ordersMemory ? ", memory too" : "", int(e.order), int(e.scope), e.address);
    if (e.kind != SyncEvent::Kind::BarrierDone)
      return machine::forEachLane(e.at.lanes, [&](uint32_t lane) { add(e.at, lane, what); });
    for (uint32_t warp = 0; warp < e.met.size(); ++warp) {
      machine::WarpSite at{e.at.frame, e.at.function, 0, warp, e.met[warp]};  // the last that came depends on the turns
      machine::forEachLane(at.lanes, [&](uint32_t lane) { add(at, lane, what); });
    }
  }
  void blockChanged(const machine::BlockEvent& e) override {
    const bool begins = e.kind == machine::BlockEvent::Kind::Begin;
    add({e.frame, e.kernel, 0, 0, 1}, 0, begins ? "the block begins" : "the block ends");
  }

  void begin(std::vector<std::pair<uint64_t, uint64_t>> memories) {
    std::lock_guard lock(mutex_);
    memories_ = std::move(memories);
    streams_.clear();
  }
  EventStreams take() {
    std::lock_guard lock(mutex_);
    return std::exchange(streams_, {});
  }

 private:
  void add(const machine::WarpSite& at, uint32_t lane, const std::string& text) {
    const uint32_t* n = at.frame.nctaid;
    const uint64_t block =
        at.frame.ctaid[0] + uint64_t{n[0]} * (at.frame.ctaid[1] + uint64_t{n[1]} * at.frame.ctaid[2]);
    std::lock_guard lock(mutex_);
    streams_[{block, at.warp * machine::kWarpSize + lane}].push_back(
        fmt::format("{} line {}: {}", at.function.name, at.line, text));
  }
  /// Addresses of memory of the launch are values that differ from run to run.
  uint64_t stored(const AccessEvent& e, uint32_t lane) const {
    return e.bytes == 8 && isAddress(e.stored[lane]) ? 0 : e.stored[lane];
  }
  static bool isAddress(uint64_t value) { return value >> 40 != 0 && value >> 47 == 0; }
  std::string place(AccessSpace space, uint64_t address) const {
    if (space == AccessSpace::Shared) return fmt::format("{}", address);
    if (space == AccessSpace::Local) return "its own";
    for (size_t k = 0; k < memories_.size(); ++k)
      if (address - memories_[k].first < memories_[k].second)
        return fmt::format("{}+{}", k, address - memories_[k].first);
    return "somewhere";
  }

  std::mutex mutex_;
  std::vector<std::pair<uint64_t, uint64_t>> memories_;
  EventStreams streams_;
};

Recorder* recorder = nullptr;

}  // namespace

void listenToEvents() {
  recorder = new Recorder;  // lives as long as the process
  machine::addListener(*recorder);
}

void beginEvents(std::vector<std::pair<uint64_t, uint64_t>> memories) {
  if (recorder) recorder->begin(std::move(memories));
}

EventStreams takeEvents() { return recorder ? recorder->take() : EventStreams(); }

std::vector<std::string> compareEvents(const EventStreams& interpreted, const EventStreams& compiled) {
  std::vector<std::string> differences;
  const std::vector<std::string> none;
  EventStreams all = interpreted;
  all.insert(compiled.begin(), compiled.end());
  for (const auto& [thread, ignored] : all) {
    auto of = [&](const EventStreams& s) -> const std::vector<std::string>& {
      const auto found = s.find(thread);
      return found == s.end() ? none : found->second;
    };
    const auto &a = of(interpreted), &b = of(compiled);
    const auto [i, j] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (i == a.end() && j == b.end()) continue;
    differences.push_back(fmt::format("block {} thread {}, event {}: interpreter {}; JIT {}", thread.first,
                                      thread.second, i - a.begin(), i == a.end() ? "nothing" : *i,
                                      j == b.end() ? "nothing" : *j));
  }
  return differences;
}

}  // namespace ordito::test
