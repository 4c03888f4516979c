// List scheduling (Gibbons and Muchnick, 1986): at each cycle, of the nodes whose operands are there, the one on the
// longest way to the block's end. Loads so come first and wait together. While too many registers are live, the node
// that frees most goes first instead, in the order of the text.
#include <algorithm>
#include <memory>
#include <queue>

#include "registers/program.hpp"

namespace ordito::registers {
namespace {

constexpr unsigned kRememberedAccesses = 24;

bool mayOverlap(const Access& a, const Access& b) {
  if (a.kind == Access::Kind::Fence || b.kind == Access::Kind::Fence) return true;
  if (a.space && b.space && a.space != b.space) return false;
  if (a.base != b.base) return true;
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

/// Who must come after whom.
class Order {
 public:
  Order(const Program& program, const ProgramBlock& block)
      : block_(block), after(block.nodes.size()), before(block.nodes.size(), 0) {
    (void)program;
    std::vector<std::pair<RegisterId, uint32_t>> defined;
    for (uint32_t n = 0; n < block.nodes.size(); ++n)
      for (RegisterId r : block.nodes[n].definitions) defined.push_back({r, n});
    std::sort(defined.begin(), defined.end());
    for (uint32_t n = 0; n < block.nodes.size(); ++n) {
      for (RegisterId r : block.nodes[n].uses) {
        auto at = std::lower_bound(defined.begin(), defined.end(), std::pair{r, 0u});
        if (at != defined.end() && at->first == r && at->second < n) edge(at->second, n);
      }
      orderAccess(n);
    }
    // The end of the block comes last.
    for (uint32_t n = 0; n + 1 < block.nodes.size(); ++n)
      if (after[n].empty()) edge(n, static_cast<uint32_t>(block.nodes.size() - 1));
  }

 private:
  const ProgramBlock& block_;

 public:
  std::vector<std::vector<uint32_t>> after;
  std::vector<uint32_t> before;

 private:
  void edge(uint32_t from, uint32_t to) {
    if (!after[from].empty() && after[from].back() == to) return;
    after[from].push_back(to);
    ++before[to];
  }

  void orderAccess(uint32_t n) {
    const Access& access = block_.nodes[n].access;
    if (access.kind == Access::Kind::None) return;
    if (access.kind != Access::Kind::Load) {
      for (uint32_t m : loads_)
        if (mayOverlap(block_.nodes[m].access, access)) edge(m, n);
      if (loads_.size() > kRememberedAccesses) loads_.erase(loads_.begin(), loads_.end() - kRememberedAccesses);
    }
    for (uint32_t m : stores_)
      if (mayOverlap(block_.nodes[m].access, access)) edge(m, n);
    if (access.kind == Access::Kind::Fence) loads_.clear(), stores_.clear();
    auto& seen = access.kind == Access::Kind::Load ? loads_ : stores_;
    seen.push_back(n);
    if (&seen == &stores_ && seen.size() > kRememberedAccesses) seen.erase(seen.begin());
  }

  std::vector<uint32_t> loads_, stores_;
};

/// The registers of a block, numbered densely.
class Numbers {
 public:
  explicit Numbers(const ProgramBlock& block) {
    for (const Node& node : block.nodes) {
      all_.insert(all_.end(), node.uses.begin(), node.uses.end());
      all_.insert(all_.end(), node.definitions.begin(), node.definitions.end());
    }
    std::sort(all_.begin(), all_.end());
    all_.erase(std::unique(all_.begin(), all_.end()), all_.end());
  }
  size_t size() const { return all_.size(); }
  uint32_t of(RegisterId r) const {
    const auto at = std::lower_bound(all_.begin(), all_.end(), r);
    return at != all_.end() && *at == r ? static_cast<uint32_t>(at - all_.begin()) : ~0u;
  }

 private:
  std::vector<RegisterId> all_;
};

}  // namespace

/// What does not change from one limit to the next.
struct Scheduler::Fixed {
  Fixed(const Program& program, const ProgramBlock& block) : order(program, block), numbers(block) {
    const auto count = static_cast<uint32_t>(block.nodes.size());
    height.assign(count, 0);
    for (uint32_t n = count; n-- > 0;)
      for (uint32_t m : order.after[n]) height[n] = std::max(height[n], height[m] + block.nodes[n].latency);
    readers.assign(numbers.size(), 0);
    words.assign(numbers.size(), 0);
    uses.resize(count);
    for (uint32_t n = 0; n < count; ++n)
      for (RegisterId r : block.nodes[n].uses) {
        const uint32_t k = numbers.of(r);
        uses[n].push_back(k), ++readers[k], words[k] = program.words[r];
      }
    for (RegisterId r : block.liveOut)  // what passes through is in `live` and stays there
      if (const uint32_t k = numbers.of(r); k != ~0u) ++readers[k];
    for (RegisterId r : block.liveIn) live += program.words[r];
    for (RegisterId r : block.phis) live += program.words[r];
    born.assign(count, 0), unread.assign(count, 0);
    for (uint32_t n = 0; n < count; ++n)
      for (RegisterId r : block.nodes[n].definitions) {
        born[n] += program.words[r];
        if (!readers[numbers.of(r)]) unread[n] += program.words[r];
      }
  }

