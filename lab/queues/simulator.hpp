// When the operations of streams begin and end on a device with hardware queues, by the courses' rules.
//
// Every operation enters a queue in the order in which the host issues it: copies to the device one queue, copies back
// another, kernels one for all streams (Fermi) or one of 32 (Hyper-Q, stream modulo 32). The head of a queue is
// dispatched when the operation before it in its stream has completed and there is room: the copy engine of its
// direction is idle; the device has enough of itself left for a kernel, and not too many grids are running. A device
// with one copy engine has one queue for copies, and one without never copies while it computes.
#pragma once

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace queues {

enum class Kind { toDevice, kernel, toHost };

struct Operation {
  std::string name;
  int stream = 0;
  Kind kind = Kind::kernel;
  int duration = 1;
  double share = 1.0 / 64;  // of the device, for a kernel
  bool isAlone = false;     // overlaps nothing, as the courses say of copies of memory that is not pinned
};
using Operations = std::vector<Operation>;

struct Device {
  int kernelQueues = 1;
  int grids = 16;
  int copyEngines = 2;  // 1: for both directions; 0: the device copies or computes
};

constexpr Device kFermi = {1, 16};
constexpr Device kHyperQ = {32, 32};

struct Run {
  int begin = -1;
  int end = -1;
};

class Simulator {
 public:
  Simulator(const Device& device, const Operations& issued)
      : device_(device),
        operations_(issued),
        runs_(issued.size()),
        queues_(2 + static_cast<std::size_t>(device.kernelQueues)) {
    for (std::size_t i = 0; i < issued.size(); ++i) queues_[queueOf(issued[i])].push_back(i);
  }

  std::vector<Run> run() {
    while (waiting()) {
      while (dispatchSome()) {
      }
      now_ = nextEnd();
    }
    return runs_;
  }

 private:
  std::size_t queueOf(const Operation& operation) const {
    if (operation.kind == Kind::toDevice || (operation.kind == Kind::toHost && device_.copyEngines < 2)) return 0;
    if (operation.kind == Kind::toHost) return 1;
    return 2 + static_cast<std::size_t>(operation.stream % device_.kernelQueues);
  }

  bool waiting() const {
    return std::any_of(queues_.begin(), queues_.end(), [](const auto& queue) { return !queue.empty(); });
  }
  bool isRunning(std::size_t i) const { return runs_[i].begin >= 0 && runs_[i].end > now_; }

  /// True if an operation could begin.
  bool dispatchSome() {
    bool any = false;
    for (auto& queue : queues_) {
      if (queue.empty() || !streamAllows(queue.front()) || !deviceAllows(queue.front())) continue;
      runs_[queue.front()] = {now_, now_ + operations_[queue.front()].duration};
      queue.pop_front();
      any = true;
    }
    return any;
  }

  bool streamAllows(std::size_t i) const {
    for (std::size_t k = 0; k < i; ++k) {
      const bool before =
          operations_[k].stream == operations_[i].stream || operations_[k].isAlone || operations_[i].isAlone;
      if (before && (runs_[k].begin < 0 || runs_[k].end > now_)) return false;
    }
    return true;
  }

  bool shareAnEngine(Kind a, Kind b) const {
    const bool areCopies = a != Kind::kernel && b != Kind::kernel;
    return a == b || device_.copyEngines == 0 || (areCopies && device_.copyEngines == 1);
  }

  bool deviceAllows(std::size_t i) const {
    int grids = 0;
    double share = 0;
    for (std::size_t k = 0; k < operations_.size(); ++k) {
      if (!isRunning(k)) continue;
      if (!shareAnEngine(operations_[k].kind, operations_[i].kind)) continue;
      if (operations_[i].kind != Kind::kernel) return false;
      ++grids;
      share += operations_[k].share;
    }
    return grids < device_.grids && share + operations_[i].share < 1 + 1e-9;
  }

  int nextEnd() const {
    int next = -1;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (isRunning(i) && (next < 0 || runs_[i].end < next)) next = runs_[i].end;
    }
    return next;
  }

  Device device_;
  Operations operations_;
  std::vector<Run> runs_;
  std::vector<std::deque<std::size_t>> queues_;
  int now_ = 0;
};

inline int makespan(const std::vector<Run>& runs) {
  int last = 0;
  for (const Run& run : runs) last = std::max(last, run.end);
  return last;
}

inline int makespan(const Device& device, const Operations& issued) {
  return makespan(Simulator(device, issued).run());
}

/// Calls `visit` with every order of issue that keeps the order within each stream.
template <class Visit>
void forEachOrder(const std::vector<Operations>& streams, const Visit& visit) {
  std::vector<std::size_t> taken(streams.size(), 0);
  Operations order;
  auto extend = [&](auto&& self) -> void {
    bool whole = true;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      if (taken[s] == streams[s].size()) continue;
      whole = false;
      order.push_back(streams[s][taken[s]++]);
      self(self);
      order.pop_back();
      --taken[s];
    }
    if (whole) visit(order);
  };
  extend(extend);
}

}  // namespace queues
