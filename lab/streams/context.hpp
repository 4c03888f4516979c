// What the stream programs work on, and how they are judged and timed.
#pragma once

#include "../common/output.hpp"
#include "kernels.cuh"
#include "pipeline.hpp"

namespace streams {

constexpr int kRepeats = 8;
constexpr unsigned kBlock = 128;
constexpr unsigned long long kLong = 20000000000ull, kShort = 2000000ull;  // patience, in ns

struct Context {
  explicit Context(const lab::Options& given) : options(given), n(given.size), sum(given.size), numbers(given.size) {
    for (std::size_t i = 0; i < n; ++i) {
      sum.a[i] = static_cast<float>(i * 7 % 1000);
      sum.b[i] = static_cast<float>(i * 13 % 1000);
      numbers.a[i] = static_cast<int>(i * 31 % 1009);
      numbers.b[i] = static_cast<int>(i * 17 % 1013);
    }
  }

  const lab::Options& options;
  std::size_t n;
  Arrays<float> sum;
  Arrays<int> numbers;
};

/// The variant's verdict: `isRight(i)` for each of n elements.
template <class IsRight>
void judge(lab::Measurement& row, std::size_t n, IsRight isRight) {
  row.verified = lab::Verified::yes;
  for (std::size_t i = 0; i < n; ++i) {
    if (isRight(i)) continue;
    row.verified = lab::Verified::no;
    row.note = "element " + std::to_string(i) + " is wrong";
    return;
  }
}

inline void expect(lab::Measurement& row, bool condition, const char* otherwise) {
  if (condition) return;
  row.verified = lab::Verified::no;
  row.note = otherwise;
}

/// How many ran at once, which is what a variant of this kind shows.
inline void judgeAtOnce(lab::Measurement& row, int found, int expected) {
  row.result = std::to_string(found);
  expect(row, found == expected, "not as many at once as there must be");
}

/// Times `issue`, which only submits work; the time ends when the device has done it all.
template <class Prepare, class Issue>
void timeIssue(Context& c, lab::Measurement& row, Prepare prepare, Issue issue) {
  lab::timeRounds(c.options.rounds, row, prepare, issue, [] { LAB_CHECK(cudaDeviceSynchronize()); });
}

}  // namespace streams
