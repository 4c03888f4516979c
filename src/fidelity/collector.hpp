// Which of the executed instructions gave a GPU's very bits, by kernel and line, over all launches of a program.
//
// On when ORDITO_FIDELITY names a file (`ordito run --fidelity` sets it), which is written when the process ends.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fidelity/judge.hpp"
#include "machine/report_listener.hpp"

namespace ordito::fidelity {

/// A line of a kernel's PTX whose instruction ran.
struct Place : machine::KernelLine {
  Judgement judgement;
  uint64_t executions = 0;  // by warps
};

class Collector : public machine::ReportListener {
 public:
  explicit Collector(std::string path) : ReportListener("ORDITO_FIDELITY", std::move(path)) {}
  void launchEnded(const machine::LaunchEvent& launch) override;
  /// By kernel and line.
  std::vector<Place> places() const;

 private:
  std::string report() const override;

  mutable std::mutex mutex_;
  machine::KernelLines<Place> places_;
};

/// The process's collector; null when nobody asked for it.
machine::Listener* listener();

/// The JSON text of the report: for each kind how many places ran and how often, and every place that is not
/// exact.
std::string toJson(const std::vector<Place>& places);

}  // namespace ordito::fidelity
