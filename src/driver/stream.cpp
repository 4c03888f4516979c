// See stream.hpp.
#include "driver/stream.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "machine/listener.hpp"

namespace ordito::driver {

namespace {

std::atomic<bool> leaving{false};  // the process ends: start nothing new
std::atomic<int> executingNow{0};

uint64_t nextStreamId() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

}  // namespace

// --- group

namespace {

/// It is held for less than a microsecond, by the host that submits and the stream's thread in turn: whoever finds it
/// taken looks again a few times before it sleeps.
struct AllGroups {
  AllGroups() {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(mutex.native_handle(), &kind);
    pthread_mutexattr_destroy(&kind);
  }
  std::mutex mutex;
  std::condition_variable progress;
};

AllGroups& allGroups() {
  static auto* all = new AllGroups;  // streams run until the process ends
  return *all;
}

}  // namespace

StreamGroup::StreamGroup()
    : mutex(allGroups().mutex),
      progress(allGroups().progress),
      legacy_(std::make_shared<Stream>(*this, 0, 0, nextStreamId())) {}

CUresult StreamGroup::error() const { return error_.load(std::memory_order_acquire); }

void StreamGroup::fail(CUresult result, std::string message) {
  std::lock_guard lock(mutex);
  if (error_.load(std::memory_order_relaxed) != CUDA_SUCCESS) return;
  errorMessage_ = std::move(message);
  error_.store(result, std::memory_order_release);
}

void StreamGroup::clearError() {
  std::lock_guard lock(mutex);
  error_ = CUDA_SUCCESS;
  errorMessage_.clear();
}

std::shared_ptr<Stream> StreamGroup::create(unsigned flags, int priority) {
  auto stream = std::make_shared<Stream>(*this, flags, priority, nextStreamId());
  std::lock_guard lock(mutex);
  if (streams_.size() >= pruneAt_) {
    std::erase_if(streams_, [](const auto& weak) { return weak.expired(); });
    pruneAt_ = std::max<size_t>(64, 2 * streams_.size());
  }
  streams_.push_back(stream);
  return stream;
}

std::vector<std::shared_ptr<Stream>> StreamGroup::live() {
  std::vector<std::shared_ptr<Stream>> all{legacy_};
  for (const auto& weak : streams_)
    if (auto stream = weak.lock()) all.push_back(std::move(stream));
  return all;
}

void StreamGroup::becomesBusy(Stream& stream) {
  stream.busyAt_ = busy_.size();
  busy_.push_back(stream.weak_from_this());
}

void StreamGroup::becomesIdle(Stream& stream) {
  const size_t at = stream.busyAt_;
  std::swap(busy_[at], busy_.back());
  if (const auto moved = busy_[at].lock()) moved->busyAt_ = at;
  busy_.pop_back();
}

/// Listeners hear of a wait for an idle stream, too; nobody else gains by it.
std::vector<std::shared_ptr<Stream>> StreamGroup::worthWaitingFor() {
  if (machine::hasListeners()) return live();
  std::vector<std::shared_ptr<Stream>> all;
  for (const auto& weak : busy_)
    if (auto stream = weak.lock()) all.push_back(std::move(stream));
  return all;
}

void StreamGroup::synchronizeAll(bool isPromised) {
  std::vector<std::shared_ptr<Stream>> all;  // before the lock: the last owner of a stream must not hold the mutex
  std::unique_lock lock(mutex);
  all = worthWaitingFor();
  std::vector<uint64_t> targets;
  for (const auto& stream : all) targets.push_back(stream->submitted_);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]->waitLocked(lock, targets[i]);
    if (isPromised) all[i]->raiseHostWaited(targets[i]);
  }
  if (isPromised && machine::hasListeners()) machine::raiseHostWaitedForAll(legacy_->id());
}

// --- stream

Stream::Stream(StreamGroup& group, unsigned flags, int priority, uint64_t id)
    : group_(group), flags_(flags), priority_(priority), id_(id) {}

/// The queue's memory is used again: what one thread takes from the heap and another gives back, both wait for.
void Stream::enqueue(Operation operation) {
  if (spare_.empty()) return void(queue_.push_back(std::move(operation)));
  spare_.front() = std::move(operation);
  queue_.splice(queue_.end(), spare_, spare_.begin());
}

Operation Stream::takeFront() {
  constexpr size_t kKept = 1024;
  Operation operation = std::move(queue_.front());
  if (spare_.size() < kKept)
    spare_.splice(spare_.begin(), queue_, queue_.begin());
  else
    queue_.pop_front();
  return operation;
}

/// The legacy default stream and the blocking streams wait for each other's earlier work.
void Stream::addImplicitOrder(Operation& operation) {
  const std::shared_ptr<Stream>& legacy = group_.legacy_;
  auto pending = [&](const std::shared_ptr<Stream>& stream) {
    if (stream->submitted_ > stream->completed_) operation.after.push_back({stream, stream->submitted_});
  };
  if (this != legacy.get()) {
    if (blocking()) pending(legacy);
    return;
  }
  for (const auto& weak : group_.busy_)
    if (auto stream = weak.lock(); stream && stream.get() != this && stream->blocking()) pending(stream);
}

