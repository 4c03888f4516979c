// See grid_watch.hpp. One thread looks at all grids that run; there is none while nothing is watched.
#include "machine/grid_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/environment.hpp"
#include "machine/block_names.hpp"
#include "machine/memory_digest.hpp"

namespace ordito::machine {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

double inSeconds(milliseconds time) { return static_cast<double>(time.count()) / 1000; }

/// More different ones than this are no loop that waits.
constexpr size_t kMostStates = 64;

}  // namespace

class GridWatcher {
 public:
  using Clock = std::chrono::steady_clock;

  bool isWanted() {
    const std::lock_guard lock(mutex_);
    return limits_.grid.count() || limits_.hang.count() || isAsked_;
  }
  void ask() {
    const std::lock_guard lock(mutex_);
    isAsked_ = true;
  }
  void set(TimeLimits limits) {
    const std::lock_guard lock(mutex_);
    limits_ = limits;
  }

  void add(GridWatch& grid) {
    const std::lock_guard lock(mutex_);
    grids_.push_back(&grid);
    if (!why_.empty()) grid.end(why_);
    if (!hasThread_) std::thread([this] { run(); }).detach();
    hasThread_ = true;
    changed_.notify_all();
  }

  void remove(GridWatch& grid) {
    const std::lock_guard lock(mutex_);
    std::erase(grids_, &grid);
    changed_.notify_all();
  }

  void endAll(const std::string& why, milliseconds patience) {
    std::unique_lock lock(mutex_);
    why_ = why;
    for (GridWatch* grid : grids_) grid->end(why);
    changed_.notify_all();
    changed_.wait_for(lock, patience, [this] { return grids_.empty(); });
  }

  /// A thread of a grid has found its blocks as they were. When that is so for all, nobody is left who could change it.
  void endIfHung(Clock::time_point now) {
    const auto isStill = [&](const GridWatch* grid) { return grid->isStill(now, limits_.hang); };
    if (!std::ranges::all_of(grids_, isStill)) return;
    for (GridWatch* grid : grids_)
      grid->end(fmt::format("has hung: for {} s its threads have only waited, and nothing has changed",
                            inSeconds(limits_.hang)));
  }

  std::mutex& mutex() { return mutex_; }
  /// Under the mutex.
  milliseconds hang() const { return limits_.hang; }

 private:
  void run() {
    constexpr milliseconds kTick{20};
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !grids_.empty(); });
      changed_.wait_for(lock, kTick);
      const auto now = Clock::now();
      for (GridWatch* grid : grids_) look(*grid, now);
    }
  }

  void look(GridWatch& grid, Clock::time_point now) const {
    if (limits_.grid.count() && now - grid.start_ > limits_.grid)
      grid.end(
          fmt::format("was stopped after {} s, the limit that ORDITO_KERNEL_TIMEOUT sets", inSeconds(limits_.grid)));
    if (!grid.stop_.load(std::memory_order_relaxed)) return;
    for (const auto& [thread, stillness] : grid.threads_) interruptBlock(thread);
  }

  std::mutex mutex_;
  TimeLimits limits_{seconds(readEnvironment().kernelTimeout), seconds(readEnvironment().hangTimeout)};
  bool isAsked_ = false;
  std::condition_variable changed_;
  std::vector<GridWatch*> grids_;
  std::string why_;  // all grids are to end
  bool hasThread_ = false;
};

namespace {

GridWatcher& watcher() {
  static auto* theOnly = new GridWatcher;  // never destroyed: its thread and kernels may run while the process ends
  return *theOnly;
}

}  // namespace

std::unique_ptr<GridWatch> GridWatch::of(const GridLaunch& launch, std::atomic<bool>& stop) {
  if (!watcher().isWanted()) return nullptr;
  return std::unique_ptr<GridWatch>(new GridWatch(launch, stop));
}

GridWatch::GridWatch(const GridLaunch& launch, std::atomic<bool>& stop) : launch_(launch), stop_(stop) {
  watcher().add(*this);
}

GridWatch::~GridWatch() { watcher().remove(*this); }

void GridWatch::entered() {
  const std::lock_guard lock(watcher().mutex());
  threads_[pthread_self()] = {};
}

void GridWatch::left() {
  const std::lock_guard lock(watcher().mutex());
  threads_.erase(pthread_self());
}

void GridWatch::onlyWaits(const std::function<std::optional<Digest>()>& state) {
  const auto now = Clock::now();
  std::unique_lock lock(watcher().mutex());
  const milliseconds hang = watcher().hang();
  if (!hang.count()) return;
  Stillness& own = threads_[pthread_self()];
  if (own.looked == Clock::time_point()) own.looked = own.since = now;
  if (now - own.looked < std::min<Clock::duration>(seconds(1), hang / 4)) return;
  lock.unlock();  // reading all memory takes long
  auto found = state();
  if (found) addAllocations(*found);
  lock.lock();
  own.looked = Clock::now();
  own.isKnown = found && std::ranges::find(own.seen, *found) != own.seen.end();
  if (!own.isKnown) own.since = own.looked;
  if (own.seen.size() > kMostStates) own.seen.clear();
  if (found && !own.isKnown) own.seen.push_back(*found);
  watcher().endIfHung(own.looked);
}

bool GridWatch::isStill(Clock::time_point now, Clock::duration span) const {
  return !threads_.empty() && std::ranges::all_of(threads_, [&](const auto& thread) {
    const Stillness& its = thread.second;
    return its.isKnown && now - its.since >= span;
  });
}

void GridWatch::stands(uint64_t block, uint32_t line) {
  const std::lock_guard lock(watcher().mutex());
  places_[line].push_back(block);
}

/// The first reason counts.
void GridWatch::end(const std::string& why) {
  if (why_.empty() && !stop_.exchange(true)) why_ = why;
}

std::optional<Fault> GridWatch::fault() const {
  const std::lock_guard lock(watcher().mutex());
  if (why_.empty()) return std::nullopt;
  Fault fault;
  fault.kind = FaultKind::Timeout;
  fault.kernel = launch_.kernelName ? launch_.kernelName : "?";
  fault.message = fmt::format("kernel '{}' {}", fault.kernel, why_);
  for (const char* before = ":"; const auto& [line, blocks] : places_) {
    if (!fault.ptxLine) fault.ptxLine = line;
    fault.message += fmt::format("{} block{} {} stood{}", std::exchange(before, ";"), blocks.size() > 1 ? "s" : "",
                                 blockNames(launch_.grid, blocks), line ? fmt::format(" at PTX line {}", line) : "");
  }
  return fault;
}

void setTimeLimits(TimeLimits limits) { watcher().set(limits); }
void watchGrids() { watcher().ask(); }
void endGrids(const std::string& why, milliseconds patience) { watcher().endAll(why, patience); }

}  // namespace ordito::machine
