// `ordito gpus [NAME]`: the GPU descriptions that ORDITO_GPU and --gpu choose from.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "cli/commands.hpp"
#include "machine/capability.hpp"
#include "machine/gpu.hpp"
#include "report/sheet.hpp"
#include "report/units.hpp"

namespace ordito::cli {
namespace {

using machine::GpuDescription;
using report::Cell;

std::string capability(const GpuDescription& gpu) { return fmt::format("{}.{}", gpu.computeMajor, gpu.computeMinor); }

void list() {
  report::Sheet sheet({{"id", "name"},
                       {"gpu", "GPU"},
                       {"architecture", "architecture"},
                       {"compute_capability", "compute\ncapability"},
                       {"multiprocessors", "multi-\nprocessors"},
                       {"memory", "memory"},
                       {"gb_per_s", "GB/s", 1, 1},
                       {"tflops", "TFLOPS", 1, 1}});
  for (const GpuDescription& gpu : machine::knownGpus())
    sheet.add({gpu.id, gpu.name, gpu.architecture, capability(gpu), static_cast<int64_t>(gpu.multiprocessors),
               report::bytes(static_cast<double>(gpu.memoryBytes)), gpu.memoryBandwidthGbPerS, gpu.peakFloatTflops});
  fmt::print("{}", sheet.table(report::styleForStdout()));
}

void describe(const GpuDescription& g) {
  report::Sheet sheet({{"property", "property"}, {"value", "value"}});
  auto row = [&](const char* name, Cell value) { sheet.add({std::string(name), std::move(value)}); };
  auto number = [&](const char* name, uint64_t value) { row(name, report::grouped(static_cast<int64_t>(value))); };
  row("name", g.name);
  row("architecture", g.architecture);
  row("compute capability", capability(g));
  number("multiprocessors", g.multiprocessors);
  number("cores per multiprocessor", g.coresPerMultiprocessor);
  row("clock", fmt::format("{} MHz", g.clockKhz / 1000));
  row("memory", report::bytes(static_cast<double>(g.memoryBytes)));
  row("memory clock", fmt::format("{} MHz", g.memoryClockKhz / 1000));
  row("memory bus", fmt::format("{} bits", g.memoryBusBits));
  row("memory bandwidth", fmt::format("{} GB/s", g.memoryBandwidthGbPerS));
  row("single precision peak", fmt::format("{} TFLOPS", g.peakFloatTflops));
  row("L2 cache", report::bytes(g.l2Bytes));
  number("threads per block", g.threadsPerBlock);
  number("threads per multiprocessor", g.threadsPerMultiprocessor);
  number("blocks per multiprocessor", g.blocksPerMultiprocessor);
  row("shared memory per block", report::bytes(g.sharedPerBlock));
  row("shared memory per block, opted in", report::bytes(g.sharedPerBlockOptin));
  row("shared memory per multiprocessor", report::bytes(g.sharedPerMultiprocessor));
  number("registers per block", g.registersPerBlock);
  number("registers per multiprocessor", g.registersPerMultiprocessor);
  number("registers per thread, at most", g.maxRegistersPerThread);
  number("copy engines", g.copyEngines);
  number("hardware queues", g.hardwareQueues);
  number("resident grids", g.residentGrids);
  number("warps per multiprocessor", g.threadsPerMultiprocessor / 32);
  if (const machine::Capability* units = machine::findCapability(g.computeMajor, g.computeMinor)) {
    number("warp schedulers", units->schedulers);
    number("half precision results per clock", units->half);
    number("single precision results per clock", units->single);
    number("double precision results per clock", units->twice);
    number("special functions per clock", units->special);
    number("texture units per multiprocessor", units->textureUnits);
    for (const auto& [feature, isThere] : units->features()) row(feature.c_str(), std::string(isThere ? "yes" : "no"));
  }
  row("ECC", std::string(g.ecc ? "yes" : "no"));
  fmt::print("{}", sheet.table(report::styleForStdout()));
}

}  // namespace

void chooseGpu(const char* command, const std::string& name) {
  if (name.empty()) return;
  if (const auto gpus = machine::findGpus(name); !gpus) {
    fmt::print(stderr, "ordito {}: {}\n", command, gpus.error().message);
    std::exit(2);
  }
  setenv("ORDITO_GPU", name.c_str(), 1);
}

void chooseGpus(const char* command, const std::string& name, int64_t count) {
  const char* chosen = std::getenv("ORDITO_GPU");
  const std::string one = !name.empty() ? name : chosen && *chosen ? chosen : machine::knownGpus().front().id;
  if (count < 1 || one.find(',') != std::string::npos) {
    fmt::print(stderr, "ordito {}: --gpus {} with '{}': at least one device, all like the one GPU that --gpu names\n",
               command, count, one);
    std::exit(2);
  }
  std::string names = one;
  // One more than there can be is refused as such.
  for (int64_t i = 1; i < std::min<int64_t>(count, 65); ++i) names += "," + one;
  chooseGpu(command, names);
}

/// The GPU of this name, or the first of a compute capability such as 6.1.
Expected<GpuDescription> gpuOf(const std::string& name) {
  const auto found = std::ranges::find(machine::knownGpus(), name, capability);
  if (found != machine::knownGpus().end()) return *found;
  return machine::findGpu(name);
}

void addGpusCommand(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("gpus", "List the GPUs that Ordito can show to programs, or describe one");
  command->add_option("name", *name, "A GPU, for example rtx3090 or \"GTX 1060\", or a compute capability: 6.1");
  command->callback([name] {
    if (name->empty()) return list();
    auto gpu = gpuOf(*name);
    if (gpu) return describe(*gpu);
    fmt::print(stderr, "ordito gpus: {}\n", gpu.error().message);
    std::exit(1);
  });
}

}  // namespace ordito::cli
