// See background.hpp. The thread uses LLVM, whose globals are destroyed when the process ends. So it has to be gone by
// then: a handler that was registered later than those destructors runs before them.
#include "jit/background.hpp"

#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>

namespace ordito::jit {
namespace {

class Worker {
 public:
  void add(BackgroundJob job, AtExit atExit) {
    // A process that was forked has no such thread.
    if (getpid() != owner_) return;
    std::lock_guard lock(mutex_);
    if (stops_) return;
    jobs_.push_back({std::move(job), atExit});
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    changed_.notify_one();
  }

  void stop() {
    if (getpid() != owner_) return;
    {
      std::unique_lock lock(mutex_);
      std::erase_if(jobs_, [](const Job& job) { return job.atExit == AtExit::Drop; });
      idle_.wait_for(lock, kLongestFarewell, [this] { return jobs_.empty() && running_ != AtExit::Finish; });
      stops_ = true;
      jobs_.clear();
      changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    for (;;) {
      BackgroundJob job;
      {
        std::unique_lock lock(mutex_);
        running_ = AtExit::Drop;
        idle_.notify_one();
        changed_.wait(lock, [this] { return stops_ || !jobs_.empty(); });
        if (stops_) return;
        job = std::move(jobs_.front().work);
        running_ = jobs_.front().atExit;
        jobs_.pop_front();
      }
      job(stops_);
    }
  }

  struct Job {
    BackgroundJob work;
    AtExit atExit;
  };

  const pid_t owner_ = getpid();
  std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::deque<Job> jobs_;
  AtExit running_ = AtExit::Drop;  // of the job that has begun; Drop if none has
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

Worker& worker() {
  // Never destroyed: kernels may be launched while the process ends.
  static Worker* theOnly = [] {
    auto* made = new Worker;
    std::atexit([] { worker().stop(); });
    return made;
  }();
  return *theOnly;
}

}  // namespace

void inBackground(BackgroundJob job, AtExit atExit) { worker().add(std::move(job), atExit); }

}  // namespace ordito::jit
