// The thread pool behind Scheduler::run. One mutex guards the list of running grids; blocks themselves are taken with
// atomic counters.
#include "machine/scheduler.hpp"

#include <immintrin.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "machine/block_shares.hpp"
#include "machine/grid_deadlock.hpp"
#include "machine/grid_watch.hpp"
#include "machine/worker.hpp"

namespace ordito::machine {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kStallTime =
    std::chrono::milliseconds(100);  // a grid that starts no block for so long gets more threads
constexpr unsigned kMostExtraThreads = 4096;
constexpr uint64_t kMostResidentBlocks = 8192;
constexpr uint64_t kChunksPerThread = 16, kLargestChunk = 64;
constexpr int kSpins = 200;  // a few microseconds: longer spinning would take the core from other processes

/// One grid while it runs. Lives on the launching thread's stack or, if it was started, on the heap until it has
/// finished.
struct Running {
  Running(const GridLaunch& what, uint64_t number) : launch(what), id(number), blocks(what.grid.count()) {
    if (what.cooperative && what.gridWorkspace && blocks > 1) deadlock.emplace(what);
    watch = GridWatch::of(what, stop);
  }

  const GridLaunch& launch;
  const uint64_t id;
  const uint64_t blocks;
  uint64_t chunk = 1;
  std::atomic<uint64_t> next{0};      // so many blocks have been given away
  std::optional<BlockShares> shares;  // which, if they are not given away in order
  std::atomic<bool> stop{false};
  // Guarded by the pool's mutex:
  unsigned users = 0;  // pool threads inside work()
  std::condition_variable left;
  GridResult result;
  std::optional<GridDeadlock> deadlock;
  std::unique_ptr<GridWatch> watch;      // null: nobody watches
  std::unique_ptr<StartedGrid> started;  // null: somebody waits in run()
  std::atomic<bool> begun{false};        // used by started grids only
  // The watcher's, guarded likewise: how far the grid was, since when, and the threads that it has got for it.
  uint64_t seenNext = 0;
  Clock::time_point stillSince = Clock::now();
  unsigned extra = 0;

  bool exhausted() const {
    return next.load(std::memory_order_relaxed) >= blocks || stop.load(std::memory_order_relaxed);
  }
};

unsigned coreCount() {
  if (const unsigned count = readEnvironment().threads) return count;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
  return std::max(std::thread::hardware_concurrency(), 1u);
}

}  // namespace

class Scheduler::Pool {
 public:
  explicit Pool(unsigned threads) : threads_(threads ? threads : coreCount()) {
    // The launching thread is one of them.
    for (unsigned i = 1; i < threads_; ++i)
      helpers_.emplace_back([this, i] {
        place = i;
        help();
      });
    watcher_ = std::thread([this] { watch(); });
  }

  ~Pool() {
    {
      std::lock_guard lock(mutex_);
      quit_ = true;
    }
    wake_.notify_all();
    watch_.notify_all();
    for (auto& thread : helpers_) thread.join();
    watcher_.join();
  }

  unsigned threads() const { return threads_; }

  GridResult run(const GridLaunch& launch) {
    Running grid(launch, launch.number ? launch.number : nextGridNumber());
    share(grid);
    const bool shared = (grid.blocks > 1 && threads_ > 1) || launch.priority < 0;
    std::vector<std::thread> crowd;
    const bool eachItsThread = launch.cooperative && !launch.executable->canSuspend();
    if (eachItsThread) {
      uint64_t extra = std::min<uint64_t>(grid.blocks, kMostExtraThreads) - 1;
      for (uint64_t i = 0; i < extra; ++i) crowd.emplace_back([&] { work(grid); });
    } else if (shared) {
      publish(grid);
    }
    work(grid);
    while (!grid.exhausted()) {  // it gave way
      helpBetter(grid);
      work(grid);
    }
    for (auto& thread : crowd) thread.join();
    if (shared && !eachItsThread) withdraw(grid);
    judge(grid);
    return std::move(grid.result);
  }