  Order order;
  Numbers numbers;
  std::vector<uint64_t> height;
  std::vector<std::vector<uint32_t>> uses;  // by node: its operands, numbered densely
  std::vector<uint32_t> readers;            // by number: reads that are still to come, the block's end among them
  std::vector<int> words, born, unread;     // by number; by node, of its results and of those that nobody reads
  int live = 0;
};

namespace {

class Run {
 public:
  Run(const ProgramBlock& block, const Scheduler::Fixed& fixed, unsigned limit)
      : block_(block),
        fixed_(fixed),
        limit_(static_cast<int>(limit)),
        before_(fixed.order.before),
        readers_(fixed.readers),
        readyAt_(block.nodes.size(), 0),
        live_(fixed.live) {}

  std::vector<uint32_t> operator()() {
    const auto count = static_cast<uint32_t>(block_.nodes.size());
    for (uint32_t n = 0; n < count; ++n)
      if (!before_[n]) waiting_.push({0, n});
    std::vector<uint32_t> result;
    result.reserve(count);
    while (result.size() < count) {
      wake();
      const size_t best = choose();
      if (mustStall(best)) {
        cycle_ = waiting_.top().first;
        continue;
      }
      const uint32_t n = ready_[best];
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(best));
      result.push_back(n);
      issue(n);
      ++cycle_;
    }
    return result;
  }

 private:
  static constexpr size_t kLookedAt = 32;

  bool isTight() const { return live_ >= limit_; }

  void wake() {
    if (ready_.empty() && !waiting_.empty()) cycle_ = std::max(cycle_, waiting_.top().first);
    for (; !waiting_.empty() && waiting_.top().first <= cycle_; waiting_.pop()) {
      const uint32_t n = waiting_.top().second;
      const auto at = std::lower_bound(ready_.begin(), ready_.end(), n, [&](uint32_t a, uint32_t b) {
        return fixed_.height[a] != fixed_.height[b] ? fixed_.height[a] < fixed_.height[b] : a > b;
      });
      ready_.insert(at, n);
    }
  }

  int growth(uint32_t n) const {
    int words = fixed_.born[n];
    for (uint32_t k : fixed_.uses[n])
      if (readers_[k] == 1) words -= fixed_.words[k];
    return words;
  }

  /// Of the nodes that are ready: the one on the longest way; or where it is tight, what frees most.
  size_t choose() const {
    size_t best = ready_.size() - 1;
    if (!isTight()) return best;
    int least = std::max(growth(ready_[best]), 0);
    for (size_t n = 1; n < ready_.size() && n < kLookedAt; ++n) {
      const size_t k = ready_.size() - 1 - n;
      const int grows = std::max(growth(ready_[k]), 0);
      if (grows < least || (grows == least && ready_[k] < ready_[best])) best = k, least = grows;
    }
    return best;
  }

  /// Rather wait for a result than begin something new.
  bool mustStall(size_t best) const { return isTight() && growth(ready_[best]) > 0 && !waiting_.empty(); }

  void issue(uint32_t n) {
    live_ += growth(n);
    for (uint32_t k : fixed_.uses[n]) --readers_[k];
    const auto last = static_cast<uint32_t>(block_.nodes.size() - 1);
    for (uint32_t m : fixed_.order.after[n]) {
      readyAt_[m] = std::max(readyAt_[m], cycle_ + (m != last ? block_.nodes[n].latency : 1));
      if (--before_[m] == 0) waiting_.push({readyAt_[m], m});
    }
  }

  using Waiting = std::pair<uint64_t, uint32_t>;
  const ProgramBlock& block_;
  const Scheduler::Fixed& fixed_;
  int limit_;
  std::vector<uint32_t> before_, readers_;
  std::vector<uint64_t> readyAt_;
  std::vector<uint32_t> ready_;  // the longest way last
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
  uint64_t cycle_ = 0;
  int live_;
};

}  // namespace

Scheduler::Scheduler(const Program& program, const ProgramBlock& block)
    : block_(block), fixed_(std::make_unique<Fixed>(program, block)) {}
Scheduler::~Scheduler() = default;
Scheduler::Scheduler(Scheduler&&) noexcept = default;

std::vector<uint32_t> Scheduler::order(unsigned limit) const { return Run(block_, *fixed_, limit)(); }

unsigned Scheduler::pressure(const std::vector<uint32_t>& order) const {
  std::vector<uint32_t> readers = fixed_->readers;
  int live = fixed_->live, most = live;
  for (uint32_t n : order) {
    most = std::max(most, live + block_.nodes[n].temporaries);
    for (uint32_t k : fixed_->uses[n])
      if (--readers[k] == 0) live -= fixed_->words[k];
    live += fixed_->born[n];
    most = std::max(most, live);
    live -= fixed_->unread[n];
  }
  return static_cast<unsigned>(most);
}

}  // namespace ordito::registers
