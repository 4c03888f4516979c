// Streams: queues of operations that run asynchronously to the host, in CUDA's order.
//
// Each stream numbers its operations 1, 2, 3 …; `completed` says how many have run. Every ordering rule is a dependency
// "not before operation n of stream s has completed", fixed when the operation is submitted: an event is such a pair,
// and so is the legacy default stream's implicit order (its operations wait for everything submitted to blocking
// streams before, theirs for what the legacy stream had before). Whoever waits for a stream helps: a host thread in
// cuStreamSynchronize runs the queue itself when the stream's own thread has not started yet, which makes "launch,
// synchronize" cost no hand-over.
//
// One mutex guards the streams of all contexts, since one may wait for another's; operations run outside the mutex.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda.h"
#include "driver/shared_event.hpp"
#include "machine/events.hpp"

namespace ordito::driver {

class Stream;

/// Operation `number` of `stream`.
struct Point {
  std::shared_ptr<Stream> stream;
  uint64_t number = 0;
};

/// The state that the streams of one context share.
class StreamGroup {
 public:
  StreamGroup();

  std::mutex& mutex;                  // everybody's
  std::condition_variable& progress;  // some operation has completed, of any group

  /// The first failure of an operation; later operations are dropped.
  CUresult error() const;
  const std::string& errorMessage() const { return errorMessage_; }  // stable once error() is set
  void fail(CUresult result, std::string message);
  void clearError();

  const std::shared_ptr<Stream>& legacy() const { return legacy_; }
  std::shared_ptr<Stream> create(unsigned flags, int priority);
  /// Waits until everything submitted to any stream so far has completed. `isPromised`: as for Stream::run.
  void synchronizeAll(bool isPromised = true);

 private:
  friend class Stream;
  std::vector<std::shared_ptr<Stream>> live();
  std::vector<std::shared_ptr<Stream>> worthWaitingFor();
  void becomesBusy(Stream& stream);
  void becomesIdle(Stream& stream);

  std::vector<std::weak_ptr<Stream>> streams_;
  size_t pruneAt_ = 64;  // streams_ is rid of those that are gone when it has this many
  // Those with something to do, the legacy stream among them: what an operation of the legacy stream has to wait for is
  // found here, so that it does not cost more where thousands of streams are idle.
  std::vector<std::weak_ptr<Stream>> busy_;
  std::shared_ptr<Stream> legacy_;
  std::atomic<CUresult> error_{CUDA_SUCCESS};
  std::string errorMessage_;
};

/// Something to do; in `message` it says why it failed.
using Work = std::function<CUresult(std::string& message)>;

struct Operation {
  Work run;  // null: nothing to do but to wait for the dependencies
  std::vector<Point> after;
  bool evenAfterError = false;
  bool quick = false;           // may run on the submitting thread when nothing is ahead of it
  machine::StreamEvent what{};  // what listeners hear of it
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(StreamGroup& group, unsigned flags, int priority, uint64_t id);

  /// Appends an operation. `willWait`: the caller waits for it right away, so the stream's thread need not wake up.
  Point submit(Operation operation, bool willWait = false);
  /// Appends an operation that only waits: for what the stream has to wait for anyway, and for `point`.
  Point submitWait(Point point = {});
  /// Appends and waits. `isPromised`: by CUDA's rules the host may rely on it.
  void run(Operation operation, bool isPromised = true);
  void wait(uint64_t number);
  void synchronize();
  bool reached(uint64_t number);
  bool idle();
  /// No more operations will be submitted; those there are still run.
  void close();

  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  uint64_t id() const { return id_; }
  StreamGroup& group() const { return group_; }
  bool blocking() const { return !(flags_ & CU_STREAM_NON_BLOCKING); }

 private:
  friend class StreamGroup;
  using Lock = std::unique_lock<std::mutex>;

  void enqueue(Operation operation);
  Operation takeFront();
  void addImplicitOrder(Operation& operation);
  bool ready(const Operation& operation) const;
  void runFront(Lock& lock);
  machine::StreamEvent described(machine::StreamEvent event, uint64_t number) const;
  void raiseSubmitted(const Operation& operation) const;
  void raiseHostWaited(uint64_t number) const;
  void holdHost(Lock& lock, uint64_t number);
  void waitLocked(Lock& lock, uint64_t number);
  void serve();
  void awaitWork(Lock& lock);
  void startThread();

  StreamGroup& group_;
  const unsigned flags_;
  const int priority_;
  const uint64_t id_;
  // Guarded by the mutex:
  std::list<Operation> queue_, spare_;  // `spare_`: emptied ones for the queue
  uint64_t submitted_ = 0, completed_ = 0;
  size_t busyAt_ = 0;  // its place in the group's list while it has something to do
  bool executing_ = false, threadRuns_ = false, closed_ = false;
  unsigned submittedUnawaited_ = 0;  // since a host thread last waited for the stream
  std::condition_variable work_;
  std::atomic<uint64_t> arrivals_{0};  // changes when there is more to do; read without the mutex
};

struct CapturedPoint;

/// An event: the point of its last record, and when that was reached.
class Event {
 public:
  struct Record {
    Point point;
    std::chrono::steady_clock::time_point time;
  };

  /// `shared`: what other processes see of it, if they may.
  explicit Event(unsigned flags, const StreamGroup* group = nullptr, std::shared_ptr<SharedEvent> shared = nullptr)
      : flags_(flags), group_(group), shared_(std::move(shared)) {}

  void record(const std::shared_ptr<Stream>& stream);
  /// The event is recorded by an operation of somebody else's, which sets the record's time.
  void recordedAt(const Point& point, std::shared_ptr<Record> record);
  bool recorded() const;
  /// Where the last record stands in a graph that is being captured; null when it is in a stream.
  std::shared_ptr<const CapturedPoint> captured() const;
  void setCaptured(std::shared_ptr<const CapturedPoint> point);
  /// True also for an event never recorded.
  bool reached();
  void wait();
  /// Where the last record stands; a null stream if there is none.
  Point point() const;
  /// Of the context that it was made in; null if it was made outside of all.
  const StreamGroup* group() const { return group_; }
  const std::shared_ptr<SharedEvent>& shared() const { return shared_; }
  bool timed() const { return !(flags_ & CU_EVENT_DISABLE_TIMING); }
  /// Valid once reached.
  std::chrono::steady_clock::time_point time() const;

 private:
  std::shared_ptr<Record> last() const;

  const unsigned flags_;
  const StreamGroup* const group_;
  const std::shared_ptr<SharedEvent> shared_;
  mutable std::mutex mutex_;
  std::shared_ptr<Record> record_;
  std::shared_ptr<const CapturedPoint> captured_;
};

/// Waits a bounded time for what runs now and drops what is queued: for the end of the process.
void abandonAllStreams();

}  // namespace ordito::driver