  void start(std::unique_ptr<StartedGrid> what) {
    auto grid = std::make_unique<Running>(what->launch, what->launch.number ? what->launch.number : nextGridNumber());
    grid->started = std::move(what);
    share(*grid);
    publish(*grid.release());  // finish() deletes it
  }

  void helpUntil(const void* group, const std::function<bool()>& done) {
    std::unique_lock lock(mutex_);
    while (!done()) {
      if (Running* grid = choose(group)) {
        serve(lock, *grid);
      } else {
        startedChanged_.wait(lock);
      }
    }
  }

  void askAgain() {
    std::lock_guard lock(mutex_);  // nobody is between asking and falling asleep now
    startedChanged_.notify_all();
  }

 private:
  void share(Running& grid) const {
    chooseChunk(grid);
    const uint64_t pieces = (grid.blocks + grid.chunk - 1) / grid.chunk;
    if (!grid.launch.mayAwaitBlocks && !grid.launch.cooperative && threads_ > 1 && pieces >= threads_)
      grid.shares.emplace(pieces, threads_);
  }

  void chooseChunk(Running& grid) const {
    // A grid whose blocks cannot be suspended is taken one by one, up to the number of blocks that a GPU can hold at
    // once: it may have a barrier across its blocks, and a block behind a waiting one in the same chunk would never
    // run.
    if (grid.blocks <= kMostResidentBlocks && !grid.launch.executable->canSuspend()) return;
    grid.chunk = std::clamp<uint64_t>(grid.blocks / (uint64_t{threads_} * kChunksPerThread), 1, kLargestChunk);
  }

  /// Now that all have said where their blocks wait.
  static void judge(Running& grid) {
    if (auto fault = grid.deadlock ? grid.deadlock->fault() : std::nullopt) grid.result.fault = std::move(fault);
    if (auto fault = grid.watch ? grid.watch->fault() : std::nullopt) grid.result.fault = std::move(fault);
  }

  void work(Running& grid) {
    if (grid.watch) grid.watch->entered();
    takeBlocks(grid);
    if (grid.watch) grid.watch->left();
  }

  /// Takes blocks of `grid` until none is left, then adds this thread's counters to the result.
  void takeBlocks(Running& grid) {
    Worker& worker = Worker::current();
    if (!worker.begin(grid.launch, grid.id, threads_, {grid.deadlock ? &*grid.deadlock : nullptr, grid.watch.get()}))
      return report(grid, Worker::noMemory(grid.launch));
    if (grid.started && !grid.begun.exchange(true)) grid.started->begun();
    while (!grid.stop.load(std::memory_order_relaxed) && (worker.hasSuspended() || !givesWay(grid))) {
      uint64_t first = grid.next.fetch_add(grid.chunk, std::memory_order_relaxed);
      if (first >= grid.blocks) break;
      if (grid.shares) first = grid.shares->take(place) * grid.chunk;
      uint64_t last = std::min(first + grid.chunk, grid.blocks);
      if (auto fault = worker.runBlocks(grid.launch, first, last, grid.stop)) {
        report(grid, std::move(*fault));
        break;
      }
    }
    if (auto fault = worker.finish(grid.launch, grid.stop)) report(grid, std::move(*fault));
    if (grid.launch.counters) collectCounters(grid, worker);
  }

  void collectCounters(Running& grid, const Worker& worker) {
    SiteCounters sites;
    worker.addCounters(sites);
    std::lock_guard lock(mutex_);
    for (const auto& [line, counts] : sites) {
      CounterValues& sum = grid.result.sites.try_emplace(line).first->second;
      for (size_t i = 0; i < kCounterCount; ++i) sum[i] += counts[i], grid.result.counters[i] += counts[i];
    }
  }

  void report(Running& grid, Fault fault) {
    std::lock_guard lock(mutex_);
    if (!grid.result.fault) grid.result.fault = std::move(fault);
    grid.stop = true;
  }

