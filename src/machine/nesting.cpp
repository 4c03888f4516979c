// See nesting.hpp. What one event sets off (a grid is complete, so its stream goes on, so its parent is complete …) is
// worked off by settle() from two lists, not by calls within calls.
#include "machine/nesting.hpp"

#include <chrono>
#include <thread>

namespace ordito::machine {

namespace {

/// More threads than this are never started to make room for launches.
constexpr unsigned kMostDrainers = 32;

/// This thread runs only what it can take from the nest, to make room.
thread_local bool drainsHere = false;

}  // namespace

/// A grid of the nest in the scheduler's hands.
class Nest::Started : public StartedGrid {
 public:
  Started(Child child, std::shared_ptr<NestedGrid> grid) : child_(std::move(child)), grid_(std::move(grid)) {
    launch = child_.launch;
    launch.parameters = child_.parameters.data();
    launch.nested = grid_.get();
    group = &grid_->nest();
  }

  void begun() override {
    start_ = std::chrono::steady_clock::now();
    hasBegun_ = true;
    if (child_.begun) child_.begun(launch);
    grid_->nest().begun();
  }

  void finished(GridResult result) override {
    if (!hasBegun_) begun();
    const auto wall = std::chrono::steady_clock::now() - start_;
    if (child_.ended) child_.ended(result, static_cast<uint64_t>(std::chrono::nanoseconds(wall).count()));
    const auto nest = grid_->nest().shared_from_this();  // the last grid of a nest would take it along
    nest->ended(grid_, std::move(result.fault));
  }