bool Stream::ready(const Operation& operation) const {
  return std::all_of(operation.after.begin(), operation.after.end(),
                     [](const Point& point) { return point.stream->completed_ >= point.number; });
}

namespace {

uint64_t now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(time).count());
}

}  // namespace

// These and runFront are the only places that tell of a stream's operations.

machine::StreamEvent Stream::described(machine::StreamEvent event, uint64_t number) const {
  event.stream = id_;
  event.correlation = number;
  event.context = group_.legacy_->id();
  event.isBlocking = blocking();
  return event;
}

/// Under the lock: listeners hear of the operations of a context in the order in which they were submitted.
void Stream::raiseSubmitted(const Operation& operation) const {
  if (!machine::hasListeners()) return;
  std::vector<machine::StreamPoint> after;
  for (const Point& point : operation.after) after.push_back({point.stream->id_, point.number});
  machine::raiseSubmitted(described(operation.what, submitted_), after);
}

void Stream::raiseHostWaited(uint64_t number) const {
  if (number && machine::hasListeners()) machine::raiseHostWaited({id_, number});
}

Point Stream::submit(Operation operation, bool willWait) {
  Lock lock(group_.mutex);
  addImplicitOrder(operation);
  const bool isQuick = operation.quick;
  const bool runNow = isQuick && queue_.empty() && !executing_ && ready(operation);
  if (submitted_ == completed_) group_.becomesBusy(*this);
  Point point{shared_from_this(), ++submitted_};
  ++submittedUnawaited_;
  raiseSubmitted(operation);
  enqueue(std::move(operation));
  if (runNow) {
    runFront(lock);
  } else if (!willWait) {
    if (!threadRuns_) startThread();
    arrivals_.fetch_add(1, std::memory_order_relaxed);
    work_.notify_one();
    if (!isQuick) holdHost(lock, point.number);
  }
  return point;
}

Point Stream::submitWait(Point point) {
  Operation operation;
  operation.quick = true;
  operation.what.kind = machine::StreamEvent::Kind::EventWait;
  if (point.stream) operation.after.push_back(std::move(point));
  return submit(std::move(operation));
}

/// For a listener that must know what an operation has done before the host goes on. It is no wait that CUDA promises,
/// so nobody hears of it.
void Stream::holdHost(Lock& lock, uint64_t number) {
  constexpr std::chrono::milliseconds kLookAgain{2};  // the listener may change its mind without telling
  while (completed_ < number && !leaving && machine::isHostHeld()) group_.progress.wait_for(lock, kLookAgain);
}

void Stream::run(Operation operation, bool isPromised) {
  const Point point = submit(std::move(operation), true);
  Lock lock(group_.mutex);
  waitLocked(lock, point.number);
  if (isPromised) raiseHostWaited(point.number);
}

/// Runs the front operation, which is ready, outside the lock.
void Stream::runFront(Lock& lock) {
  executing_ = true;
  Operation operation = takeFront();
  lock.unlock();
  ++executingNow;
  bool dropped = leaving || (group_.error() != CUDA_SUCCESS && !operation.evenAfterError);
  if (operation.run && !dropped) {
    std::string message;
    const bool isHeard = machine::hasListeners();
    // Only one operation at a time is executed, so `completed_` is its own.
    machine::StreamEvent event = isHeard ? described(operation.what, completed_ + 1) : machine::StreamEvent{};
    if (isHeard) event.beginNs = now(), machine::raiseBegan(event);
    CUresult result = operation.run(message);
    if (result != CUDA_SUCCESS) group_.fail(result, std::move(message));
    if (isHeard) event.endNs = now(), machine::raise(event);
  }
  operation = {};  // what it owns goes before others see it completed
  --executingNow;
  lock.lock();
  executing_ = false;
  if (++completed_ == submitted_) group_.becomesIdle(*this);
  group_.progress.notify_all();
  if (!queue_.empty() && threadRuns_) work_.notify_one();
}

void Stream::waitLocked(Lock& lock, uint64_t number) {
  submittedUnawaited_ = 0;
  while (completed_ < number) {
    if (executing_ || queue_.empty()) {
      group_.progress.wait(lock);
      continue;
    }
    const Operation& front = queue_.front();
    auto unmet = std::find_if(front.after.begin(), front.after.end(),
                              [](const Point& point) { return point.stream->completed_ < point.number; });
    if (unmet == front.after.end()) {
      runFront(lock);
      continue;
    }
    // A copy: the wait may run and remove the operation. Dependencies point backwards in time, so this recursion ends.
    Point point = *unmet;  // NOLINT(performance-unnecessary-copy-initialization)
    point.stream->waitLocked(lock, point.number);
  }
}

