// See cache_sheet.hpp.
#include "cli/cache_sheet.hpp"

#include <nlohmann/json.hpp>

namespace ordito::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

Cell number(const Json& launch, const char* key) { return launch.at(key).get<int64_t>(); }

void addPath(std::vector<Cell>& row, const Json& path) {
  const auto sectors = path.at("sectors").get<int64_t>(), hits = path.at("hits").get<int64_t>();
  row.emplace_back(sectors);
  row.push_back(sectors ? Cell(static_cast<double>(hits) / static_cast<double>(sectors)) : Cell());
}

}  // namespace

Expected<report::Sheet> cacheSheet(const Json& caches) {
  if (!caches.contains("launches")) return fail("the report is damaged");
  report::Sheet sheet({{"kernel", "kernel"},
                       {"l1_sectors", "L1\nsectors"},
                       {"l1_hit_rate", "L1\nhits %", 100, 2},
                       {"read_only_sectors", "read-only\nsectors"},
                       {"read_only_hit_rate", "read-only\nhits %", 100, 2},
                       {"constant_addresses", "constant\naddresses"},
                       {"constant_hit_rate", "constant\nhits %", 100, 2},
                       {"l2_read_sectors", "L2 read\nsectors"},
                       {"l2_read_hit_rate", "L2 read\nhits %", 100, 2},
                       {"l2_write_sectors", "L2 write\nsectors"},
                       {"l2_write_hit_rate", "L2 write\nhits %", 100, 2},
                       {"dram_read_bytes", "DRAM read\nbytes"},
                       {"dram_written_bytes", "DRAM\nwritten"},
                       {"host_read_bytes", "link\nread"},
                       {"host_written_bytes", "link\nwritten"}});
  for (const Json& launch : caches.at("launches")) {
    std::vector<Cell> row = {launch.at("kernel").get<std::string>()};
    for (const char* path : {"l1", "read_only", "constant", "l2_reads", "l2_writes"}) addPath(row, launch.at(path));
    for (const char* bytes : {"dram_read_bytes", "dram_written_bytes", "host_read_bytes", "host_written_bytes"})
      row.push_back(number(launch, bytes));
    sheet.add(std::move(row));
  }
  return sheet;
}

}  // namespace ordito::cli
