// saxpy's six steps on the host, with an eye on what they leave behind; and where the time of a whole run goes.
#pragma once

#include <memory>

#include "../common/output.hpp"

namespace host {

/// malloc() that does not answer with nothing, and frees itself.
struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<float[], Free>;

inline Memory allocate(std::size_t count) {
  Memory memory(static_cast<float*>(std::malloc(std::max<std::size_t>(count, 1) * sizeof(float))));
  if (!memory) lab::usageError("--size: there is not enough memory for it");
  return memory;
}

inline std::size_t freeDeviceMemory() {
  std::size_t free = 0;
  std::size_t total = 0;
  LAB_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

/// One kind of operation, as the course's profiler lists it.
struct Operation {
  const char* name;
  std::vector<double> ms;

  double total() const {
    double sum = 0;
    for (const double one : ms) sum += one;
    return sum;
  }
};

/// Time(%), time, calls, average, least and most of each operation, the longest first.
inline void noteOperations(lab::Output& output, std::vector<Operation> operations) {
  double all = 0;
  for (const Operation& operation : operations) all += operation.total();
  if (all <= 0) return;
  std::sort(operations.begin(), operations.end(),
            [](const Operation& a, const Operation& b) { return a.total() > b.total(); });
  output.note("Time(%)    Time ms  Calls     Avg ms     Min ms     Max ms  Name");
  for (const Operation& operation : operations) {
    const auto range = std::minmax_element(operation.ms.begin(), operation.ms.end());
    const double calls = static_cast<double>(operation.ms.size());
    char line[160];
    std::snprintf(line, sizeof line, "%7.2f %10.3f %6zu %10.3f %10.3f %10.3f  %s", 100 * operation.total() / all,
                  operation.total(), operation.ms.size(), operation.total() / calls, *range.first, *range.second,
                  operation.name);
    output.note(line);
  }
}

}  // namespace host
