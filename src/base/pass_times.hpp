// How long the passes of a compiler take.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ordito {

/// Wall time by pass, in the order in which passes run first.
class PassTimes {
 public:
  using Clock = std::chrono::steady_clock;

  /// The result of `pass`, whose time is added to that of `name`.
  template <class F>
  auto time(std::string_view name, F&& pass) {
    const Adds adds{*this, name};
    return std::forward<F>(pass)();
  }

  /// A line for each pass, in microseconds.
  std::string print() const {
    std::string text;
    Clock::duration all{};
    for (const auto& [name, time] : times_) {
      text += fmt::format("{:<22}{:>10.1f} us\n", name, inMicroseconds(time));
      all += time;
    }
    return text + fmt::format("{:<22}{:>10.1f} us\n", "all", inMicroseconds(all));
  }

 private:
  struct Adds {
    PassTimes& times;
    std::string_view name;
    Clock::time_point begin = Clock::now();
    ~Adds() { times.add(name, Clock::now() - begin); }
  };

  static double inMicroseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

  void add(std::string_view name, Clock::duration time) {
    const auto found = std::ranges::find(times_, name, &std::pair<std::string, Clock::duration>::first);
    if (found == times_.end())
      times_.emplace_back(name, time);
    else
      found->second += time;
  }

  std::vector<std::pair<std::string, Clock::duration>> times_;
};

/// The result of `pass`; `times`, if not null, learns how long it took.
template <class F>
auto timed(PassTimes* times, std::string_view name, F&& pass) {
  return times ? times->time(name, std::forward<F>(pass)) : std::forward<F>(pass)();
}

}  // namespace ordito
