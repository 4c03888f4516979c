// Calls that have failed and whose error the program has not asked for.
#pragma once

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "check/finding.hpp"
#include "machine/events.hpp"

namespace ordito::check {

class ApiErrors {
 public:
  /// A bad free is told at once, since nobody probes with one.
  void failed(const machine::FailedCallEvent& event, Findings& findings);
  /// The calling thread has looked at what its calls have answered.
  void read();
  /// The process ends.
  void finish(Findings& findings);

 private:
  struct Failure {
    std::string error, message;
    CallSite site;
  };
  std::map<std::thread::id, std::vector<Failure>> unread_;
};

}  // namespace ordito::check
