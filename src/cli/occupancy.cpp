// `ordito occupancy`: how many warps of a kernel a multiprocessor holds, and which limit says so: for every GPU
// description, along one of the three things that limit it, or for the examples that the courses work out.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/occupancy_curves.hpp"
#include "report/sheet.hpp"

namespace ordito::cli {
namespace {

using machine::GpuDescription;
using machine::KernelResources;
using machine::Occupancy;
using report::Cell;

struct Options {
  std::string gpus, along, plot;
  int64_t block = 256, registers = 32, shared = 0;
  bool examples = false, csv = false, json = false;

  KernelResources kernel() const {
    return {static_cast<uint32_t>(block), static_cast<uint32_t>(registers), static_cast<uint32_t>(shared)};
  }
};

[[noreturn]] void refuse(const std::string& why) {
  fmt::print(stderr, "ordito occupancy: {}\n", why);
  std::exit(2);
}

Cell cell(uint32_t value) { return static_cast<int64_t>(value); }

/// A row's own columns, then those of the formula.
report::Sheet sheetWith(std::vector<report::Column> columns) {
  for (report::Column column : std::initializer_list<report::Column>{{"blocks_by_registers", "blocks by\nregisters"},
                                                                     {"blocks_by_shared", "blocks by\nshared"},
                                                                     {"blocks_by_warps", "blocks by\nwarps"},
                                                                     {"blocks_by_blocks", "blocks\nat most"},
                                                                     {"blocks", "resident\nblocks"},
                                                                     {"threads", "resident\nthreads"},
                                                                     {"warps", "resident\nwarps"},
                                                                     {"occupancy", "occupancy\n%", 100, 1},
                                                                     {"limit", "limited by"}})
    columns.push_back(std::move(column));
  return report::Sheet(std::move(columns));
}

void addRow(report::Sheet& sheet, std::vector<Cell> row, const GpuDescription& gpu, const KernelResources& kernel) {
  const Occupancy o = machine::occupancy(gpu, kernel);
  for (const uint32_t value :
       {o.byRegisters, o.byShared, o.byWarps, o.byBlocks, o.blocks, o.blocks * kernel.threadsPerBlock, o.warps})
    row.push_back(cell(value));
  row.emplace_back(o.ratio);
  row.emplace_back(limitOf(gpu, kernel));
  sheet.add(std::move(row));
}

report::Sheet sheetOfGpus(const std::vector<GpuDescription>& gpus, const KernelResources& kernel) {
  report::Sheet sheet = sheetWith({{"gpu", "GPU"}});
  for (const GpuDescription& gpu : gpus) addRow(sheet, {gpu.id}, gpu, kernel);
  return sheet;
}

report::Sheet sheetAlong(const GpuDescription& gpu, KernelResources kernel, const std::string& key) {
  const auto curve = occupancyCurve(gpu, kernel, key);
  if (!curve) refuse(fmt::format("--along {}: it is block, registers or shared", key));
  report::Sheet sheet = sheetWith({{key, key}});
  for (const OccupancyPoint& point : curve->points) {
    (key == "block"       ? kernel.threadsPerBlock
     : key == "registers" ? kernel.registersPerThread
                          : kernel.sharedPerBlock) = point.value;
    addRow(sheet, {cell(point.value)}, gpu, kernel);
  }
  return sheet;
}

/// What the courses work out by hand: a product of matrices by tiles needs 8 bytes of shared memory for each thread on
/// Fermi and Kepler; the report on a GTX 1060 has a plain kernel and one whose tile stays 32 x 32.
struct Example {
  const char *gpu, *kernel;
  KernelResources needs;
};

constexpr Example kExamples[] = {{"c2070", "tiled product, 8x8", {64, 0, 512}},
                                 {"c2070", "tiled product, 16x16", {256, 0, 2048}},
                                 {"c2070", "tiled product, 32x32", {1024, 0, 8192}},
                                 {"k40c", "tiled product, 8x8", {64, 0, 512}},
                                 {"k40c", "tiled product, 16x16", {256, 0, 2048}},
                                 {"k40c", "tiled product, 32x32", {1024, 0, 8192}},
                                 {"gtx1060", "plain product, 8x8", {64, 28, 0}},
                                 {"gtx1060", "plain product, 16x16", {256, 28, 0}},
                                 {"gtx1060", "plain product, 32x32", {1024, 28, 0}},
                                 {"gtx1060", "product in shared memory, 8x8", {64, 32, 8192}},
                                 {"gtx1060", "product in shared memory, 16x16", {256, 32, 8192}},
                                 {"gtx1060", "product in shared memory, 32x32", {1024, 32, 8192}}};

report::Sheet sheetOfExamples() {
  report::Sheet sheet = sheetWith({{"gpu", "GPU"},
                                   {"kernel", "kernel"},
                                   {"block", "threads in\na block"},
                                   {"registers", "registers of\na thread"},
                                   {"shared", "bytes\nshared"}});
  for (const Example& example : kExamples) {
    const KernelResources& needs = example.needs;
    addRow(sheet,
           {std::string(example.gpu), std::string(example.kernel), cell(needs.threadsPerBlock),
            cell(needs.registersPerThread), cell(needs.sharedPerBlock)},
           machine::findGpu(example.gpu).value(), needs);
  }
  return sheet;
}

void print(const Options& options, const report::Sheet& sheet) {
  if (options.json) return fmt::print("{}\n", sheet.json().dump(1));
  if (options.csv) return fmt::print("{}", sheet.csv());
  fmt::print("{}", sheet.table(report::styleForStdout()));
}

void checkNumbers(const Options& options) {
  struct Number {
    const char* name;
    int64_t value, least, most;
  };
  for (const Number& n : {Number{"block", options.block, 1, 1024}, Number{"registers", options.registers, 0, 255},
                          Number{"shared", options.shared, 0, 1 << 20}})
    if (n.value < n.least || n.value > n.most)
      refuse(fmt::format("--{} {}: from {} to {}", n.name, n.value, n.least, n.most));
}

std::vector<GpuDescription> chosenGpus(const Options& options) {
  if (options.gpus.empty()) return machine::knownGpus();
  auto gpus = machine::findGpus(options.gpus);
  if (!gpus) refuse(gpus.error().message);
  return std::move(*gpus);
}

void writePlot(const Options& options, const GpuDescription& gpu) {
  std::ofstream out(options.plot);
  out << plotOccupancy(gpu, options.kernel());
  if (!out.flush()) refuse("cannot write " + options.plot);
}

void runOccupancy(const Options& options) {
  checkNumbers(options);
  if (options.examples) return print(options, sheetOfExamples());
  const std::vector<GpuDescription> gpus = chosenGpus(options);
  if (!options.plot.empty()) writePlot(options, gpus.front());
  if (!options.along.empty()) return print(options, sheetAlong(gpus.front(), options.kernel(), options.along));
  print(options, sheetOfGpus(gpus, options.kernel()));
}

}  // namespace

void addOccupancyCommand(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("occupancy", "Tell how many warps of a kernel a multiprocessor holds, and why");
  command->add_option("--block", options->block, "Threads in a block")->capture_default_str();
  command->add_option("--registers", options->registers, "Registers of a thread; 0: no limit")->capture_default_str();
  command->add_option("--shared", options->shared, "Bytes of shared memory of a block")->capture_default_str();
  command->add_option("--gpu", options->gpus, "These GPUs, with commas between them, instead of all that are known");
  command->add_option("--along", options->along,
                      "A row for each block size, number of registers or size of shared memory, on the first GPU: "
                      "block, registers or shared");
  command->add_flag("--examples", options->examples, "The examples that the courses work out instead");
  command->add_option("--plot", options->plot, "Draw the three curves of the first GPU into this SVG file");
  command->add_flag("--csv", options->csv, "Print comma-separated values");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] { runOccupancy(*options); });
}

}  // namespace ordito::cli
