// See order.hpp. The rules are those of the CUDA guide's chapters on streams and events and of the manual's page
// "Stream synchronization behavior".
#include "check/order.hpp"

#include <algorithm>
#include <iterator>

namespace ordito::check {

using machine::StreamEvent;
using machine::StreamPoint;

bool Order::join(Clock& clock, StreamPoint point) {
  uint64_t& number = clock[point.stream];
  if (number >= point.number) return false;
  number = point.number;
  return true;
}

bool Order::join(Clock& clock, const Clock& other) {
  bool hasGrown = false;
  for (const auto& [stream, number] : other) hasGrown |= join(clock, StreamPoint{stream, number});
  return hasGrown;
}

const Order::Clock* Order::clockOf(StreamPoint point) const {
  const auto stream = streams_.find(point.stream);
  if (stream == streams_.end()) return nullptr;
  const auto& behind = stream->second.behind;
  const auto later = behind.upper_bound(point.number);
  return later == behind.begin() ? nullptr : &std::prev(later)->second;
}

bool Order::joinAll(Clock& clock, StreamPoint point) const {
  bool hasGrown = join(clock, point);
  if (const Clock* const its = clockOf(point)) hasGrown |= join(clock, *its);
  return hasGrown;
}

void Order::submitted(const StreamEvent& event, std::span<const StreamPoint> after) {
  const StreamPoint here{event.stream, event.correlation};
  const bool isLegacy = event.stream == event.context;
  Clock clock;
  if (const Clock* const before = clockOf(here)) clock = *before;
  bool hasGrown = join(clock, host_);
  for (const StreamPoint& point : after) hasGrown |= joinAll(clock, point);
  if (isLegacy) {
    hasGrown |= join(clock, blocking_[event.context]);
  } else if (event.isBlocking) {
    const auto legacy = streams_.find(event.context);
    if (legacy != streams_.end()) hasGrown |= joinAll(clock, {event.context, legacy->second.last});
  }
  if (!isLegacy && event.isBlocking) {
    join(blocking_[event.context], clock);
    join(blocking_[event.context], here);
  }
  Stream& stream = streams_[event.stream];
  stream.context = event.context;
  stream.last = event.correlation;
  if (hasGrown) stream.behind[event.correlation] = std::move(clock);
}

void Order::hostWaited(StreamPoint point) { joinAll(host_, point); }

void Order::forget(StreamPoint point) {
  auto& behind = streams_[point.stream].behind;
  const auto later = behind.upper_bound(point.number);
  if (later != behind.begin()) behind.erase(behind.begin(), std::prev(later));
}

void Order::hostWaitedForAll(uint64_t context) {
  for (const auto& [number, stream] : streams_)
    if (stream.context == context) joinAll(host_, {number, stream.last});
}

bool Order::isBefore(StreamPoint earlier, StreamPoint later) const {
  if (earlier.stream == later.stream) return earlier.number < later.number;
  const Clock* const clock = clockOf(later);
  if (!clock) return false;
  const auto known = clock->find(earlier.stream);
  return known != clock->end() && known->second >= earlier.number;
}

bool Order::isBeforeHost(StreamPoint point) const {
  const auto known = host_.find(point.stream);
  return known != host_.end() && known->second >= point.number;
}

}  // namespace ordito::check
