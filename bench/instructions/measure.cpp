#include "measure.hpp"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "ir/contraction.hpp"
#include "machine/layout.hpp"
#include "machine/scheduler.hpp"
#include "ptx/parser.hpp"
#include "ptx/verifier.hpp"

namespace ordito::bench {

namespace {

constexpr unsigned kBlocks = 8;
constexpr unsigned kManyBlocks = kThreadsOfLaunch / kBlock;
constexpr uint32_t kMostRounds = 1u << 24;

/// The process's CPU time: neighbours on the machine are not in it.
double cpuNanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// Zeroed memory that starts a page.
class Memory {
 public:
  explicit Memory(size_t bytes)
      : data_(static_cast<std::byte*>(std::aligned_alloc(kPage, (bytes / kPage + 1) * kPage))) {
    std::memset(data_.get(), 0, (bytes / kPage + 1) * kPage);
  }
  std::byte* data() const { return data_.get(); }

 private:
  static constexpr size_t kPage = 4096;
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

Expected<machine::ModulePtr> read(const Subject& subject) {
  auto module = ptx::parse(subject.text, subject.name);
  if (!module) return tl::unexpected(module.error());
  if (auto ok = ptx::verify(*module); !ok) return tl::unexpected(ok.error());
  ir::contractProducts(*module);
  return std::make_shared<const ptx::Module>(std::move(*module));
}

/// A subject that is ready to run.
class Launch {
 public:
  Launch(const Subject& subject, const machine::Executable& executable, const ptx::Module& module)
      : kernel_(module.functions[0]),
        layout_(machine::layoutKernel(module, kernel_)),
        in_(subject.input.size()),
        out_(std::max<size_t>(kResultBytes, subject.input.size())),
        cells_(kCellBytes),
        parameters_(kernel_.parameterBytes) {
    if (!subject.input.empty()) std::memcpy(in_.data(), subject.input.data(), subject.input.size());
    for (size_t k = 0; const Memory* memory : {&in_, &out_, &cells_}) {
      const auto address = reinterpret_cast<uint64_t>(memory->data());
      std::memcpy(parameters_.data() + kernel_.parameters[k++].offset, &address, sizeof address);
    }
    for (const ptx::Variable& v : module.variables) globals_.push_back(variables_.emplace_back(v.size).data());
    grid_.executable = &executable;
    grid_.kernelName = kernel_.name.c_str();
    grid_.block = {kBlock, 1, 1};
    grid_.parameters = parameters_.data();
    grid_.globals = globals_.data();
    grid_.functions = module.functions.data();
    grid_.totalSharedBytes = layout_.dynamicSharedOffset;
    grid_.sharedAlignment = 128;
  }

  /// For one warp and round.
  Expected<double> nanoseconds(uint32_t rounds, unsigned blocks = kBlocks) {
    grid_.grid = {blocks, 1, 1};
    std::memcpy(parameters_.data() + kernel_.parameters[3].offset, &rounds, sizeof rounds);
    const double start = cpuNanoseconds();
    const machine::GridResult result = machine::scheduler().run(grid_);
    const double end = cpuNanoseconds();
    if (result.fault) return fail("{}", result.fault->message);
    return (end - start) / (double(blocks) * (kBlock / machine::kWarpSize) * rounds);
  }

 private:
  const ptx::Function& kernel_;
  machine::KernelLayout layout_;
  Memory in_, out_, cells_, parameters_;
  std::vector<Memory> variables_;
  std::vector<std::byte*> globals_;
  machine::GridLaunch grid_;
};

/// So many rounds that a launch takes as long as is asked.
Expected<uint32_t> enoughRounds(Launch& launch, const Effort& effort) {
  const double wanted = effort.launchMicroseconds * 1e3 / (double{kBlocks} * (kBlock / machine::kWarpSize));
  for (uint32_t rounds = kSlots; rounds < kMostRounds; rounds *= 4) {
    const auto each = launch.nanoseconds(rounds);
    if (!each) return tl::unexpected(each.error());
    if (*each * rounds < wanted / 8) continue;
    return std::max(rounds, static_cast<uint32_t>(std::min(wanted / *each, double{kMostRounds})));
  }
  return kMostRounds;
}

Expected<double> median(Launch& launch, unsigned launches, uint32_t rounds, unsigned blocks) {
  std::vector<double> times;
  for (unsigned k = 0; k < launches; ++k) {
    const auto each = launch.nanoseconds(rounds, blocks);
    if (!each) return tl::unexpected(each.error());
    times.push_back(*each);
  }
  std::nth_element(times.begin(), times.begin() + static_cast<ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// `take` on the subject's launch.
template <class Take>
Expected<double> withLaunch(machine::Engine& engine, const Subject& subject, Take take) {
  const auto module = read(subject);
  if (!module) return tl::unexpected(module.error());
  const auto executable = engine.compile(*module, (*module)->functions[0], {{kBlock, 1, 1}});
  if (!executable) return tl::unexpected(executable.error());
  Launch launch(subject, **executable, **module);
  return take(launch);
}

}  // namespace

Expected<double> nanosecondsPerWarp(machine::Engine& engine, const Subject& subject, const Effort& effort) {
  return withLaunch(engine, subject, [&](Launch& launch) -> Expected<double> {
    const auto rounds = enoughRounds(launch, effort);
    if (!rounds) return tl::unexpected(rounds.error());
    return median(launch, effort.launches, *rounds, kBlocks);
  });
}

Expected<double> nanosecondsInLaunch(machine::Engine& engine, const Subject& subject, unsigned launches) {
  return withLaunch(engine, subject, [&](Launch& launch) { return median(launch, launches, 1, kManyBlocks); });
}

}  // namespace ordito::bench
