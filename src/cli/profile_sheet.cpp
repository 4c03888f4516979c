// See profile_sheet.hpp. CSV and JSON have a column for every metric under its name in the GPU profiler; the table for
// people has the main ones.
#include "cli/profile_sheet.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ordito::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Audience;
using report::Cell;
using report::Column;

struct Shown {
  const char* metric;
  const char* title;
};

/// Metrics in the table for people, and what they are called there.
constexpr Shown kShown[] = {
    {"smsp__inst_executed.sum", "warp\ninstr."},
    {"smsp__thread_inst_executed_pred_on.sum", "thread\ninstr."},
    {"smsp__sass_branch_targets.sum", "branches"},
    {"smsp__sass_branch_targets_threads_divergent.sum", "diver-\ngent"},
    {"branch_efficiency", "branch\neff. %"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global\nloads"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "load\nsectors"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "global\nstores"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "store\nsectors"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "sh. load\nwavefr."},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "load\nconfl."},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "sh. store\nwavefr."},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "store\nconfl."},
    {"ordito__barriers.sum", "barriers"},
};

const char* titleOf(const std::string& metric) {
  for (const Shown& shown : kShown)
    if (metric == shown.metric) return shown.title;
  return nullptr;
}

std::string dims(const Json& d) {
  std::string text = std::to_string(d.at(0).get<uint64_t>());
  uint64_t y = d.at(1).get<uint64_t>(), z = d.at(2).get<uint64_t>();
  if (y > 1 || z > 1) text += "x" + std::to_string(y);
  if (z > 1) text += "x" + std::to_string(z);
  return text;
}

Cell cellOf(const Json& value) {
  if (value.is_number_float()) return value.get<double>();
  return value.get<int64_t>();
}

/// "void reduce<int>(int*, int*)" → "reduce<int>": a table has little room.
std::string shortName(std::string name) {
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0 && i > 0) {
      name.resize(i);
      break;
    }
  }
  if (name.starts_with("void ")) name.erase(0, 5);
  constexpr size_t kRoom = 36;
  return name.size() <= kRoom ? name : name.substr(0, kRoom - 1) + "~";
}

std::vector<Column> columns(const Json& metrics) {
  std::vector<Column> all = {{"launch", "#"},
                             {"kernel", "", 1, 2, Audience::Programs},
                             {"launched_by", "", 1, 2, Audience::Programs},
                             {"short_kernel", "kernel", 1, 2, Audience::People},
                             {"grid", "grid"},
                             {"block", "block"},
                             {"shared_static", "", 1, 2, Audience::Programs},
                             {"shared_dynamic", "", 1, 2, Audience::Programs},
                             {"shared", "shared\nbytes", 1, 2, Audience::People},
                             {"registers", "", 1, 2, Audience::Programs},
                             {"theoretical_occupancy_pct", "occu-\npancy %", 1, 1},
                             {"occupancy_limited_by", "", 1, 2, Audience::Programs},
                             {"wall_ns", "time\nms", 1e-6, 3},
                             {"compile_ns", "", 1, 2, Audience::Programs}};
  for (const auto& [name, value] : metrics.items()) {
    const char* title = titleOf(name);
    all.push_back({name, title ? title : "", 1, 2, title ? Audience::Everyone : Audience::Programs});
  }
  return all;
}

std::vector<Cell> row(int64_t number, const Json& launch) {
  const Json& occupancy = launch.at("theoretical_occupancy");
  auto integer = [&](const char* key) { return launch.at(key).get<int64_t>(); };
  std::string kernel = launch.at("kernel").get<std::string>();
  int64_t fixed = integer("shared_static"), dynamic = integer("shared_dynamic");
  std::vector<Cell> cells = {number,
                             kernel,
                             launch.at("launched_by").is_string() ? launch.at("launched_by").get<std::string>() : "",
                             shortName(kernel),
                             dims(launch.at("grid")),
                             dims(launch.at("block")),
                             fixed,
                             dynamic,
                             fixed + dynamic,
                             integer("registers"),
                             occupancy.at("percent").get<double>(),
                             occupancy.at("limited_by").get<std::string>(),
                             integer("wall_ns"),
                             integer("compile_ns")};
  for (const auto& [name, value] : launch.at("metrics").items()) cells.push_back(cellOf(value));
  return cells;
}

}  // namespace

Expected<report::Sheet> profileSheet(const Json& profile) {
  try {
    const Json& launches = profile.at("launches");
    report::Sheet sheet(columns(launches.empty() ? Json::object() : launches.at(0).at("metrics")));
    int64_t number = 0;
    for (const Json& launch : launches) sheet.add(row(++number, launch));
    return sheet;
  } catch (const Json::exception& e) {
    return fail("the profile is damaged: {}", e.what());
  }
}

Expected<report::Sheet> libraryCallSheet(const Json& profile) {
  report::Sheet sheet({{"name", "library call"},
                       {"count", "calls"},
                       {"wall_ns", "time\nms", 1e-6, 3},
                       {"operations", "million\noperations", 1e-6, 3},
                       {"bytes", "MB\nmoved", 1e-6, 3},
                       {"gflops", "GFLOP/s", 1, 2},
                       {"gbytes", "GB/s", 1, 2}});
  try {
    for (const Json& call : profile.at("library_calls")) {
      const auto ns = call.at("wall_ns").get<int64_t>();
      const double operations = call.at("operations"), bytes = call.at("bytes");
      // Operations per ns are 10^9 per second.
      auto known = [](double value, double shown) { return value > 0 ? Cell(shown) : Cell(); };
      const auto time = static_cast<double>(std::max<int64_t>(ns, 1));
      sheet.add({call.at("name").get<std::string>(), call.at("count").get<int64_t>(), ns, known(operations, operations),
                 known(bytes, bytes), known(operations, operations / time), known(bytes, bytes / time)});
    }
    return sheet;
  } catch (const Json::exception& e) {
    return fail("the profile is damaged: {}", e.what());
  }
}

Expected<report::Sheet> hotspotSheet(const Json& hotspots, size_t most) {
  report::Sheet sheet({{"kernel", "", 1, 2, Audience::Programs},
                       {"short_kernel", "kernel", 1, 2, Audience::People},
                       {"source", "source"},
                       {"ptx_line", "PTX\nline"},
                       {"instruction", "instruction"},
                       {"requests", "requests"},
                       {"global_sectors", "global\nsectors"},
                       {"shared_wavefronts", "shared\nwavefr."},
                       {"bank_conflicts", "bank\nconfl."},
                       {"atomics", "atomics"},
                       {"transactions", "trans-\nactions"},
                       {"share", "share\n%", 100, 1}});
  try {
    for (const Json& site : hotspots.at("sites")) {
      if (sheet.rows().size() == most) break;
      const std::string kernel = site.at("kernel").get<std::string>();
      std::vector<Cell> cells = {kernel, shortName(kernel)};
      for (const char* key : {"source", "ptx_line", "instruction", "requests", "global_sectors", "shared_wavefronts",
                              "bank_conflicts", "atomics", "transactions", "share"}) {
        const Json& value = site.at(key);
        cells.push_back(value.is_string() ? Cell(value.get<std::string>()) : value.is_null() ? Cell() : cellOf(value));
      }
      sheet.add(std::move(cells));
    }
    return sheet;
  } catch (const Json::exception& e) {
    return fail("the profile is damaged: {}", e.what());
  }
}

}  // namespace ordito::cli
