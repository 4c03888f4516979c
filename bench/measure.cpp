#include "measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <fstream>
#include <thread>

namespace ordito::bench {

namespace {

constexpr int warmUpRuns = 2;
constexpr auto settleTime = std::chrono::milliseconds(2);  // lets the last contender's threads fall asleep

double processCpuMs() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// Milliseconds that all CPUs together have spent on anything, and in total. Both 0 if the system does not tell.
struct MachineTime {
  double busyMs = 0, totalMs = 0;
};

MachineTime machineTime() {
  std::ifstream stat("/proc/stat");
  std::string label;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, softInterrupts = 0;
  stat >> label >> user >> nice >> system >> idle >> waiting >> interrupts >> softInterrupts;
  const double tickMs = 1e3 / static_cast<double>(sysconf(_SC_CLK_TCK));
  const double busy = user + nice + system + interrupts + softInterrupts;
  return {busy * tickMs, (busy + idle + waiting) * tickMs};
}

/// Watches what the rest of the machine does while the rounds run.
class Disturbance {
 public:
  double share() const {
    const MachineTime now = machineTime();
    const double others = (now.busyMs - begin_.busyMs) - (processCpuMs() - ownBegin_);
    const double total = now.totalMs - begin_.totalMs;
    return total > 0 ? std::max(0.0, others / total) : 0;
  }

 private:
  MachineTime begin_ = machineTime();
  double ownBegin_ = processCpuMs();
};

template <class Work>
double wallMsOf(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

struct Entry {
  std::unique_ptr<Contender> contender;
  Timing timing;
};

void prepare(Entry& entry, const Factory& factory, const CaseData& data) {
  entry.timing.prepareMs = wallMsOf([&] { entry.contender = factory.make(data.problem()); });
  if (entry.contender == nullptr) return;
  entry.timing.firstMs = wallMsOf([&] { entry.contender->run(); });
  std::vector<std::byte> result(data.problem().bytes);
  entry.contender->fetch(result.data());
  const std::string difference = data.verify(result);
  if (!difference.empty()) entry.timing.failure = "wrong result: " + difference;
}

/// Null contender and no failure: it does not take part in this case.
Entry prepareOrExplain(const Factory& factory, const CaseData& data) {
  Entry entry;
  entry.timing.name = factory.name;
  try {
    prepare(entry, factory, data);
  } catch (const std::exception& error) {
    entry.timing.failure = error.what();
  }
  return entry;
}

void timeOneRun(Entry& entry) {
  std::this_thread::sleep_for(settleTime);
  const double cpuBefore = processCpuMs();
  entry.timing.wallMs.push_back(wallMsOf([&] { entry.contender->run(); }));
  entry.timing.cpuMs.push_back(processCpuMs() - cpuBefore);
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double minimum(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}

const Timing* CaseResult::find(const std::string& name) const {
  for (const Timing& timing : timings)
    if (timing.name == name && timing.ok()) return &timing;
  return nullptr;
}

CaseResult measureCase(const CaseSpec& spec, const std::vector<Factory>& factories, int rounds) {
  const CaseData data(spec);
  std::vector<Entry> entries;
  for (const Factory& factory : factories) {
    Entry entry = prepareOrExplain(factory, data);
    if (entry.contender != nullptr || !entry.timing.ok()) entries.push_back(std::move(entry));
  }
  for (Entry& entry : entries)
    for (int i = 0; i < warmUpRuns && entry.timing.ok(); ++i) entry.contender->run();
  const Disturbance disturbance;
  for (int round = 0; round < rounds; ++round)
    for (Entry& entry : entries)
      if (entry.timing.ok()) timeOneRun(entry);

  CaseResult result{&spec, disturbance.share(), {}};
  for (Entry& entry : entries) result.timings.push_back(std::move(entry.timing));
  return result;
}

}  // namespace ordito::bench
