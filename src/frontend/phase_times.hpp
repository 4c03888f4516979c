// The table that -time writes: a line for each command that was run.
#pragma once

#include <chrono>
#include <string>

#include "frontend/process.hpp"

namespace ordito::frontend {

class PhaseTimes {
 public:
  void add(const Command& command, const std::string& arch, std::chrono::duration<double, std::milli> time);

  /// Appends the table to a file, with its head if the file is empty; `-` is standard output. False if that failed.
  bool append(const std::string& file) const;

 private:
  std::string rows_;
};

}  // namespace ordito::frontend
