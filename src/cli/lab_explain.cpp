// See lab_explain.hpp.
#include "cli/lab_explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace ordito::cli {
namespace {

using nlohmann::json;

constexpr double kSame = 0.05;  // changes of 5 % and less are none

/// Something that is counted and that costs time, so that less of it can make a rung faster.
struct Quantity {
  const char* key;
  const char* name;
};

constexpr Quantity kQuantities[] = {
    {"launches", "launches"},
    {"smsp__inst_executed.sum", "warp instructions"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global load requests"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "global load sectors"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "global store requests"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "global store sectors"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "shared load wavefronts"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "shared store wavefronts"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "bank conflicts of loads"},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "bank conflicts of stores"},
    {"smsp__sass_branch_targets_threads_divergent.sum", "divergent branches"},
};

struct Change {
  const Quantity* quantity;
  double before;
  double after;

  bool fell() const { return after < before * (1 - kSame); }
  bool rose() const { return after > before * (1 + kSame); }
  /// How many times less: a quantity that vanished fell furthest.
  double factor() const { return after > 0 ? before / after : before + 1; }
};

std::optional<double> amount(const json& variant, const char* key) {
  if (std::string(key) == "launches") return variant.value("launch_count", 0.0) + variant.value("child_launches", 0.0);
  const json& metrics = variant.at("metrics");
  if (!metrics.contains(key) || !metrics.at(key).is_number()) return std::nullopt;
  return metrics.at(key).get<double>();
}

bool isCounted(const json& variant) {
  return variant.value("total_ms", 0.0) > 0 && variant.value("launch_count", 0) > 0 && !variant.at("metrics").empty();
}

std::string shortNumber(double value) {
  if (value >= 1e9) return fmt::format("{:.2f} G", value * 1e-9);
  if (value >= 1e6) return fmt::format("{:.2f} M", value * 1e-6);
  if (value >= 1e4) return fmt::format("{:.1f} k", value * 1e-3);
  return fmt::format("{:.0f}", value);
}

std::vector<Change> changes(const json& before, const json& after) {
  std::vector<Change> all;
  for (const Quantity& quantity : kQuantities) {
    const auto one = amount(before, quantity.key);
    const auto other = amount(after, quantity.key);
    if (one && other && (*one > 0 || *other > 0)) all.push_back({&quantity, *one, *other});
  }
  return all;
}

std::string listed(const std::vector<Change>& all, bool (Change::*wanted)() const) {
  std::string text;
  for (const Change& change : all) {
    if (!(change.*wanted)()) continue;
    text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", change.quantity->name, shortNumber(change.before),
                        shortNumber(change.after));
  }
  return text;
}

/// One quantity for each of another, for example sectors for each request.
std::optional<double> ratio(const json& variant, const char* amountKey, const char* eachKey) {
  const auto one = amount(variant, amountKey);
  const auto each = amount(variant, eachKey);
  if (!one || !each || *each <= 0) return std::nullopt;
  return *one / *each;
}

/// How well the lanes' addresses lie together, where that changed.
std::string accessSentence(const json& before, const json& after, const char* what, const char* sectors,
                           const char* requests) {
  const auto one = ratio(before, sectors, requests);
  const auto other = ratio(after, sectors, requests);
  if (!one || !other || std::abs(*one - *other) <= kSame * *one) return "";
  return fmt::format(" A {} request touches {:.1f} sectors instead of {:.1f}: its lanes lie {} together.", what, *other,
                     *one, *other < *one ? "closer" : "less close");
}

std::string divergenceSentence(const json& before, const json& after) {
  constexpr const char* kEfficiency = "smsp__sass_average_branch_targets_threads_uniform.pct";
  const auto one = amount(before, kEfficiency);
  const auto other = amount(after, kEfficiency);
  if (!one || !other || std::abs(*one - *other) < 0.005) return "";
  return fmt::format(" Branch efficiency goes from {:.2f} % to {:.2f} %.", *one, *other);
}

/// Compares the two times, and says whether the counters agree with them.
std::string verdict(const std::string& previous, double times, const std::vector<Change>& all) {
  const Change* most = nullptr;
  const bool faster = times > 1 + kSame;
  const bool slower = times < 1 - kSame;
  for (const Change& change : all) {
    const bool agrees = faster ? change.fell() : change.rose();
    if (!agrees) continue;
    const bool further =
        most == nullptr || (faster ? change.factor() > most->factor() : change.factor() < most->factor());
    if (further) most = &change;
  }
  if (!faster && !slower) return fmt::format("takes as long as {} ({:.2f} times as fast).", previous, times);
  const std::string compared = fmt::format("is {:.2f} times as fast as {}.", times, previous);
  if (most != nullptr) {
    return compared + fmt::format(" What {} most is {}.", faster ? "fell" : "rose", most->quantity->name);
  }
  return compared + fmt::format(
                        " Nothing that is counted {}, so the counters do not explain it: the reason is among what "
                        "they do not show, such as how many accesses are on their way at once, waiting at "
                        "barriers, copies and the host's part.",
                        faster ? "fell" : "rose");
}

std::string paragraph(const json& before, const json& after) {
  const std::vector<Change> all = changes(before, after);
  const double times = before.at("total_ms").get<double>() / after.at("total_ms").get<double>();
  std::string text = fmt::format("{} {}", after.at("name").get<std::string>(),
                                 verdict(before.at("name").get<std::string>(), times, all));
  const std::string less = listed(all, &Change::fell);
  const std::string more = listed(all, &Change::rose);
  if (!less.empty()) text += fmt::format(" Less: {}.", less);
  if (!more.empty()) text += fmt::format(" More: {}.", more);
  if (less.empty() && more.empty()) text += " All counters are the same.";
  text += accessSentence(before, after, "load", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                         "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum");
  text += accessSentence(before, after, "store", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                         "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum");
  return text + divergenceSentence(before, after);
}

}  // namespace

std::string wrapped(const std::string& text) {
  constexpr std::size_t kWidth = 110;
  std::string out;
  std::size_t column = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::size_t length = end - start;
    if (column != 0) {
      out += column + 1 + length > kWidth ? '\n' : ' ';
      column = out.back() == '\n' ? 0 : column + 1;
    }
    out.append(text, start, length);
    column += length;
    start = end + 1;
  }
  return out;
}

std::string metricInWords(const std::string& metric) {
  const auto found = std::ranges::find_if(kQuantities, [&](const Quantity& each) { return metric == each.key; });
  return found == std::end(kQuantities) ? metric : found->name;
}

std::string explainLadder(const json& document) {
  const json* before = nullptr;
  std::string text;
  for (const json& variant : document.at("variants")) {
    if (!isCounted(variant)) continue;
    if (before != nullptr) text += wrapped(paragraph(*before, variant)) + "\n\n";
    if (variant.value("verified", json()).is_boolean()) before = &variant;
  }
  return text.empty() ? "There are no two rungs with counters to compare.\n" : text;
}

}  // namespace ordito::cli
