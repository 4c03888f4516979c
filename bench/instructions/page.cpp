#include "page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>

namespace ordito::bench {

namespace {

constexpr const char* kHead = R"(# What instructions cost

Written by `bench/instructions/run` on {machine}

One kernel for each form of each instruction of the table ([isa.md](isa.md)): every thread loads the operands, executes
the instruction and stores the results, again and again, with other operands each time, all from the nearest cache. The
time is CPU time of one warp and one instruction with its loads and stores; in parentheses a multiple of the kernel
of `add.s32`, {addition:.1f} ns. Where each of a million threads adds two elements of arrays in memory, as
programs do, a warp takes {memory:.1f} ns. Operands are ordinary: floats of magnitudes 1/4 to 4, integers of all sizes.

)";

/// An instruction that multiplies matrices is as many operations as they take of a warp: m16n8k16 is 64. An atomic
/// operation on a vector is as many as it has elements.
double operations(const std::string& name) {
  unsigned m = 0, n = 0, k = 0;
  const bool isAtomic = name.starts_with("atom.") || name.starts_with("red.");
  if (const size_t at = name.find(".v"); isAtomic && at != std::string::npos && std::isdigit(name[at + 2]))
    return name[at + 2] - '0';
  const size_t at = name.starts_with("mma") || name.starts_with("wmma.mma") ? name.find(".m") : std::string::npos;
  if (at == std::string::npos) return 1;
  const size_t shape = name.find_first_of("0123456789", at);
  if (shape == std::string::npos || std::sscanf(name.c_str() + shape - 1, "m%un%uk%u", &m, &n, &k) != 3) return 1;
  // A warp makes four products m8n8k4 of halves (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16").
  const bool isFour = name.starts_with("mma") && k == 4 && n == 8 && m == 8 && name.find(".f16") != std::string::npos;
  return std::max(1.0, double(m) * n * k * (isFour ? 4 : 1) / 32);
}

std::string number(double ns) { return ns < 10 ? fmt::format("{:.1f}", ns) : fmt::format("{:.0f}", ns); }
std::string multiple(double ns, double addition) { return fmt::format("{} ({})", number(ns), number(ns / addition)); }

bool byTime(const Cost& a, const Cost& b) { return a.nanoseconds < b.nanoseconds; }

std::string table(const std::vector<RowCosts>& rows, double addition) {
  std::string s = "| row | instruction | kernels | median, ns | slowest, ns | which |\n|---|---|---|---|---|---|\n";
  for (const RowCosts& row : rows) {
    if (row.costs.empty()) continue;
    std::vector<Cost> costs = row.costs;
    std::sort(costs.begin(), costs.end(), byTime);
    s += fmt::format("| {} | `{}` | {} | {} | {} | `{}` |\n", isa::info(row.op).name, isa::info(row.op).form.mnemonic,
                     costs.size(), multiple(costs[costs.size() / 2].nanoseconds, addition),
                     multiple(costs.back().nanoseconds, addition), costs.back().name);
  }
  return s;
}

/// Rows with kernels above kLimit by `times`, the slowest first.
template <class Times>
std::string above(const std::vector<RowCosts>& rows, Times times) {
  std::vector<std::pair<double, std::string>> found;
  for (const RowCosts& row : rows) {
    const auto count =
        std::count_if(row.costs.begin(), row.costs.end(), [&](const Cost& c) { return times(c) > kLimit; });
    if (!count) continue;
    const Cost& worst = *std::max_element(row.costs.begin(), row.costs.end(),
                                          [&](const Cost& a, const Cost& b) { return times(a) < times(b); });
    found.emplace_back(times(worst),
                       fmt::format("* {}: {} of {} kernels, `{}` most: {} times\n", isa::info(row.op).name, count,
                                   row.costs.size(), worst.name, number(times(worst))));
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  std::string s;
  for (const auto& [ignored, line] : found) s += line;
  return s.empty() ? "None.\n" : s;
}

std::string slow(const std::vector<RowCosts>& rows, const Addition& addition) {
  const auto inCache = [&](const Cost& c) { return c.nanoseconds / operations(c.name) / addition.nanoseconds; };
  const auto inMemory = [&](const Cost& c) {
    return (addition.inMemory - addition.nanoseconds + c.nanoseconds / operations(c.name)) / addition.inMemory;
  };
  return fmt::format(
      "Products of matrices count by the warp's operations that they are (m16n8k16 is 64), atomic operations on "
      "vectors by\n"
      "their elements.\n\n"
      "## Above {0} times an addition of words in memory\n\n"
      "The same loads and stores go with each instruction; what is more than the addition's is the "
      "instruction's.\n\n{1}\n"
      "## Above {0} times an addition in the nearest cache\n\n{2}\n",
      kLimit, above(rows, inMemory), above(rows, inCache));
}

/// Rows of one reason together.
std::string missing(const std::vector<RowCosts>& rows) {
  std::vector<std::pair<std::string, std::string>> reasons;  // with the names of rows
  for (const RowCosts& row : rows) {
    if (row.why.empty()) continue;
    const auto known = std::find_if(reasons.begin(), reasons.end(), [&](const auto& r) { return r.first == row.why; });
    if (known == reasons.end())
      reasons.emplace_back(row.why, isa::info(row.op).name);
    else
      known->second += fmt::format(", {}", isa::info(row.op).name);
  }
  std::string s;
  for (const auto& [why, names] : reasons) s += fmt::format("* {}: {}\n", names, why);
  return s.empty() ? "Nothing.\n" : s;
}

}  // namespace

std::string page(const std::vector<RowCosts>& rows, const Addition& addition, const std::string& machine) {
  return fmt::format(fmt::runtime(kHead), fmt::arg("addition", addition.nanoseconds),
                     fmt::arg("memory", addition.inMemory), fmt::arg("machine", machine)) +
         slow(rows, addition) + "## All rows\n\n" + table(rows, addition.nanoseconds) + "\n## Not measured\n\n" +
         missing(rows);
}

}  // namespace ordito::bench
