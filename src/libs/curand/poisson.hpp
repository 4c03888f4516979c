// Poisson's distribution by its inverse, for any mean: the cumulative probabilities around it, and a search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace ordito::curand {

class Poisson {
 public:
  explicit Poisson(double mean) {
    // Beyond twelve deviations lies less than a number of 53 bits can say.
    const double reach = 12 * std::sqrt(mean) + 40;
    first_ = static_cast<uint32_t>(std::max(0.0, mean - reach));
    const auto last = static_cast<uint64_t>(mean + reach);
    double sum = 0;
    for (uint64_t k = first_; k <= last; ++k) {
      const auto x = static_cast<double>(k);
      cumulative_.push_back(sum += std::exp(x * std::log(mean) - mean - std::lgamma(x + 1)));
    }
  }

  /// The least number whose cumulative probability reaches u.
  uint32_t operator()(double u) const {
    const auto found = std::lower_bound(cumulative_.begin(), cumulative_.end() - 1, u);
    return first_ + static_cast<uint32_t>(found - cumulative_.begin());
  }

 private:
  uint32_t first_;
  std::vector<double> cumulative_;
};

}  // namespace ordito::curand
