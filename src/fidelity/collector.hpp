// Which of the executed instructions gave a GPU's very bits, by kernel and line, over all launches of a program.
//
// On when ORDITO_FIDELITY names a file (`ordito run --fidelity` sets it), which is written when the process ends.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fidelity/judge.hpp"
#include "machine/listener.hpp"

namespace ordito::fidelity {

/// A line of a kernel's PTX whose instruction ran.
struct Place {
  std::string kernel;  // demangled
  uint32_t ptxLine = 0;
  std::string instruction;  // its opcode
  std::string source;       // "a.cu:12"; empty if the module does not say
  Judgement judgement;
  uint64_t executions = 0;  // by warps
};

class Collector : public machine::Listener {
 public:
  explicit Collector(std::string path) : path_(std::move(path)) {}
  bool wantsSites() const override { return true; }
  void launchEnded(const machine::LaunchEvent& launch) override;
  void flush() override;
  /// By kernel and line.
  std::vector<Place> places() const;

 private:
  const std::string path_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, uint32_t>, Place> places_;
};

/// The process's collector; null when nobody asked for it.
machine::Listener* listener();

/// The JSON text that flush() writes: for each kind how many places ran and how often, and every place that is not
/// exact.
std::string toJson(const std::vector<Place>& places);

}  // namespace ordito::fidelity