void Stream::wait(uint64_t number) {
  Lock lock(group_.mutex);
  waitLocked(lock, number);
  raiseHostWaited(number);
}

void Stream::synchronize() {
  // To wait for the legacy default stream is to wait for the blocking streams, as whatever is submitted to it does.
  std::vector<std::pair<std::shared_ptr<Stream>, uint64_t>> all;  // before the lock: as in synchronizeAll
  all.emplace_back(shared_from_this(), 0);
  Lock lock(group_.mutex);
  if (this == group_.legacy_.get())
    for (auto& stream : group_.worthWaitingFor())
      if (stream.get() != this && stream->blocking()) all.emplace_back(std::move(stream), 0);
  for (auto& [stream, number] : all) number = stream->submitted_;
  for (const auto& [stream, number] : all) {
    stream->waitLocked(lock, number);
    stream->raiseHostWaited(number);
  }
}

bool Stream::reached(uint64_t number) {
  Lock lock(group_.mutex);
  const bool isThere = completed_ >= number;
  if (isThere) raiseHostWaited(number);
  return isThere;
}

bool Stream::idle() {
  Lock lock(group_.mutex);
  const bool isThere = completed_ >= submitted_;
  if (isThere) raiseHostWaited(submitted_);
  return isThere;
}

void Stream::close() {
  Lock lock(group_.mutex);
  closed_ = true;
  // Work that only a waiting host thread would have run needs the stream's own thread now.
  if (!queue_.empty() && !threadRuns_) startThread();
  work_.notify_one();
}

void Stream::startThread() {
  threadRuns_ = true;
  std::thread([self = shared_from_this()] { self->serve(); }).detach();
}

/// Where one call comes after the other and no host thread waits in between, the next one is looked for a while: to
/// wake a thread costs the caller microseconds, more than most calls do. A host that waits runs the queue itself, which
/// a thread that is awake would keep it from.
void Stream::awaitWork(Lock& lock) {
  constexpr unsigned kInARow = 4;
  constexpr std::chrono::microseconds kWhile{5};
  if (submittedUnawaited_ >= kInARow) {
    const uint64_t seen = arrivals_.load(std::memory_order_relaxed);
    lock.unlock();
    const auto end = std::chrono::steady_clock::now() + kWhile;
    while (arrivals_.load(std::memory_order_relaxed) == seen && std::chrono::steady_clock::now() < end)
      __builtin_ia32_pause();
    lock.lock();
    if (!queue_.empty() || closed_ || executing_) return;
  }
  work_.wait(lock);
}

void Stream::serve() {
  Lock lock(group_.mutex);
  while (true) {
    if (executing_) {
      group_.progress.wait(lock);
    } else if (queue_.empty()) {
      if (closed_) break;
      awaitWork(lock);
    } else if (!ready(queue_.front())) {
      group_.progress.wait(lock);
    } else {
      runFront(lock);
    }
  }
  threadRuns_ = false;
}

// --- events

void Event::record(const std::shared_ptr<Stream>& stream) {
  auto record = std::make_shared<Record>();
  Operation operation;
  operation.quick = true;
  operation.evenAfterError = true;
  operation.what.kind = machine::StreamEvent::Kind::EventRecord;
  operation.run = [record, shared = shared_, number = shared_ ? shared_->record() : 0](std::string&) {
    record->time = std::chrono::steady_clock::now();
    if (shared) shared->reach(number);
    return CUDA_SUCCESS;
  };
  std::lock_guard lock(mutex_);
  record->point = stream->submit(std::move(operation));
  record_ = std::move(record);
  captured_ = nullptr;
}

void Event::recordedAt(const Point& point, std::shared_ptr<Record> record) {
  std::lock_guard lock(mutex_);
  record->point = point;
  record_ = std::move(record);
  captured_ = nullptr;
}

std::shared_ptr<const CapturedPoint> Event::captured() const {
  std::lock_guard lock(mutex_);
  return captured_;
}

void Event::setCaptured(std::shared_ptr<const CapturedPoint> point) {
  std::lock_guard lock(mutex_);
  captured_ = std::move(point);
}

std::shared_ptr<Event::Record> Event::last() const {
  std::lock_guard lock(mutex_);
  return record_;
}

bool Event::recorded() const { return last() != nullptr; }

bool Event::reached() {
  auto record = last();
  const bool isHere = !record || record->point.stream->reached(record->point.number);
  return isHere && (!shared_ || shared_->isReached(shared_->last()));
}

void Event::wait() {
  if (auto record = last()) record->point.stream->wait(record->point.number);
  if (shared_) shared_->wait(shared_->last());
}

Point Event::point() const {
  auto record = last();
  return record ? record->point : Point{};
}

std::chrono::steady_clock::time_point Event::time() const { return last()->time; }

void abandonAllStreams() {
  leaving = true;
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (executingNow > 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

}  // namespace ordito::driver