  void publish(Running& grid) {
    unsigned sleeping = 0;
    {
      std::lock_guard lock(mutex_);
      grids_.push_back(&grid);
      urgent_ = std::min(urgent_.load(), grid.launch.priority);
      version_.fetch_add(1, std::memory_order_release);
      sleeping = sleeping_;
      if (grids_.size() == 1) watch_.notify_one();
      if (grid.started) startedChanged_.notify_all();
    }
    uint64_t useful = std::min<uint64_t>(sleeping, grid.started ? grid.blocks : grid.blocks - 1);
    for (uint64_t i = 0; i < useful; ++i) wake_.notify_one();
  }

  void withdraw(Running& grid) {
    std::unique_lock lock(mutex_);
    remove(grid);
    grid.left.wait(lock, [&] { return grid.users == 0; });
  }

  /// A grid that still has blocks to give, or null: the first of the best priority; only started ones of `group` if
  /// that is not null. The caller becomes one of its users.
  Running* choose(const void* group = nullptr) {
    Running* best = nullptr;
    for (Running* grid : grids_) {
      const bool suits = !group || (grid->started && grid->started->group == group);
      if (!suits || grid->exhausted() || (best && best->launch.priority <= grid->launch.priority)) continue;
      best = grid;
      if (grid->launch.priority <= urgent_) break;  // there is none better
    }
    if (best) ++best->users;
    return best;
  }

  /// Whether a grid of better priority has blocks to give, so that the thread that runs `grid` should leave it. Blocks
  /// that wait for others of their grid are not left alone, so a thread that has some stays.
  bool givesWay(const Running& grid) {
    if (urgent_.load(std::memory_order_relaxed) >= grid.launch.priority || grid.launch.cooperative) return false;
    std::lock_guard lock(mutex_);
    return std::any_of(grids_.begin(), grids_.end(), [&](const Running* other) {
      return other->launch.priority < grid.launch.priority && !other->exhausted();
    });
  }

  /// The thread that launched `grid` runs blocks of better ones.
  void helpBetter(const Running& grid) {
    std::unique_lock lock(mutex_);
    while (Running* other = choose()) {
      if (other->launch.priority >= grid.launch.priority) {
        leave(lock, *other);
        return;
      }
      serve(lock, *other);
    }
  }

  void remove(const Running& grid) {
    grids_.erase(std::find(grids_.begin(), grids_.end(), &grid));
    if (urgent_ == 0) return;
    int best = 0;
    for (const Running* other : grids_) best = std::min(best, other->launch.priority);
    urgent_ = best;
  }

  using Lock = std::unique_lock<std::mutex>;

  void serve(Lock& lock, Running& grid) {
    lock.unlock();
    work(grid);
    lock.lock();
    leave(lock, grid);
  }

  void leave(Lock& lock, Running& grid) {
    if (--grid.users > 0) return;
    if (grid.started)
      finish(lock, grid);
    else
      grid.left.notify_one();
  }

  /// The last user has left a started grid. Nobody leaves before all blocks are taken, so nobody will come either.
  void finish(Lock& lock, Running& grid) {
    remove(grid);
    lock.unlock();
    judge(grid);
    grid.started->finished(std::move(grid.result));
    delete &grid;
    lock.lock();
    lastFinished_ = Clock::now();
    startedChanged_.notify_all();
  }

  void help() {
    std::unique_lock lock(mutex_);
    while (!quit_) {
      uint64_t seen = version_.load(std::memory_order_relaxed);
      if (Running* grid = choose()) {
        serve(lock, *grid);
        continue;
      }
      lock.unlock();
      for (int i = 0; i < kSpins && version_.load(std::memory_order_acquire) == seen; ++i) _mm_pause();
      lock.lock();
      if (version_.load(std::memory_order_relaxed) != seen || quit_) continue;
      ++sleeping_;
      wake_.wait(lock, [&] { return quit_ || version_.load(std::memory_order_relaxed) != seen; });
      --sleeping_;
    }
  }

