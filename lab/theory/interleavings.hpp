// Two threads increment the same counter. What a counter is afterwards depends on the order in which their steps come:
// here all orders are tried.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace theory {

/// The shared counter, and what a thread has in its registers.
struct Counting {
  int counter = 0;
  int index[2] = {-1, -1};
  int value[2] = {0, 0};
};

using ThreadStep = std::function<void(Counting&, int thread)>;
using ThreadSteps = std::vector<ThreadStep>;

/// h[s]++ as a processor does it: load the index, load the counter, add one, store.
inline ThreadSteps plainIncrement() {
  return {[](Counting& c, int t) { c.index[t] = 0; }, [](Counting& c, int t) { c.value[t] = c.counter; },
          [](Counting& c, int t) { ++c.value[t]; }, [](Counting& c, int t) { c.counter = c.value[t]; }};
}

/// The last three as one step that nobody comes between.
inline ThreadSteps atomicIncrement() {
  return {[](Counting& c, int t) { c.index[t] = 0; },
          [](Counting& c, int t) {
            c.value[t] = c.counter;
            c.counter = c.value[t] + 1;
          }};
}

struct Outcomes {
  std::size_t orders = 0;
  std::size_t lost = 0;     // those after which the counter is 1
  bool impossible = false;  // neither 1 nor 2
};

/// Every order in which two threads can take these steps.
inline void tryOrders(const ThreadSteps& steps, std::size_t first, std::size_t second, const Counting& state,
                      Outcomes& outcomes) {
  if (first == steps.size() && second == steps.size()) {
    ++outcomes.orders;
    outcomes.lost += state.counter == 1 ? 1 : 0;
    outcomes.impossible = outcomes.impossible || state.counter < 1 || state.counter > 2;
    return;
  }
  for (const int thread : {0, 1}) {
    const std::size_t next = thread == 0 ? first : second;
    if (next == steps.size()) continue;
    Counting after = state;
    steps[next](after, thread);
    tryOrders(steps, first + (thread == 0), second + (thread == 1), after, outcomes);
  }
}

}  // namespace theory
