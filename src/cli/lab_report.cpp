// See lab_report.hpp.
#include "cli/lab_report.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace ordito::cli {
namespace {

using nlohmann::json;
using report::Cell;

constexpr std::string_view kBranches = "smsp__sass_branch_targets.sum";
constexpr std::string_view kDivergent = "smsp__sass_branch_targets_threads_divergent.sum";
constexpr std::string_view kBranchEfficiency = "smsp__sass_average_branch_targets_threads_uniform.pct";
constexpr std::string_view kLoadSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
constexpr std::string_view kStoreSectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum";
constexpr double kSectorBytes = 32;
constexpr std::string_view kLoadConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
constexpr std::string_view kStoreConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum";

std::optional<double> number(const json& object, std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

/// Adds the metrics of one launch to a variant's. Only sums can be added; ratios are worked out again at the end.
void accumulate(json& metrics, const json& launch) {
  for (const auto& [name, value] : launch.at("metrics").items()) {
    if (!value.is_number() || !name.ends_with(".sum")) continue;
    if (!metrics.contains(name)) {
      metrics[name] = value;
    } else if (value.is_number_integer()) {
      metrics[name] = metrics[name].get<std::int64_t>() + value.get<std::int64_t>();
    } else {
      metrics[name] = metrics[name].get<double>() + value.get<double>();
    }
  }
}

void addRatios(json& metrics) {
  const auto branches = number(metrics, kBranches);
  const auto divergent = number(metrics, kDivergent);
  if (branches && divergent && *branches > 0) {
    metrics[std::string(kBranchEfficiency)] = 100 * (*branches - *divergent) / *branches;
  }
}

/// What is known of a launch before it runs, under the names that the GPU's profiler gives it.
void addLaunchFacts(json& metrics, const json& launch) {
  auto blocksAndThreads = [&](const char* name, const char* extents) {
    std::int64_t product = 1;
    for (const json& extent : launch.value(extents, json::array())) product *= extent.get<std::int64_t>();
    metrics[name] = product;
  };
  blocksAndThreads("launch__grid_size", "grid");
  blocksAndThreads("launch__block_size", "block");
  auto copy = [&](const char* name, const json& from, const char* key) {
    if (from.contains(key)) metrics[name] = from.at(key);
  };
  copy("launch__registers_per_thread", launch, "registers");
  copy("launch__shared_mem_per_block_static", launch, "shared_static");
  const json occupancy = launch.value("theoretical_occupancy", json::object());
  copy("sm__maximum_warps_per_active_cycle_pct", occupancy, "percent");
  copy("launch__occupancy_limit_registers", occupancy, "blocks_by_registers");
  copy("launch__occupancy_limit_shared_mem", occupancy, "blocks_by_shared_memory");
  copy("launch__occupancy_limit_warps", occupancy, "blocks_by_warps");
  copy("launch__occupancy_limit_blocks", occupancy, "blocks_by_blocks");
}

/// A kernel's name as the profile gives it, template arguments and parameters included, contains the function's name.
bool isLaunchOf(const json& launch, const std::string& kernel) {
  for (const char* key : {"kernel", "mangled"}) {
    if (launch.value(key, std::string()).find(kernel) != std::string::npos) return true;
  }
  return false;
}

bool isCount(const std::string& key) {
  constexpr std::string_view kCounts[] = {"grid", "children", "bank_conflicts", "result"};
  return key.ends_with(".sum") || key.starts_with("launch__") || std::ranges::find(kCounts, key) != std::end(kCounts);
}

/// Blocks of a grid, 0 on the CPU.
double blocks(const json& variant) {
  double product = 1;
  for (const json& extent : variant.at("grid")) product *= extent.get<double>();
  return product;
}

/// The total times that a variant is compared with.
struct Others {
  std::optional<double> baselineMs;
  std::optional<double> previousMs;
};

double perSecond(double amount, double ms) { return amount / ms * 1e-6; }

std::optional<double> wholeNumber(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<double>(value);
}

/// One count for each of another, or a share of it in percent.
struct Ratio {
  std::string_view key;
  std::string_view amount;
  std::string_view each;
  double factor = 1;
};

constexpr Ratio kRatios[] = {
    {"load_sectors_per_request", kLoadSectors, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    {"store_sectors_per_request", kStoreSectors, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    {"shared_passes_per_request", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
     "smsp__inst_executed_op_shared_ld.sum"},
    {"lanes_used", "smsp__thread_inst_executed_pred_on.sum", "smsp__inst_executed.sum", 100.0 / 32},
};

std::optional<double> ratioOf(std::string_view key, const json& metrics) {
  const auto* ratio = std::ranges::find(kRatios, key, &Ratio::key);
  if (ratio == std::end(kRatios)) return std::nullopt;
  const auto amount = number(metrics, ratio->amount);
  const auto each = number(metrics, ratio->each);
  if (!amount || !each || *each <= 0) return std::nullopt;
  return ratio->factor * *amount / *each;
}

/// The values that are worked out rather than counted. Rates per second use the kernel's time.
std::optional<double> derived(const std::string& key, const json& variant, const Others& others) {
  const double kernelMs = variant.value("kernel_ms", 0.0);
  const double totalMs = variant.value("total_ms", 0.0);
  const json& metrics = variant.at("metrics");
  if (totalMs <= 0) return std::nullopt;  // skipped
  if (key == "kernel_ms") return kernelMs;
  if (key == "total_ms") return totalMs;
  if (key == "grid" && blocks(variant) > 0) return blocks(variant);
  if (key == "children" && variant.value("child_launches", 0) > 0) return variant.at("child_launches").get<double>();
  if (key == "speedup" && others.baselineMs) return *others.baselineMs / totalMs;
  if (key == "step" && others.previousMs) return *others.previousMs / totalMs;
  const double bytes = variant.value("bytes", 0.0);
  const double flops = variant.value("flops", 0.0);
  if (key == "bandwidth" && kernelMs > 0 && bytes > 0) return perSecond(bytes, kernelMs);
  if (key == "gflops" && kernelMs > 0 && flops > 0) return perSecond(flops, kernelMs);
  if (key == "gflops_total" && flops > 0) return perSecond(flops, totalMs);
  if (key == "result") return wholeNumber(variant.value("result", std::string()));
  const double loaded = kSectorBytes * number(metrics, kLoadSectors).value_or(0);
  if (key == "load_throughput" && kernelMs > 0 && loaded > 0) return perSecond(loaded, kernelMs);
  if (key == "load_useful" && bytes > 0 && loaded > 0) return 100 * bytes / loaded;
  if (key == "bank_conflicts") {
    const auto loads = number(metrics, kLoadConflicts);
    const auto stores = number(metrics, kStoreConflicts);
    if (loads && stores) return *loads + *stores;
  }
  const double moved = loaded + kSectorBytes * number(metrics, kStoreSectors).value_or(0);
  if (key == "load_volume" && loaded > 0) return loaded;
  if (key == "store_volume" && moved > loaded) return moved - loaded;
  if (key == "intensity" && flops > 0 && moved > 0) return flops / moved;
  return ratioOf(key, metrics);
}

std::optional<double> valueOf(const std::string& key, const json& variant, const Others& others) {
  if (const auto counted = number(variant.at("metrics"), key)) return counted;
  return derived(key, variant, others);
}

std::optional<double> baselineMs(const LabProgram& program, const json& document) {
  for (const json& variant : document.at("variants")) {
    if (variant.at("name") == program.baseline && variant.value("total_ms", 0.0) > 0) return variant.at("total_ms");
  }
  return std::nullopt;
}

bool anyPublished(const LabCatalogue& catalogue, const LabProgram& program, const LabColumn& column,
                  const json& document) {
  for (const json& variant : document.at("variants")) {
    if (catalogue.published(program, variant.at("name"), column)) return true;
  }
  return false;
}

/// The courses print a count in the unit of the table's column (millions, say); programs get it in the unit of ours.
report::Column publishedColumn(const LabColumn& column) {
  return {.key = "published " + column.key,
          .title = column.ours ? "pub-\nlished" : "pub. " + column.title,
          .scale = column.scale,
          .digits = column.digits};
}

bool isTime(const LabColumn& column) { return column.key == "kernel_ms" || column.key == "total_ms"; }

/// What a GPU said: of times and, of what we do not count, its profiler.
std::optional<double> recordedValue(const LabCatalogue& catalogue, const LabProgram& program, const LabColumn& column,
                                    const json& document, const std::string& variant) {
  const std::uint64_t size = document.value("size", program.size);
  if (isTime(column)) return catalogue.recorded(program, size, variant, column.key);
  if (column.ours) return std::nullopt;
  return number(catalogue.profiled(program, size, variant), column.key);
}

bool anyRecorded(const LabCatalogue& catalogue, const LabProgram& program, const LabColumn& column,
                 const json& document) {
  for (const json& variant : document.at("variants")) {
    if (recordedValue(catalogue, program, column, document, variant.at("name"))) return true;
  }
  return false;
}

report::Column recordedColumn(const LabCatalogue& catalogue, const LabColumn& column) {
  const LabRecording from = isTime(column) ? catalogue.recording() : catalogue.profiling();
  return {.key = "recorded " + column.key,
          .title = shortName(from.device) + "\n" + (isTime(column) ? "ms" : column.title),
          .scale = column.scale,
          .digits = column.digits};
}

bool anyNote(const json& document) {
  for (const json& variant : document.at("variants")) {
    if (!variant.value("note", std::string()).empty()) return true;
  }
  return false;
}

}  // namespace

namespace {

/// A launch of the host with those that its kernels made, which a profile lists before it, as they finish before it.
struct HostLaunch {
  std::vector<const json*> children;
  const json* itself = nullptr;
};

std::vector<HostLaunch> hostLaunches(const json& launches) {
  std::vector<HostLaunch> all;
  HostLaunch next;
  for (const json& launch : launches) {
    if (launch.contains("launched_by") && launch.at("launched_by").is_string()) {
      next.children.push_back(&launch);
      continue;
    }
    next.itself = &launch;
    all.push_back(std::move(next));
    next = {};
  }
  return all;
}

}  // namespace

Expected<> addMetrics(json& document, const json& counted, const json& profile) {
  const json& list = profile.is_object() && profile.contains("launches") ? profile.at("launches") : profile;
  if (!list.is_array()) return fail("the profile has no list of launches");
  const std::vector<HostLaunch> launches = hostLaunches(list);
  json& variants = document.at("variants");
  const json& others = counted.at("variants");
  if (variants.size() != others.size()) return fail("the two runs of the program differ");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::size_t first = others[i].at("launch_first");
    const std::size_t count = others[i].at("launch_count");
    const std::string kernel = others[i].at("kernel");
    json& metrics = variants[i]["metrics"];
    std::size_t children = 0;
    for (std::size_t k = first; k < first + count; ++k) {
      if (k >= launches.size()) return fail("the profile ends after {} launches", launches.size());
      const json& launch = *launches[k].itself;
      if (!isLaunchOf(launch, kernel)) {
        return fail("launch {} of the profile is {}, not {}", k, launch.value("kernel", std::string("unnamed")),
                    kernel);
      }
      accumulate(metrics, launch);
      for (const json* child : launches[k].children) accumulate(metrics, *child);
      children += launches[k].children.size();
      addLaunchFacts(metrics, launch);
    }
    variants[i]["child_launches"] = children;
    addRatios(metrics);
  }
  return {};
}

namespace {

/// Which columns stand beside one of the catalogue's: the published figure, and the time that was recorded on a GPU.
struct Beside {
  bool published = false;
  bool recorded = false;
};

std::vector<Beside> besides(const LabCatalogue& catalogue, const LabProgram& program, const json& document) {
  std::vector<Beside> all;
  for (const LabColumn& column : program.columns) {
    all.push_back(
        {anyPublished(catalogue, program, column, document), anyRecorded(catalogue, program, column, document)});
  }
  return all;
}

std::vector<report::Column> sheetColumns(const LabCatalogue& catalogue, const LabProgram& program,
                                         const std::vector<Beside>& beside, bool notes) {
  std::vector<report::Column> columns = {{.key = "variant", .title = "variant"}};
  for (std::size_t i = 0; i < program.columns.size(); ++i) {
    const LabColumn& column = program.columns[i];
    if (column.ours) {
      columns.push_back({.key = column.key, .title = column.title, .scale = column.scale, .digits = column.digits});
    }
    if (beside[i].published) columns.push_back(publishedColumn(column));
    if (beside[i].recorded) columns.push_back(recordedColumn(catalogue, column));
  }
  columns.push_back({.key = "verified", .title = "verified"});
  columns.push_back(
      {.key = "note", .title = "note", .audience = notes ? report::Audience::Everyone : report::Audience::Programs});
  return columns;
}

}  // namespace

std::string shortName(const std::string& device) { return device.substr(device.rfind(' ') + 1); }

std::optional<double> labValue(const std::string& key, const json& variant) { return valueOf(key, variant, {}); }

json profiledVariant(const json& metrics, const json& ours) {
  const double ms = number(metrics, "gpu__time_duration.sum").value_or(0) * 1e-6;
  return {{"metrics", metrics}, {"kernel_ms", ms}, {"total_ms", ms}, {"flops", ours.value("flops", 0.0)}};
}

Cell labCell(std::optional<double> value, const LabColumn& column) {
  if (!value) return {};
  if (isCount(column.key)) return static_cast<std::int64_t>(std::llround(*value));
  return *value;
}

report::Sheet labSheet(const LabCatalogue& catalogue, const LabProgram& program, const json& document) {
  const std::vector<Beside> beside = besides(catalogue, program, document);
  report::Sheet sheet(sheetColumns(catalogue, program, beside, anyNote(document)));
  Others others{baselineMs(program, document), {}};
  for (const json& variant : document.at("variants")) {
    const std::string name = variant.at("name");
    std::vector<Cell> row = {name};
    for (std::size_t i = 0; i < program.columns.size(); ++i) {
      const LabColumn& column = program.columns[i];
      if (column.ours) row.push_back(labCell(valueOf(column.key, variant, others), column));
      if (beside[i].published) {
        const auto figure = catalogue.published(program, name, column);
        row.push_back(figure ? labCell(figure->value / column.scale, column) : Cell{});
      }
      if (beside[i].recorded) {
        row.push_back(labCell(recordedValue(catalogue, program, column, document, name), column));
      }
    }
    row.push_back(variant.at("verified").is_boolean() ? Cell{variant.at("verified").get<bool>()} : Cell{});
    row.push_back(variant.value("note", std::string()));
    sheet.add(std::move(row));
    if (variant.value("total_ms", 0.0) > 0) others.previousMs = variant.at("total_ms").get<double>();
  }
  return sheet;
}

}  // namespace ordito::cli
