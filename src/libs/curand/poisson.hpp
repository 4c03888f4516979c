// Poisson's distribution, whose numbers come from one word each: by a table for means below 2000, as on a GPU, else
// from normal numbers or by the inverse of the distribution.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "libs/curand/filler.hpp"

namespace ordito::curand {

/// A NaN is let pass, as on a GPU; its numbers are zeros.
inline bool isNoPoissonMean(double mean) { return mean <= 0 || mean > 400000; }
/// From here on most numbers are rounded normal ones.
constexpr double kLargePoisson = 2000;

/// A square histogram (Marsaglia, Tsang and Wang, "Fast Generation of Discrete Random Variables", 2004): as many
/// columns of the same height as there are values. A column is its own value's up to `edge`, above it belongs to
/// `other`.
struct SquareHistogram {
  uint32_t first = 0;  // the value of the first column
  std::vector<double> edges;
  std::vector<uint32_t> others;

  /// All values whose probability is above 0 in double precision.
  explicit SquareHistogram(double mean) {
    std::vector<double> parts;
    for (uint32_t k = 0;; ++k) {
      const double part = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
      if (part > 0 && parts.empty()) first = k;
      if (part > 0) parts.push_back(part);
      if (part <= 0 && k > mean) break;
    }
    fill(std::move(parts));
  }

  /// `u` is in [0, 1).
  uint32_t operator()(double u) const {
    const auto column = std::min(static_cast<size_t>(u * static_cast<double>(edges.size())), edges.size() - 1);
    return first + (u < edges[column] ? static_cast<uint32_t>(column) : others[column]);
  }

 private:
  /// The last value with more than a column gives to the next one with less, in a circle, as on a GPU.
  void fill(std::vector<double> parts) {
    const size_t count = parts.size();
    const double height = 1.0 / static_cast<double>(count);
    for (size_t i = 0; i < count; ++i) {
      edges.push_back(static_cast<double>(i + 1) / static_cast<double>(count));
      others.push_back(static_cast<uint32_t>(i));
    }
    size_t taker = 0;
    for (size_t giver = count; giver-- > 0;) {
      while (parts[giver] > height) {
        size_t looked = 0;
        for (; looked < count && parts[taker] >= height; ++looked) taker = (taker + 1) % count;
        if (looked == count) return;
        others[taker] = static_cast<uint32_t>(giver);
        edges[taker] = static_cast<double>(taker) / static_cast<double>(count) + parts[taker];
        parts[giver] -= height - parts[taker];
        parts[taker] = height;
        taker = (taker + 1) % count;
      }
    }
  }
};

/// Its inverse, for any mean: the cumulative probabilities around it, and a search.
class InversePoisson {
 public:
  explicit InversePoisson(double mean) {
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

/// How a generator's numbers become Poisson's: by a table for means below `table`, by normal numbers for means from
/// `normal` on, else by the inverse of the distribution. The steps are those of an H100's recordings.
struct PoissonSteps {
  double table, normal;
};

class Poisson {
 public:
  Poisson(double mean, PoissonSteps steps) : mean_(mean) {
    if (mean < steps.table)
      table_.emplace(mean);
    else if (mean < steps.normal)
      inverse_.emplace(mean);
  }

  void fill(Filler& filler, uint32_t* out, size_t count) const {
    if (!table_ && !inverse_) return fillRounded(filler, out, count);
    filler.bits(out, count);
    for (size_t i = 0; i < count; ++i) {
      const double u = (out[i] + 0.5) * 0x1p-32;
      out[i] = table_ ? (*table_)(u) : (*inverse_)(u);
    }
  }

 private:
  void fillRounded(Filler& filler, uint32_t* out, size_t count) const {
    std::vector<float> normal(count);
    filler.firstNormal(normal.data(), count);
    const double deviation = std::sqrt(mean_);
    for (size_t i = 0; i < count; ++i)
      out[i] = static_cast<uint32_t>(std::max(0.0, mean_ + deviation * normal[i] + 0.5));
  }

  double mean_;
  std::optional<SquareHistogram> table_;
  std::optional<InversePoisson> inverse_;
};

}  // namespace ordito::curand
