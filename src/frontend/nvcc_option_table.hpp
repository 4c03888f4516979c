// The table of nvcc's options: every one that `nvcc --help` of CUDA 11 to 13 documents, and what it does here.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "frontend/nvcc_options.hpp"

namespace ordito::frontend {

struct NvccOption {
  enum class Takes {
    Nothing,
    Value,
    List,  ///< Values separated by commas, or the option again.
  };

  std::string_view longName;
  std::string_view shortName;
  Takes takes;
  bool joined;  ///< The short name may run into its value: -O3, -lm.
  std::string_view help;
  Expected<void> (*apply)(NvccOptions&, const std::string&);
};

std::span<const NvccOption> nvccOptionTable();

/// Accepted because it cannot change what a program computes; its help says why.
bool hasNoEffect(const NvccOption& option);

/// Splits at commas; a backslash protects one.
std::vector<std::string> splitList(const std::string& text);

}  // namespace ordito::frontend
