// Which operations of streams come before which: by CUDA's rules, whatever schedule ran.
//
// An operation is behind another if its stream, an event, the legacy default stream's order or a wait of the host puts
// it there. Each operation stands for a point of its stream, so what it is behind is one number for each other stream:
// a vector clock. Within a stream it changes rarely, so a stream keeps only where it did. The host's threads count as
// one, since what they tell each other is not seen.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>

#include "machine/events.hpp"

namespace ordito::check {

class Order {
 public:
  void submitted(const machine::StreamEvent& event, std::span<const machine::StreamPoint> after);
  /// Whatever is submitted from now on is behind it.
  void hostWaited(machine::StreamPoint point);
  void hostWaitedForAll(uint64_t context);
  /// All up to this operation have ended: nobody will ask what those before it are behind.
  void forget(machine::StreamPoint point);

  bool isBefore(machine::StreamPoint earlier, machine::StreamPoint later) const;
  bool isBeforeHost(machine::StreamPoint point) const;

 private:
  using Clock = std::unordered_map<uint64_t, uint64_t>;  // by stream, the number up to which
  struct Stream {
    uint64_t context = 0, last = 0;
    std::map<uint64_t, Clock> behind;  // what its operations from this number on are behind in other streams
  };

  static bool join(Clock& clock, const Clock& other);
  static bool join(Clock& clock, machine::StreamPoint point);
  /// Of the operation itself without its own stream; null if it is behind nothing.
  const Clock* clockOf(machine::StreamPoint point) const;
  bool joinAll(Clock& clock, machine::StreamPoint point) const;

  std::unordered_map<uint64_t, Stream> streams_;
  std::unordered_map<uint64_t, Clock> blocking_;  // by context: all that its blocking streams have had so far
  Clock host_;
};

}  // namespace ordito::check
