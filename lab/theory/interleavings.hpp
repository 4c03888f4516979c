// What a program computes when nothing says in which order its threads take their steps. Two threads increment the same
// counter: all orders are tried. Blocks of warps read what their neighbours wrote: many orders are drawn by chance, by
// a scheduler that keeps only what CUDA promises.
#pragma once

#include <cstddef>
#include <functional>
#include <random>
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

// ------------------------------------------------------------------------------------------------- blocks and warps

/// How a lane's neighbour is related to it.
enum class Neighbour { inWarp, inBlock, inGrid };

/// Runs [write own cell; barrier of the block, if there is one; read the neighbour's cell] on a grid of 2 blocks of 2
/// warps of 4 lanes. The lanes of a warp step together; which warp steps next is drawn by chance. Returns whether every
/// lane read what its neighbour wrote.
class RandomSchedule {
 public:
  RandomSchedule(Neighbour neighbour, bool hasBarrier) : neighbour_(neighbour), hasBarrier_(hasBarrier) {}

  bool run(std::mt19937& random) {
    state_ = {};
    while (true) {
      std::vector<int> ready;
      for (int warp = 0; warp < kWarps; ++warp) {
        if (mayStep(warp)) ready.push_back(warp);
      }
      if (ready.empty()) return state_.isRight;
      step(ready[random() % ready.size()]);
    }
  }

 private:
  static constexpr int kLanes = 4, kWarpsOfBlock = 2, kWarps = 4;
  struct State {
    int cells[kWarps * kLanes] = {};  // 0: not written yet
    int steps[kWarps] = {};           // 0: to write, 1: at the barrier, 2: to read, 3: done
    bool isRight = true;
  };

  /// A warp at the barrier goes on when all of its block have arrived.
  bool mayStep(int warp) const {
    if (state_.steps[warp] == 3) return false;
    if (state_.steps[warp] != 1 || !hasBarrier_) return true;
    const int first = warp / kWarpsOfBlock * kWarpsOfBlock;
    for (int other = first; other < first + kWarpsOfBlock; ++other) {
      if (state_.steps[other] == 0) return false;
    }
    return true;
  }
  int neighbourOf(int warp, int lane) const {
    const int own = warp * kLanes + lane;
    if (neighbour_ == Neighbour::inWarp) return warp * kLanes + (lane + 1) % kLanes;
    const int distance = neighbour_ == Neighbour::inBlock ? kLanes : kLanes * kWarpsOfBlock;
    return own / distance % 2 == 0 ? own + distance : own - distance;
  }
  void step(int warp) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (state_.steps[warp] == 0) state_.cells[warp * kLanes + lane] = 1 + lane;
      if (state_.steps[warp] == 2 && state_.cells[neighbourOf(warp, lane)] == 0) state_.isRight = false;
    }
    ++state_.steps[warp];
  }

  Neighbour neighbour_;
  bool hasBarrier_;
  State state_;
};

/// How many of `schedules` random ones give the right result.
inline int rightSchedules(Neighbour neighbour, bool hasBarrier, int schedules) {
  std::mt19937 random(19);
  RandomSchedule schedule(neighbour, hasBarrier);
  int right = 0;
  for (int k = 0; k < schedules; ++k) right += schedule.run(random) ? 1 : 0;
  return right;
}

}  // namespace theory
