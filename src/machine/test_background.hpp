// For tests: holds up the thread that improves code, and waits for it.
#pragma once

#include <future>

#include "machine/background.hpp"

namespace ordito::machine {

/// Keeps the thread of improvements at work until it goes.
class BusyImprover {
 public:
  BusyImprover() {
    inBackground([until = done_.get_future().share()] { until.wait(); }, Urgency::Improvement);
  }
  ~BusyImprover() { done_.set_value(); }
  BusyImprover(const BusyImprover&) = delete;
  BusyImprover& operator=(const BusyImprover&) = delete;

 private:
  std::promise<void> done_;
};

/// Returns when the jobs before it have been done or dropped.
inline void awaitImprovements() {
  std::promise<void> done;
  inBackground([&] { done.set_value(); }, Urgency::Improvement);
  done.get_future().wait();
}

}  // namespace ordito::machine
