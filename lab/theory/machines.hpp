// Flynn's machines at work on the same task, and what SIMT adds to SIMD. Architectural level: who fetches instructions
// and how many data they are applied to; an instruction takes one step.
//
// A program computes with one number: it may add, multiply, and jump, always or if the number is odd.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace theory {

enum class Op { add, multiply, jumpIfOdd, jump };
struct Instruction {
  Op op;
  long operand;  // of a jump: where it leads
};
using Program = std::vector<Instruction>;
using Numbers = std::vector<long>;

inline std::string classOf(bool manyInstructions, bool manyData) {
  return std::string(manyInstructions ? "MI" : "SI") + (manyData ? "MD" : "SD");
}

/// Twice the number and one.
inline Program straight() { return {{Op::multiply, 2}, {Op::add, 1}}; }

/// Odd numbers: times 3, plus 1. Even numbers: plus 7.
inline Program branching() {
  return {{Op::jumpIfOdd, 3}, {Op::add, 7}, {Op::jump, 5}, {Op::multiply, 3}, {Op::add, 1}};
}
inline long branchingByHand(long x) { return x % 2 != 0 ? 3 * x + 1 : x + 7; }

/// Executes one instruction and returns where to go on.
inline std::size_t execute(const Program& program, std::size_t at, long& number) {
  const Instruction& next = program[at];
  if (next.op == Op::add) number += next.operand;
  if (next.op == Op::multiply) number *= next.operand;
  const bool jumps = next.op == Op::jump || (next.op == Op::jumpIfOdd && number % 2 != 0);
  return jumps ? static_cast<std::size_t>(next.operand) : at + 1;
}

inline std::size_t runAlone(const Program& program, long& number) {
  std::size_t steps = 0;
  for (std::size_t at = 0; at < program.size(); ++steps) at = execute(program, at, number);
  return steps;
}

struct Result {
  Numbers numbers;
  std::size_t steps = 0;
  bool refused = false;
};

/// One unit: one number after the other.
inline Result sisd(const Program& program, Numbers numbers) {
  Result result;
  for (long& number : numbers) result.steps += runAlone(program, number);
  result.numbers = std::move(numbers);
  return result;
}

inline bool hasBranch(const Program& program) {
  return std::any_of(program.begin(), program.end(), [](const Instruction& i) { return i.op == Op::jumpIfOdd; });
}

/// One control unit, a lane for each number. All lanes do the same: a program with branches cannot run.
inline Result simd(const Program& program, Numbers numbers) {
  if (hasBranch(program)) return {{}, 0, true};
  Result result;
  for (std::size_t at = 0; at < program.size(); ++at, ++result.steps) {
    for (long& number : numbers) execute(program, at, number);
  }
  result.numbers = std::move(numbers);
  return result;
}

/// Many programs, each on the same number.
inline Result misd(const std::vector<Program>& programs, long number) {
  Result result;
  for (const Program& program : programs) {
    long own = number;
    result.steps = std::max(result.steps, runAlone(program, own));
    result.numbers.push_back(own);
  }
  return result;
}

/// A unit with a program of its own for each number.
inline Result mimd(const std::vector<Program>& programs, Numbers numbers) {
  Result result;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    result.steps = std::max(result.steps, runAlone(programs[i], numbers[i]));
  }
  result.numbers = std::move(numbers);
  return result;
}

/// One instruction in a step, as SIMD, but each thread has its own instruction counter: the step executes the lowest
/// counter, for all threads that are there.
inline Result simt(const Program& program, Numbers numbers) {
  Result result;
  std::vector<std::size_t> counters(numbers.size(), 0);
  for (;;) {
    const auto lowest = std::min_element(counters.begin(), counters.end());
    if (lowest == counters.end() || *lowest >= program.size()) break;
    const std::size_t at = *lowest;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (counters[i] == at) counters[i] = execute(program, at, numbers[i]);
    }
    ++result.steps;
  }
  result.numbers = std::move(numbers);
  return result;
}

}  // namespace theory
