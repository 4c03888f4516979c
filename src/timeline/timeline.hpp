// The timeline: every operation of a stream with its begin and end on the host's steady clock, kept until the process
// ends or the device is reset and then written as JSON.
//
// On when ORDITO_TIMELINE names a file (`ordito run --timeline` and `ordito lab run` set it). The file has the form
// that the trace viewers of browsers read: an array of events, one of phase X ("complete") for each operation, a
// process for the device with a thread for each stream, and one for the host with its threads, if the program annotates
// by NVTX; times in microseconds since the first event. What the form has no place for stands in an event's `args`.
// Kernels run as fast as without: no counters are wanted.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "machine/report_listener.hpp"

namespace ordito::timeline {

/// An operation that has run.
struct Operation {
  std::string name;           // a kernel's, or what it was
  const char* category = "";  // kernel, copy, fill, host, graph, event, other
  uint64_t stream = 0, correlation = 0, bytes = 0;
  uint64_t submittedNs = 0, beginNs = 0, endNs = 0;
};

/// All that the file tells.
struct Happened {
  std::vector<Operation> operations;
  std::vector<machine::Annotation> annotations;  // ranges and marks of NVTX
  std::vector<machine::NameEvent> names;
};

/// What a copy between two addresses is called, by the memory that they are in.
std::string nameOfCopy(uint64_t to, uint64_t from);

class Recorder : public machine::ReportListener {
 public:
  explicit Recorder(std::string path) : ReportListener("ORDITO_TIMELINE", std::move(path)) {}

  bool wantsSites() const override { return false; }
  void operationSubmitted(const machine::StreamEvent& event, std::span<const machine::StreamPoint> after) override;
  void operationEnded(const machine::StreamEvent& event) override;
  bool wantsAnnotations() const override { return true; }
  void annotated(const machine::Annotation& annotation) override;
  void named(const machine::NameEvent& event) override;

 private:
  std::string report() const override;

  mutable std::mutex mutex_;
  Happened happened_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t>
      submitted_;  // when, by stream and number, of those that have not run
};

/// The process's recorder; null when nobody asked for a timeline.
machine::Listener* listener();

/// The JSON text of the report.
std::string toJson(Happened happened);

}  // namespace ordito::timeline
