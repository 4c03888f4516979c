// `ordito check` as a function: for the command itself, and for compute-sanitizer's name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ordito::cli {

struct CheckOptions {
  std::string gpu, json, failOn = "error", suppressions, baseline, newBaseline, sarif, junit;
  std::string log;              // where the text goes; empty: stderr
  std::string format = "text";  // or "compute-sanitizer"
  bool wantsLeaks = false, wantsNotes = false, isForGithub = false;
  bool skipsValues = false;                            // without the rules that follow values: kernels are compiled
  std::optional<unsigned> kernelTimeout, hangTimeout;  // seconds; 0: none
  int exitCode = 99;                                   // if there is a finding as bad as `failOn`
  size_t limit = 100;                                  // findings that are printed
  std::function<bool(const std::string& rule)> takes;  // null: all rules
};

/// Runs the program; its own status, or that of the findings.
int check(const CheckOptions& options, const std::vector<std::string>& program);

/// The command line of compute-sanitizer.
int runComputeSanitizer(const std::vector<std::string>& words);

}  // namespace ordito::cli