 private:
  Child child_;
  std::shared_ptr<NestedGrid> grid_;
  std::chrono::steady_clock::time_point start_;
  bool hasBegun_ = false;
};

GridResult Nest::run(GridLaunch launch) {
  auto root = std::make_shared<NestedGrid>(shared_from_this());
  launch.nested = root.get();
  GridResult result = scheduler_.run(launch);
  ended(root, std::move(result.fault));
  scheduler_.helpUntil(this, [this] { return done_.load(); });
  scheduler_.askAgain();  // the root may have been the last to end, and no drainer was told
  std::vector<std::thread> drainers;
  {
    Lock lock(mutex_);
    drainers.swap(drainerThreads_);
    result.fault = std::move(fault_);
  }
  for (std::thread& thread : drainers) thread.join();
  return result;
}

// --- launching

/// Waits until fewer launches are pending than the limit allows. Some thread must be able to start them: if all that
/// could are waiting here as well, one more is made. False when there are enough of those.
bool Nest::makeRoom(Lock& lock) {
  while (pending_ >= pendingLimit_ && !stopped_) {
    waitingDrainers_ += drainsHere;
    if (drainers_ == waitingDrainers_) {
      if (drainers_ == kMostDrainers) {
        waitingDrainers_ -= drainsHere;
        return false;
      }
      ++drainers_;
      drainerThreads_.emplace_back([nest = shared_from_this()] { nest->drain(); });
    }
    room_.wait(lock);
    waitingDrainers_ -= drainsHere;
  }
  return true;
}

void Nest::drain() {
  drainsHere = true;
  scheduler_.helpUntil(this, [this] { return done_.load(); });
}

Nest::Answer Nest::fireAndForget(NestedGrid& launcher, Child child) {
  if (launcher.depth_ >= kMaxDepth) return Answer::TooDeep;
  Lock lock(mutex_);
  if (!makeRoom(lock)) return Answer::TooMany;
  ++pending_;
  ++launcher.open_;
  startChild(std::move(child), launcher.shared_from_this(), nullptr);
  settle();
  return Answer::Done;
}

Nest::Answer Nest::launchTail(NestedGrid& launcher, Child child) {
  Lock lock(mutex_);
  if (launcher.tails_.size() >= pendingLimit_) return Answer::TooMany;
  launcher.tails_.push_back(std::move(child));
  return Answer::Done;
}

Nest::Answer Nest::launch(NestedGrid& launcher, const std::shared_ptr<DeviceStream>& stream, Child child) {
  if (launcher.depth_ >= kMaxDepth) return Answer::TooDeep;
  Lock lock(mutex_);
  if (!makeRoom(lock)) return Answer::TooMany;
  ++pending_;
  ++launcher.open_;
  stream->items_.push_back({std::move(child), nullptr, false, 0});
  movable_.push_back(stream);
  settle();
  return Answer::Done;
}

void Nest::record(NestedGrid& launcher, const std::shared_ptr<DeviceStream>& stream,
                  std::shared_ptr<DeviceEvent> event) {
  Lock lock(mutex_);
  ++launcher.open_;
  const uint64_t number = ++event->recorded;
  stream->items_.push_back({std::nullopt, std::move(event), true, number});
  movable_.push_back(stream);
  settle();
}

void Nest::wait(NestedGrid& launcher, const std::shared_ptr<DeviceStream>& stream, std::shared_ptr<DeviceEvent> event) {
  Lock lock(mutex_);
  ++launcher.open_;
  const uint64_t number = event->recorded;
  stream->items_.push_back({std::nullopt, std::move(event), false, number});
  movable_.push_back(stream);
  settle();
}

// --- what follows

void Nest::start(Child child, std::shared_ptr<NestedGrid> grid) {
  if (stopped_) {
    --pending_;
    closing_.push_back(std::move(grid));
    return;
  }
  scheduler_.start(std::make_unique<Started>(std::move(child), std::move(grid)));
}

void Nest::startChild(Child child, std::shared_ptr<NestedGrid> parent, std::shared_ptr<DeviceStream> stream) {
  auto grid = std::make_shared<NestedGrid>(shared_from_this());
  grid->depth_ = parent->depth_ + 1;
  grid->parent_ = std::move(parent);
  grid->stream_ = std::move(stream);
  start(std::move(child), std::move(grid));
}

/// The next tail launch of a grid of which all else is complete. It is no deeper than the grid itself.
void Nest::startTail(const std::shared_ptr<NestedGrid>& grid) {
  auto tail = std::make_shared<NestedGrid>(shared_from_this());
  tail->depth_ = grid->depth_;
  Child child = std::move(grid->tails_.front());
  grid->tails_.pop_front();
  if (grid->tails_.empty()) {
    tail->parent_ = std::move(grid->parent_);
    tail->stream_ = std::move(grid->stream_);
  } else {
    grid->open_ = 1;
    tail->parent_ = grid;
  }
  ++pending_;
  start(std::move(child), std::move(tail));
}

/// Goes on with a stream's items up to the first that takes time.
void Nest::advance(const std::shared_ptr<DeviceStream>& stream) {
  while (!stream->busy_ && !stream->items_.empty()) {
    DeviceStream::Item& item = stream->items_.front();
    if (item.grid) {
      stream->busy_ = true;
      startChild(std::move(*item.grid), stream->launcher_, stream);
    } else if (item.records) {
      item.event->reached = std::max(item.event->reached, item.record);
      for (auto& waiting : item.event->waiting) movable_.push_back(std::move(waiting));
      item.event->waiting.clear();
      closing_.push_back(stream->launcher_);
    } else if (item.event->reached < item.record) {
      item.event->waiting.push_back(stream);
      return;
    } else {
      closing_.push_back(stream->launcher_);
    }
    stream->items_.pop_front();
  }
}

/// One thing that the grid waited for has ended; perhaps it was the last.
void Nest::complete(const std::shared_ptr<NestedGrid>& grid) {
  if (--grid->open_ > 0) return;
  if (!grid->tails_.empty()) return startTail(grid);
  if (grid->stream_) {
    grid->stream_->busy_ = false;
    movable_.push_back(std::move(grid->stream_));
  }
  if (grid->parent_)
    closing_.push_back(std::move(grid->parent_));
  else
    done_ = true;
}

void Nest::settle() {
  for (;;) {
    if (!closing_.empty()) {
      auto grid = std::move(closing_.front());
      closing_.pop_front();
      complete(grid);
    } else if (!movable_.empty()) {
      auto stream = std::move(movable_.front());
      movable_.pop_front();
      advance(stream);
    } else {
      return;
    }
  }
}

void Nest::begun() {
  Lock lock(mutex_);
  if (pending_-- == pendingLimit_) room_.notify_all();
}

void Nest::ended(const std::shared_ptr<NestedGrid>& grid, std::optional<Fault> fault) {
  Lock lock(mutex_);
  if (fault) {
    stopped_ = true;
    room_.notify_all();
    if (!fault_) fault_ = std::move(fault);
  }
  closing_.push_back(grid);
  settle();
}

}  // namespace ordito::machine
