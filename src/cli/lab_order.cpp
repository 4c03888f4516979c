// See lab_order.hpp.
#include "cli/lab_order.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/lab_explain.hpp"
#include "cli/lab_report.hpp"

namespace ordito::cli {
namespace {

using nlohmann::json;

constexpr double kNoise = 0.03;  // times of the same kernel differ by this much from run to run

struct Times {
  std::string variant;
  double published;
  double recorded;
};

/// The variants whose time is both published and recorded, the fastest published first.
std::vector<Times> timesOf(const LabCatalogue& catalogue, const LabProgram& program, const LabColumn& column,
                           const json& document) {
  std::vector<Times> all;
  for (const json& variant : document.at("variants")) {
    const std::string name = variant.at("name");
    const auto published = catalogue.published(program, name, column);
    const auto recorded = catalogue.recorded(program, document.value("size", program.size), name, column.key);
    if (published && recorded) all.push_back({name, published->value / column.scale, *recorded});
  }
  std::ranges::sort(all, {}, &Times::published);
  return all;
}

std::string remark(const std::string& device, const Times& faster, const Times& slower) {
  if (faster.recorded <= slower.recorded * (1 - kNoise)) return "";
  const bool equal = faster.recorded <= slower.recorded * (1 + kNoise);
  return wrapped(fmt::format("on the {} {} is {} {} ({:.3f} and {:.3f} ms), published it is faster ({:.3f} and {:.3f})",
                             device, faster.variant, equal ? "as fast as" : "slower than", slower.variant,
                             faster.recorded, slower.recorded, faster.published, slower.published)) +
         "\n";
}

}  // namespace

std::string orderRemarks(const LabCatalogue& catalogue, const LabProgram& program, const json& document) {
  const std::string device = shortName(catalogue.recording().device);
  std::string text;
  for (const LabColumn& column : program.columns) {
    if (column.key != "kernel_ms" && column.key != "total_ms") continue;
    const std::vector<Times> all = timesOf(catalogue, program, column, document);
    for (std::size_t i = 1; i < all.size(); ++i) {
      if (all[i - 1].published < all[i].published) text += remark(device, all[i - 1], all[i]);
    }
  }
  return text;
}

}  // namespace ordito::cli