  /// Gives threads to grids that stand still: their blocks may wait for blocks that nobody runs yet.
  void watch() {
    std::vector<std::thread> crowd;
    std::unique_lock lock(mutex_);
    while (!quit_) {
      if (grids_.empty()) {
        lock.unlock();
        for (auto& thread : crowd) thread.join();
        crowd.clear();
        lock.lock();
        watch_.wait(lock, [&] { return quit_ || !grids_.empty(); });
        continue;
      }
      watch_.wait_for(lock, kStallTime / 2, [&] { return quit_; });
      const auto now = Clock::now();
      bool queuedServed = false;
      for (Running* grid : grids_) {
        if (grid->exhausted() || !grid->launch.mayAwaitBlocks) continue;
        // A grid that has not begun only waits for its turn. There may be thousands, so one at a time is helped, and
        // only while no other ends.
        const bool queued = grid->started && !grid->begun;
        if (!standsStill(*grid, now, queued) || (queued && queuedServed)) continue;
        // Doubling reaches any number of waiting blocks within a few rounds.
        const unsigned more = queued ? 1 : std::max(threads_, grid->extra);
        for (unsigned i = 0; i < more && addThread(*grid, crowd); ++i) ++grid->extra;
        grid->stillSince = now;
        queuedServed |= queued;
      }
    }
    lock.unlock();
    for (auto& thread : crowd) thread.join();
  }

  bool standsStill(Running& grid, Clock::time_point now, bool queued) const {
    const uint64_t next = grid.next.load(std::memory_order_relaxed);
    if (std::exchange(grid.seenNext, next) != next) grid.stillSince = now;
    const Clock::time_point since = queued ? std::max(grid.stillSince, lastFinished_) : grid.stillSince;
    return now - since >= kStallTime * std::max(1u, grid.extra / threads_) && grid.extra < kMostExtraThreads;
  }

  /// False if the system has no thread left to give: then those that there are must do.
  bool addThread(Running& grid, std::vector<std::thread>& crowd) {
    try {
      crowd.emplace_back([this, &grid] {
        work(grid);
        std::unique_lock guard(mutex_);
        leave(guard, grid);
      });
    } catch (const std::system_error&) {
      return false;
    }
    ++grid.users;  // before the thread can leave: it needs the mutex, which is held here
    return true;
  }

  inline static thread_local unsigned place = 0;  // of this thread among those of its pool; one that launches: 0
  const unsigned threads_;
  std::mutex mutex_;
  std::condition_variable wake_, watch_;
  std::condition_variable startedChanged_;  // a started grid is there or has finished
  // A deque: what is chosen and what ends is near its front, and behind it thousands of grids may wait.
  std::deque<Running*> grids_;
  std::atomic<int> urgent_{0};        // the best priority of those in the list; 0 if it is empty
  std::atomic<uint64_t> version_{0};  // counts published grids
  unsigned sleeping_ = 0;
  Clock::time_point lastFinished_;  // when a started grid finished
  bool quit_ = false;
  std::vector<std::thread> helpers_;
  std::thread watcher_;
};

uint64_t nextGridNumber() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Scheduler::Scheduler(unsigned threads) : pool_(std::make_unique<Pool>(threads)) {}
Scheduler::~Scheduler() = default;
GridResult Scheduler::run(const GridLaunch& launch) { return pool_->run(launch); }
void Scheduler::start(std::unique_ptr<StartedGrid> grid) { pool_->start(std::move(grid)); }
void Scheduler::helpUntil(const void* group, const std::function<bool()>& done) { pool_->helpUntil(group, done); }
void Scheduler::askAgain() { pool_->askAgain(); }
unsigned Scheduler::threads() const { return pool_->threads(); }

Scheduler& scheduler() {
  static auto* instance = new Scheduler;  // never destroyed: kernels may still run while the process exits
  return *instance;
}

}  // namespace ordito::machine
