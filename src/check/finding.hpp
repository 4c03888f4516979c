// What the checker has found: one finding for each rule, kernel and pair of lines, with its first instance and a count.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "check/call_site.hpp"
#include "machine/kernel.hpp"

namespace ordito::check {

enum class Rule : uint8_t {
  Bounds,
  Misaligned,
  Freed,
  Leak,
  Uninitialised,
  UninitialisedCopy,
  Free,
  ApiError,
  LaunchFailed,
  RaceShared,
  RaceWarp,
  RaceGlobal,
  RaceAtomic,
  RaceCopy,
  RaceAcquire,  // ordered if a relaxed atomic operation were an acquire
  SameValue,
  RaceTexture,    // a fetch of what the same launch has written
  RaceProxy,      // a bulk copy of what a thread has written, without a fence of proxies
  RaceStream,     // between operations
  RaceGraph,      // between nodes of a graph
  RaceHost,       // between an operation and the host
  RaceLifetime,   // between an operation and the allocation or free of its memory
  SyncMask,       // of a warp operation
  SyncShuffle,    // from a lane that does not take part
  SyncMbarrier,   // one that is not there
  SyncDivergent,  // lanes of a warp at different barriers
  SyncPlaces,     // warps of a block at different barriers
  SyncBypassed,   // somebody does not come
  SyncCount,      // threads of a barrier that name different counts
};

enum class Severity : uint8_t { Note, Warning, Error };

const char* nameOf(Rule rule);
const char* nameOf(Severity severity);
Severity severityOf(Rule rule);

/// One access of a finding.
struct Side {
  std::string what;  // "write"
  uint32_t bytes = 0;
  uint32_t thread[3] = {}, block[3] = {};
  uint32_t warp = 0, lane = 0;
  uint32_t ptxLine = 0;
  std::string source = {};  // "a.cu:12"; empty if the module does not say
  uint32_t column = 0;      // 0: it does not say
  // Of races between operations: which one, "stream 3"; the kernel, if it is one; what the host called.
  std::string operation = {}, kernel = {};
  std::optional<CallSite> call = std::nullopt;
};

/// Where the two threads of a race have last met.
struct Meeting {
  std::string what;  // "barrier", "__syncwarp", "start of the block"
  uint32_t ptxLine = 0;
  std::string source = {};  // as Side's
  uint32_t column = 0;
};

struct Finding {
  Rule rule{};
  std::string message, kernel;
  machine::Dim3 grid, block;
  std::vector<Side> sides;
  std::optional<Meeting> meeting;
  std::string object;  // what memory it is about
  std::string help;
  std::optional<CallSite> call;  // of the host: what launched the kernel, or what failed
  uint64_t count = 1;
};

class Findings {
 public:
  /// Where a finding belongs: one rule, one kernel, two lines.
  using Key = std::tuple<Rule, std::string, uint32_t, uint32_t>;

  /// Counts one more; `describe` makes the text of the first.
  template <class F>
  void add(const Key& key, F describe) {
    ++total_;
    const auto it = index_.find(key);
    if (it != index_.end()) {
      ++all_[it->second].count;
      return;
    }
    if (all_.size() >= kMost) {
      ++dropped_;
      return;
    }
    index_[key] = all_.size();
    all_.push_back(describe());
  }
  /// Those of `more` come behind.
  void add(Findings more);
  const std::vector<Finding>& all() const { return all_; }
  /// With all that were only counted.
  uint64_t total() const { return total_; }
  /// Of these what belongs to no finding that is kept.
  uint64_t dropped() const { return dropped_; }

 private:
  static constexpr size_t kMost = 10'000;  // of different lines; nobody reads more

  uint64_t total_ = 0, dropped_ = 0;
  std::map<Key, size_t> index_;
  std::vector<Finding> all_;
};

/// Of all launches: blocks that were listened to, those of which others said all (proof.hpp), those that were tried
/// without a doubt (rt/trial.hpp), and those that nobody heard any more, since there were so many findings.
struct BlockCounts {
  uint64_t told = 0, proved = 0, tried = 0, unheard = 0;
};

/// The report as JSON (docs/check.md).
std::string toJson(const Findings& findings, const BlockCounts& blocks = {});

}  // namespace ordito::check
