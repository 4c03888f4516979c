// From addresses to channels, banks and bursts of a GPU's memory: consecutive bytes stay in one channel for an
// interleave, then the next channel takes over, and once all have had their turn, the next bank of each. A channel
// delivers whole bursts; what nobody asked for is wasted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace dram {

struct Layout {
  std::size_t channels = 8;
  std::size_t interleave = 2048;
  std::size_t banks = 4;
  std::size_t burst = 64;

  std::size_t channel(std::size_t address) const { return address / interleave % channels; }
  std::size_t bank(std::size_t address) const { return address / (interleave * channels) % banks; }
};

/// As document 003 describes the GTX 280.
constexpr Layout kGtx280 = {};

/// The bursts that accesses need which are made together, by channel.
class Traffic {
 public:
  Traffic(const Layout& layout, const std::vector<std::size_t>& addresses, std::size_t bytesEach)
      : layout_(layout), used_(addresses.size() * bytesEach), perChannel_(layout.channels, 0) {
    std::set<std::size_t> bursts;
    for (const std::size_t address : addresses) {
      for (std::size_t at = address / layout.burst; at <= (address + bytesEach - 1) / layout.burst; ++at) {
        bursts.insert(at);
      }
    }
    for (const std::size_t burst : bursts) ++perChannel_[layout.channel(burst * layout.burst)];
    bursts_ = bursts.size();
  }

  std::size_t bursts() const { return bursts_; }
  std::size_t wasted() const { return bursts_ * layout_.burst - used_; }
  double efficiency() const {
    return 100.0 * static_cast<double>(used_) / static_cast<double>(bursts_ * layout_.burst);
  }
  /// The load of the busiest channel, as a multiple of the mean: 1 at best, the number of channels at worst.
  double imbalance() const {
    const std::size_t most = *std::max_element(perChannel_.begin(), perChannel_.end());
    return static_cast<double>(most * perChannel_.size()) / static_cast<double>(bursts_);
  }
  const std::vector<std::size_t>& perChannel() const { return perChannel_; }

 private:
  Layout layout_;
  std::size_t used_;
  std::vector<std::size_t> perChannel_;
  std::size_t bursts_ = 0;
};

/// `count` addresses, `stride` bytes apart.
inline std::vector<std::size_t> strided(std::size_t begin, std::size_t count, std::size_t stride) {
  std::vector<std::size_t> addresses(count);
  for (std::size_t i = 0; i < count; ++i) addresses[i] = begin + i * stride;
  return addresses;
}

}  // namespace dram
