// What is asked of a GPU once and of our engines ever after: kernels with inputs, and where in their output each
// instruction's results stand.
#pragma once

#include <string>
#include <vector>

#include "isa/isa.hpp"
#include "text_case.hpp"

namespace ordito::gpu {

/// Consecutive results of one type in an experiment's output.
struct Results {
  isa::Type type{};
  size_t offset = 0, count = 0;  // in bytes; in elements
  size_t bytes() const { return count * width(); }
  size_t width() const { return isa::isPredicate(type) ? 1 : isa::bytes(type); }
};

/// One instruction of an experiment. Its results follow each other without a gap.
struct Item {
  isa::Op op{};
  std::string key;   // unique among the items of a row
  std::string code;  // its PTX, for reports
  std::vector<Results> results;
  size_t begin() const { return results.front().offset; }
  size_t bytes() const { return results.back().offset + results.back().bytes() - begin(); }
};

/// A kernel that executes some instructions; the last parameter of the case is the output, in words of 32 bits.
struct Experiment {
  std::string name;
  test::TextTest test;
  test::Case launch;
  std::vector<Item> items;
  std::vector<std::vector<uint64_t>> inputs;  // by operand, one value for each tuple: for reports
  uint64_t fingerprint = 0;                   // of the inputs: an answer given to others is no answer
};

/// How lanes are given their operands: each its own, or all of a warp the same (which engines compile differently).
enum class Spread : uint8_t { PerLane, Uniform };

/// The pure rows: registers in, registers out.
std::vector<Experiment> pureExperiments(isa::Op op, Spread spread);
/// shfl, vote, match, redux and activemask, in whole warps and in parts of one.
std::vector<Experiment> warpExperiments(isa::Op op);
/// Loads, stores and atomics in every space.
std::vector<Experiment> memoryExperiments(isa::Op op);
/// Products and moves of matrices by a warp.
std::vector<Experiment> matrixExperiments(isa::Op op);

/// Says whether an answer is one to this item: it changes with the inputs and with what is stored.
uint64_t fingerprintOf(const Experiment& experiment, const Item& item);

/// All that there are for a row.
std::vector<Experiment> experimentsOf(isa::Op op, Spread spread);

/// A buffer of the launch.
test::Buffer bufferOf(std::string name, isa::Type type, std::vector<uint64_t> values);
/// The output of a launch as the bytes that it is in memory.
std::vector<uint8_t> outputBytes(const std::vector<uint64_t>& words);

}  // namespace ordito::gpu
