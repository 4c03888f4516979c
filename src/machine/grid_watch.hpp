// Ends grids that would run for ever, and says where their blocks stand.
//
// Three things end a grid from outside: a limit of time (ORDITO_KERNEL_TIMEOUT, as a GPU with a display has one), a
// hang, and a signal that ends the process. A *hang* is proved by repetition (ORDITO_HANG_TIMEOUT): all blocks that are
// left of all grids are suspended, each has had its turn again and again, and for so long no state of their registers
// and of all memory that kernels can write to was new. What they do next is a function of these, so it goes on for ever
// unless the host or a copy writes what they wait for; who expects that later sets a longer limit, or none.
//
// A grid that has no suspended blocks only (an endless loop that looks at nothing) shows nothing of that: for it there
// is the limit of time. Its threads are interrupted by a signal (interruptBlock), so that kernels pay nothing for it.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.hpp"
#include "machine/fault.hpp"
#include "machine/scheduler.hpp"

namespace ordito::machine {

class GridWatch {
 public:
  /// Null if nobody wants grids to be ended. `stop` is the grid's own flag, which all its threads look at.
  static std::unique_ptr<GridWatch> of(const GridLaunch& launch, std::atomic<bool>& stop);
  ~GridWatch();
  GridWatch(const GridWatch&) = delete;
  GridWatch& operator=(const GridWatch&) = delete;

  // By a thread that runs blocks of the grid.
  void entered();
  void left();
  /// All blocks of this thread wait, and no block is left to start. `state` gives their digest, and nothing where
  /// that cannot be told.
  void onlyWaits(const std::function<std::optional<Digest>()>& state);
  /// A block that is not run to its end stands there; 0 is an unknown line.
  void stands(uint64_t block, uint32_t line);

  const std::atomic<bool>& stop() const { return stop_; }
  /// What the grid ended with if the watch has ended it; to be asked when all threads have left.
  std::optional<Fault> fault() const;

 private:
  using Clock = std::chrono::steady_clock;
  friend class GridWatcher;
  /// How long the blocks of a thread have been as they are.
  struct Stillness {
    Clock::time_point looked, since;
    bool isKnown = false;
    std::vector<Digest> seen;  // a loop may be met at different places
  };

  GridWatch(const GridLaunch& launch, std::atomic<bool>& stop);
  void end(const std::string& why);
  bool isStill(Clock::time_point now, Clock::duration span) const;

  const GridLaunch& launch_;
  std::atomic<bool>& stop_;
  const Clock::time_point start_ = Clock::now();
  // Guarded by the watcher's mutex:
  std::map<pthread_t, Stillness> threads_;
  std::string why_;                                   // it was ended; empty: it was not
  std::map<uint32_t, std::vector<uint64_t>> places_;  // blocks by the line where they stand
};

struct TimeLimits {
  std::chrono::milliseconds grid{0};  // how long one may run; 0: as long as it takes
  std::chrono::milliseconds hang{0};  // how long all may only wait
};

/// In place of what the environment says.
void setTimeLimits(TimeLimits limits);
/// Grids are watched from now on, so that endGrids() can end them.
void watchGrids();
/// Ends all grids that run, and those that begin later. Returns when none is left, or after `patience`.
void endGrids(const std::string& why, std::chrono::milliseconds patience);

}  // namespace ordito::machine
