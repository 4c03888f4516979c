// What is measured of an instruction: a kernel in which each thread, again and again, loads the instruction's operands,
// executes it, and stores its results. Operands differ from round to round and results are kept, so that nothing can be
// hoisted or left out; all of it stays in the nearest cache.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "isa/isa.hpp"

namespace ordito::bench {

constexpr unsigned kBlock = 128;               // threads
constexpr unsigned kSlots = 4;                 // rounds after which operands repeat
constexpr unsigned kTuples = kBlock * kSlots;  // of operands
constexpr unsigned kCellBytes = 64 * kTuples;  // of memory that the instruction works on, in each space
constexpr unsigned kResultBytes = 64 * kCellBytes / 16;

/// One kernel: k(.param .u64 in, .param .u64 out, .param .u64 cells, .param .u32 rounds, …).
struct Subject {
  isa::Op op{};
  std::string name;              // "div.rn.f32", "atom.global.add.u32, one address"
  std::string text;              // PTX
  std::vector<std::byte> input;  // what `in` points at
};

constexpr size_t kThreadsOfLaunch = size_t{1} << 20;

/// A kernel whose threads each add two words of arrays in memory, for one round of kThreadsOfLaunch threads.
Subject additionInMemory();

/// Which values operands have.
enum class Values : unsigned char {
  Ordinary,  // numbers of everyday magnitude, random integers
  Corners,   // half of them the corners of their types, with infinities, NaNs and subnormal numbers
};

/// Why no kernel can measure a row; empty where one can.
std::string whyNotMeasured(isa::Op op);

/// The forms of a row, each in the ways that make a difference to it; `most` of them, spread evenly (0: all).
std::vector<Subject> subjectsOf(isa::Op op, Values values, size_t most);

}  // namespace ordito::bench
