// What an operating system and a processor offer to run things side by side: processes, threads, their states, tasks
// that wait for each other, messages, and caches that share lines.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

namespace theory {

/// What the parent sees of a variable that a child process sets to `value`, and what the child itself saw.
struct Seen {
  int byParent;
  int byChild;
};

inline Seen writeInChildProcess(int before, int value) {
  volatile int variable = before;
  const pid_t child = fork();
  if (child == 0) {
    variable = value;
    _exit(variable);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {variable, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

inline int writeInThread(int before, int value) {
  int variable = before;
  std::thread([&] { variable = value; }).join();
  return variable;
}

enum class State { created, executable, running, waiting, finished };

/// A thread's control block: its state, which changes only as it may.
class ThreadControl {
 public:
  State state() const { return state_; }
  bool change(State next) {
    if (!mayChange(state_, next)) return false;
    state_ = next;
    return true;
  }
  static bool mayChange(State from, State to) {
    switch (from) {
      case State::created: return to == State::executable;
      case State::executable: return to == State::running;
      case State::running: return to == State::executable || to == State::waiting || to == State::finished;
      case State::waiting: return to == State::executable;
      case State::finished: return false;
    }
    return false;
  }

 private:
  State state_ = State::created;
};

/// Tasks with the tasks that must have ended before; each runs on a thread of its own as soon as it may. Returns the
/// order in which they ended.
inline std::vector<std::size_t> runTasks(const std::vector<std::function<void()>>& tasks,
                                         const std::vector<std::vector<std::size_t>>& before) {
  std::mutex mutex;
  std::condition_variable ended;
  std::vector<bool> done(tasks.size(), false);
  std::vector<std::size_t> order;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto mayBegin = [&] {
        for (const std::size_t k : before[i]) {
          if (!done[k]) return false;
        }
        return true;
      };
      {
        std::unique_lock lock(mutex);
        ended.wait(lock, mayBegin);
      }
      tasks[i]();
      const std::lock_guard lock(mutex);
      done[i] = true;
      order.push_back(i);
      ended.notify_all();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return order;
}

/// A mailbox: what is sent is received once, in order.
class Mailbox {
 public:
  void send(long message) {
    const std::lock_guard lock(mutex_);
    messages_.push(message);
    arrived_.notify_one();
  }
  long receive() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !messages_.empty(); });
    const long message = messages_.front();
    messages_.pop();
    return message;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::queue<long> messages_;
};

constexpr std::size_t kWorkers = 4;

/// The sum of the numbers by workers that add their parts to one variable.
inline long sumShared(const std::vector<long>& numbers) {
  long sum = 0;
  std::mutex mutex;
  std::vector<std::thread> workers;
  for (std::size_t w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&, w] {
      long own = 0;
      for (std::size_t i = w; i < numbers.size(); i += kWorkers) own += numbers[i];
      const std::lock_guard lock(mutex);
      sum += own;
    });
  }
  for (std::thread& worker : workers) worker.join();
  return sum;
}

/// The same by workers that see nothing of each other: they receive their numbers and send their sums.
inline long sumByMessages(const std::vector<long>& numbers) {
  std::array<Mailbox, kWorkers> inboxes;
  Mailbox sums;
  std::vector<std::thread> workers;
  for (Mailbox& inbox : inboxes) {
    workers.emplace_back([&inbox, &sums] {
      long own = 0;
      for (long left = inbox.receive(); left > 0; --left) own += inbox.receive();
      sums.send(own);
    });
  }
  for (std::size_t w = 0; w < kWorkers; ++w) {
    inboxes[w].send(static_cast<long>((numbers.size() + kWorkers - 1 - w) / kWorkers));
    for (std::size_t i = w; i < numbers.size(); i += kWorkers) inboxes[w].send(numbers[i]);
  }
  long sum = 0;
  for (std::size_t w = 0; w < kWorkers; ++w) sum += sums.receive();
  for (std::thread& worker : workers) worker.join();
  return sum;
}

/// How often a core's copy of a cache line of 64 bytes is invalidated when cores write in turn, each its own counter,
/// `stride` bytes apart.
inline std::size_t invalidations(std::size_t cores, std::size_t rounds, std::size_t stride) {
  std::vector<long> owner(cores * stride / 64 + 1, -1);  // of each line
  std::size_t invalidated = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t core = 0; core < cores; ++core) {
      long& holder = owner[core * stride / 64];
      if (holder >= 0 && holder != static_cast<long>(core)) ++invalidated;
      holder = static_cast<long>(core);
    }
  }
  return invalidated;
}

}  // namespace theory
