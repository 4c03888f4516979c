// How a random kernel is launched, and the file of those whose results a GPU gave.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "kernel_generator.hpp"
#include "run_case.hpp"

namespace ordito::fuzz {

/// Buffers with inputs that follow from the seed, for a grid and a block.
test::Case caseOf(machine::Dim3 grid, machine::Dim3 block, uint64_t seed);

/// The text with a rounding on every sum and product, which NVIDIA's compiler would else fuse.
std::string unfused(const std::string& text);

/// A kernel and what a GPU made of it, as a number that stands for all words of the output.
struct Recorded {
  uint64_t seed = 0, result = 0;
  machine::Dim3 grid, block;
  std::string text;
};

uint64_t resultOf(const test::Outcome& outcome);
Expected<> writeRecorded(const std::string& path, const std::vector<Recorded>& all);
Expected<std::vector<Recorded>> readRecorded(const std::string& path);

}  // namespace ordito::fuzz
