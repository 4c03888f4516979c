// See background.hpp. The threads have to be gone or halted before LLVM's globals are destroyed. Some of those are made
// when LLVM first needs them, so their destructors run before a handler that was registered for the end of the process
// earlier. But before all handlers, exit() destroys the thread-local objects of the thread that calls it, which is the
// main thread of most programs.
#include "machine/background.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "machine/halting.hpp"

namespace ordito::machine {
namespace {

/// Threads for awaited jobs: enough that some long compilations do not keep the short ones waiting.
unsigned mostAwaited() { return std::clamp(std::thread::hardware_concurrency(), 3u, 8u); }

/// Whoever compiles ahead asks for fewer where there are few processors.
constexpr unsigned kMostAhead = 4;

constexpr std::chrono::milliseconds kPatience{2000};

/// A line of jobs and the threads that do them.
class Line {
 public:
  Line(const std::atomic<bool>& stops, unsigned mostThreads) : stops_(stops), mostThreads_(mostThreads) {}

  bool add(BackgroundJob job, JobOwner owner) {
    std::deque<Waiting> dropped;  // what they hold is given back when others may use the line again
    std::lock_guard lock(mutex_);
    if (stops_) return false;
    dropped = takeUnwanted();
    if (idle_ <= jobs_.size() && threads_.size() < mostThreads_ && !addThread() && threads_.empty()) return false;
    jobs_.push_back({std::move(job), std::move(owner)});
    changed_.notify_one();
    return true;
  }

  /// Drops the jobs that wait. Returns when no thread is left at work; whether one had to be halted.
  bool stop() {
    {
      std::lock_guard lock(mutex_);
      jobs_.clear();
      changed_.notify_all();
    }
    bool halted = false;
    for (auto& member : threads_) tryToHalt(member->thread.native_handle());  // all at once
    for (auto& member : threads_) halted |= end(*member);
    return halted;
  }

 private:
  struct Waiting {
    BackgroundJob job;
    JobOwner owner;
    bool isWanted() const { return !owner || !owner->expired(); }
    void runIfWanted() const {
      const std::shared_ptr<const void> kept = owner ? owner->lock() : nullptr;
      if (kept || !owner) job();
    }
  };
  struct Member {
    std::thread thread;
    std::atomic<bool> hasEnded{false}, isHalted{false};
  };

  std::deque<Waiting> takeUnwanted() {
    std::deque<Waiting> all, unwanted;
    all.swap(jobs_);
    for (Waiting& one : all) (one.isWanted() ? jobs_ : unwanted).push_back(std::move(one));
    return unwanted;
  }

  /// A thread that neither ends nor can be halted waits for one that has been halted.
  static bool end(Member& member) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    while (!member.hasEnded && !member.isHalted && Clock::now() < start + kPatience) {
      tryToHalt(member.thread.native_handle());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (member.hasEnded)
      member.thread.join();
    else
      member.thread.detach();
    return !member.hasEnded;
  }

  /// False if the system has no thread to give.
  bool addThread() {
    auto member = std::make_unique<Member>();
    try {
      member->thread = std::thread([this, m = member.get()] { run(*m); });
    } catch (const std::system_error&) {
      return false;
    }
    threads_.push_back(std::move(member));
    return true;
  }

  void run(Member& member) {
    announceHalts(&member.isHalted);
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      changed_.wait(lock, [this] { return stops_ || !jobs_.empty(); });
      --idle_;
      if (stops_) break;
      std::optional<Waiting> next = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      next->runIfWanted();
      next.reset();
      lock.lock();
    }
    member.hasEnded = true;
  }

  const std::atomic<bool>& stops_;
  const unsigned mostThreads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> jobs_;
  size_t idle_ = 0;  // threads that wait for a job
  std::vector<std::unique_ptr<Member>> threads_;
};

class Background {
 public:
  bool add(BackgroundJob job, Urgency urgency, JobOwner owner) {
    // A process that was forked has no such threads.
    if (getpid() != owner_) return false;
    if (gettid() == owner_) stopWithThisThread();
    if (handlers_.fetch_add(1, std::memory_order_relaxed) < kMostHandlers) stopWithTheProcess();
    return lineFor(urgency).add(std::move(job), std::move(owner));
  }

  void stop() {
    if (getpid() != owner_ || stops_.exchange(true)) return;
    for (Line* line : {&ahead_, &improvements_, &awaited_})
      if (line->stop()) hasHalted_ = true;
  }

  bool processEnds() const { return stops_; }
  bool hasHalted() const { return hasHalted_; }

 private:
  /// For a process that another thread ends: each job brings a handler, later than the globals of the jobs before it.
  static constexpr int kMostHandlers = 64;
  static void stopWithTheProcess();
  static void stopWithThisThread();

  Line& lineFor(Urgency urgency) {
    switch (urgency) {
      case Urgency::Awaited: return awaited_;
      case Urgency::Improvement: return improvements_;
      case Urgency::Ahead: return ahead_;
    }
    return awaited_;
  }

  const pid_t owner_ = getpid();
  std::atomic<bool> stops_{false}, hasHalted_{false};
  std::atomic<int> handlers_{0};
  Line awaited_{stops_, mostAwaited()}, improvements_{stops_, 1}, ahead_{stops_, kMostAhead};
};

Background& background() {
  // Never destroyed: kernels may be launched while the process ends.
  static auto* theOnly = new Background;
  return *theOnly;
}

void Background::stopWithTheProcess() {
  std::atexit([] { background().stop(); });
}

void Background::stopWithThisThread() {
  struct End {
    ~End() { background().stop(); }
  };
  static thread_local End end;
  (void)end;
}

}  // namespace

bool inBackground(BackgroundJob job, Urgency urgency, JobOwner owner) {
  return background().add(std::move(job), urgency, std::move(owner));
}
bool processEnds() { return background().processEnds(); }
bool hasHalted() { return background().hasHalted(); }

}  // namespace ordito::machine
