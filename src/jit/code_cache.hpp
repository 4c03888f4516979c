// Compiled kernels on disk, so that the second start of a program compiles nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/digest.hpp"
#include "jit/counter_term.hpp"

namespace ordito::jit {

/// How the variant was chosen of which the code is.
enum class Choice : uint8_t {
  Clear,      // by the plan's estimates
  Close,      // likewise, but another might be faster
  Favourite,  // it has won a race, as the plan expected
  Contender,  // it has won a race against what the plan expected
};

/// All that is needed to run a kernel again.
struct CompiledObject {
  std::string object;  // an ELF object file
  uint64_t scratchBytes = 0, localBytes = 0, nonTemporalBytes = 0;
  CounterTerms counters;
  bool runsRanges = false;  // a call runs as many blocks as it is told
  Choice choice = Choice::Clear;
  double blockNanoseconds = 0;  // of a processor for each block, as a race has measured it; 0: none was run
};

/// A folder of objects. Its files may vanish, be cut short or be written by several processes at once: what is not
/// whole is not found. When they outgrow `limit` bytes, those unused for longest are removed.
class CodeCache {
 public:
  static constexpr uint64_t kLimit = uint64_t{512} << 20;

  /// An empty path caches nothing.
  explicit CodeCache(std::filesystem::path folder, uint64_t limit = kLimit);

  std::optional<CompiledObject> find(const Digest& key) const;
  /// Failures to write are no errors: the kernel is compiled again next time.
  void add(const Digest& key, const CompiledObject& object) const;
  void remove(const Digest& key) const;
  /// Removes the files that were not used for longest until the rest takes three quarters of the limit.
  void trim() const;

 private:
  std::filesystem::path fileOf(const Digest& key) const { return folder_ / (key.hex() + ".kernel"); }

  std::filesystem::path folder_;
  uint64_t limit_;
};

/// What identifies the code of this very library: another build must not read what this one wrote.
Digest buildDigest();

}  // namespace ordito::jit
