// How a product of matrices is cut into panels, and in which streams their copies and products go. The program issues a
// plan to the device, and the simulator of hardware queues (../queues) times the same plan by the rates of a published
// machine: what a laptop runs and what the document measured are the same operations in the same order.
#pragma once

#include <cmath>

#include "../queues/simulator.hpp"

namespace dgemm {

constexpr int kPanels = 16;
constexpr int kHostPanels = 2;  // of them, where the host takes a share
constexpr std::size_t kInner = 288;

enum class Part { a, b, c };  // what a copy moves

struct Step {
  queues::Kind kind = queues::Kind::kernel;
  Part part = Part::c;
  int first = 0, last = 0;  // panels
  int stream = 0;
};

/// Steps of which the host waits for the first ones before it issues the others.
struct Plan {
  std::vector<Step> before, steps;
  int hostPanels = 0;
};

inline Step copyIn(Part part, int first, int last, int stream) {
  return {queues::Kind::toDevice, part, first, last, stream};
}
inline Step product(int first, int last, int stream) { return {queues::Kind::kernel, Part::c, first, last, stream}; }
inline Step copyOut(int first, int last, int stream) { return {queues::Kind::toHost, Part::c, first, last, stream}; }

/// Everything there, one product, everything back.
inline Plan serial() {
  return {{},
          {copyIn(Part::a, 0, kPanels, 0), copyIn(Part::b, 0, kPanels, 0), copyIn(Part::c, 0, kPanels, 0),
           product(0, kPanels, 0), copyOut(0, kPanels, 0)},
          0};
}

/// Everything there; then products beside copies back.
inline Plan twoWay() {
  Plan plan;
  plan.before = {copyIn(Part::a, 0, kPanels, 0), copyIn(Part::b, 0, kPanels, 0), copyIn(Part::c, 0, kPanels, 0)};
  for (int panel = 0; panel < kPanels; ++panel) {
    plan.steps.push_back(product(panel, panel + 1, panel % 2));
    plan.steps.push_back(copyOut(panel, panel + 1, panel % 2));
  }
  return plan;
}

/// Only A before all others; copies there, products and copies back beside each other.
inline Plan threeWay(int hostPanels = 0) {
  Plan plan;
  plan.hostPanels = hostPanels;
  plan.before = {copyIn(Part::a, 0, kPanels, 0)};
  for (int panel = 0; panel < kPanels - hostPanels; ++panel) {
    const int stream = panel % 3;
    plan.steps.push_back(copyIn(Part::b, panel, panel + 1, stream));
    plan.steps.push_back(copyIn(Part::c, panel, panel + 1, stream));
    plan.steps.push_back(product(panel, panel + 1, stream));
    plan.steps.push_back(copyOut(panel, panel + 1, stream));
  }
  return plan;
}

/// The same, while the host multiplies the last panels itself.
inline Plan fourWay() { return threeWay(kHostPanels); }

/// Columns of C before panel `panel`, of n in all.
inline std::size_t columnsBefore(int panel, std::size_t n) {
  return n * static_cast<std::size_t>(panel) / static_cast<std::size_t>(kPanels);
}

inline std::size_t elementsOf(const Step& step, std::size_t n) {
  const std::size_t columns = columnsBefore(step.last, n) - columnsBefore(step.first, n);
  if (step.part == Part::a) return n * kInner;
  return columns * (step.part == Part::b ? kInner : n);
}

inline double operationsOf(std::size_t rows, std::size_t columns) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(kInner);
}

/// A machine by three numbers.
struct Rates {
  double deviceGflops = 0, hostGflops = 0, linkGBs = 0;
};

inline int microseconds(const Step& step, std::size_t n, const Rates& rates) {
  if (step.kind != queues::Kind::kernel) {
    return static_cast<int>(
        std::lround(static_cast<double>(elementsOf(step, n)) * sizeof(double) / rates.linkGBs / 1e3));
  }
  const std::size_t columns = columnsBefore(step.last, n) - columnsBefore(step.first, n);
  return static_cast<int>(std::lround(operationsOf(n, columns) / rates.deviceGflops / 1e3));
}

inline int simulated(const std::vector<Step>& steps, std::size_t n, const Rates& rates) {
  queues::Operations operations;
  for (const Step& step : steps) operations.push_back({"", step.stream, step.kind, microseconds(step, n, rates), 1});
  return queues::makespan(queues::kFermi, operations);
}

/// GFLOP/s of the whole plan on a Fermi card with these rates.
inline double simulatedGflops(const Plan& plan, std::size_t n, const Rates& rates) {
  const std::size_t hostColumns = n - columnsBefore(kPanels - plan.hostPanels, n);
  const double device = simulated(plan.before, n, rates) + simulated(plan.steps, n, rates);
  const double host = operationsOf(n, hostColumns) / rates.hostGflops / 1e3;
  return operationsOf(n, n) / std::max(device, host) / 1e3;
}

}  // namespace dgemm
