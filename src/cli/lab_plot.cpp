// See lab_plot.hpp.
#include "cli/lab_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "report/svg.hpp"

namespace ordito::cli {
namespace {

using nlohmann::json;
using report::svg::text;

// Geometry, in the units of the picture.
constexpr int kWidth = 1160;
constexpr int kMargin = 24;
constexpr int kLabels = 300;  // the column of names
constexpr int kGap = 28;      // between panels
constexpr int kTop = 106;     // above the first row
constexpr int kRow = 26;
constexpr int kBar = 16;
constexpr int kValue = 110;  // room for a number behind the longest bar
constexpr int kBottom = 40;
constexpr std::size_t kLongTitle = 90;  // characters that fit in large print

/// A bar that is twice as long is twice as fast, in every panel; or twice as much of the column that is drawn instead.
struct Bar {
  double length = 0;
  std::string label;
};

struct Panel {
  std::string title;
  std::string subtitle;
  std::string colour;
  std::vector<std::optional<Bar>> bars;  // one for each row
};

/// A title that does not fit beside the others ends in dots.
std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::string number(double value) {
  if (value >= 100) return fmt::format("{:.0f}", value);
  if (value >= 10) return fmt::format("{:.1f}", value);
  return value >= 0.1 ? fmt::format("{:.2f}", value) : fmt::format("{:.2g}", value);
}

std::vector<const json*> shownVariants(const json& document) {
  std::vector<const json*> shown;
  for (const json& variant : document.at("variants")) {
    if (variant.value("total_ms", 0.0) > 0) shown.push_back(&variant);
  }
  return shown;
}

double totalOf(const std::vector<const json*>& rows, const std::string& name) {
  for (const json* row : rows) {
    if (row->at("name") == name) return row->at("total_ms").get<double>();
  }
  return 0;
}

/// Where only times are known: how many times as fast as the first row that has one.
std::vector<std::optional<Bar>> barsOfTimes(const std::vector<std::optional<double>>& times) {
  std::vector<std::optional<Bar>> bars;
  double first = 0;
  for (const std::optional<double>& time : times) {
    if (!time || *time <= 0) {
      bars.emplace_back();
      continue;
    }
    if (first == 0) first = *time;
    bars.push_back(Bar{first / *time, fmt::format("{}x ({} ms)", number(first / *time), number(*time))});
  }
  return bars;
}

std::vector<std::optional<Bar>> barsOfValues(const std::vector<std::optional<double>>& values) {
  std::vector<std::optional<Bar>> bars;
  for (const auto& value : values)
    bars.push_back(value ? std::optional<Bar>(Bar{*value, number(*value)}) : std::nullopt);
  return bars;
}

/// What the table calls the drawn column, on one line.
std::string drawnTitle(const LabProgram& program) {
  std::string title;
  for (const LabColumn& column : program.columns)
    if (column.key == program.drawn) title = column.title;
  if (const auto at = title.find("-\n"); at != std::string::npos) title.erase(at, 2);
  std::replace(title.begin(), title.end(), '\n', ' ');
  return title;
}

/// The variants' own results, which they print as texts.
std::vector<std::optional<double>> results(const std::vector<const json*>& rows) {
  std::vector<std::optional<double>> values;
  for (const json* row : rows) {
    const std::string text = row->value("result", std::string());
    values.push_back(text.empty() ? std::nullopt : std::optional(std::strtod(text.c_str(), nullptr)));
  }
  return values;
}

Panel oursPanel(const LabProgram& program, const std::vector<const json*>& rows) {
  if (!program.drawn.empty()) return {"Here", drawnTitle(program), "#3b6ea5", barsOfValues(results(rows))};
  Panel panel{"Here", "times as fast as its first row", "#3b6ea5", {}};
  const double baseline = totalOf(rows, program.baseline);
  std::vector<std::optional<double>> times;
  for (const json* row : rows) times.emplace_back(row->at("total_ms").get<double>());
  panel.bars = barsOfTimes(times);
  if (baseline <= 0) return panel;
  panel.subtitle = "speed-up over " + program.baseline;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    panel.bars[i] = Bar{baseline / *times[i], number(baseline / *times[i]) + "x"};
  }
  return panel;
}

/// The published figures of the column `key`; nothing for rows without.
std::vector<std::optional<double>> publishedValues(const LabCatalogue& catalogue, const LabProgram& program,
                                                   const std::vector<const json*>& rows, const std::string& key) {
  std::vector<std::optional<double>> values(rows.size());
  for (const LabColumn& column : program.columns) {
    if (column.key != key) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (const auto figure = catalogue.published(program, rows[i]->at("name"), column)) values[i] = figure->value;
    }
  }
  return values;
}

bool enough(const std::vector<std::optional<double>>& values) {
  return std::count_if(values.begin(), values.end(), [](const auto& value) { return value.has_value(); }) > 1;
}

/// The published speed-ups, or, where only times were printed, what follows from these.
std::optional<Panel> publishedPanel(const LabCatalogue& catalogue, const LabProgram& program,
                                    const std::vector<const json*>& rows) {
  Panel panel{"Published", "speed-up", "#c8782a", {}};
  if (!program.drawn.empty()) {
    const auto values = publishedValues(catalogue, program, rows, program.drawn);
    panel.subtitle = drawnTitle(program);
    panel.bars = barsOfValues(values);
    return enough(values) ? std::optional(panel) : std::nullopt;
  }
  const auto speedups = publishedValues(catalogue, program, rows, "speedup");
  if (enough(speedups)) {
    for (const auto& value : speedups) {
      panel.bars.push_back(value ? std::optional<Bar>(Bar{*value, number(*value) + "x"}) : std::nullopt);
    }
    return panel;
  }
  panel.subtitle = "times as fast as its first row";
  for (const char* key : {"kernel_ms", "total_ms"}) {
    const auto times = publishedValues(catalogue, program, rows, key);
    if (!enough(times)) continue;
    panel.bars = barsOfTimes(times);
    return panel;
  }
  return std::nullopt;
}

std::optional<Panel> recordedPanel(const LabCatalogue& catalogue, const LabProgram& program,
                                   const std::vector<const json*>& rows, std::uint64_t size) {
  if (!program.drawn.empty()) return std::nullopt;
  std::vector<std::optional<double>> times;
  for (const json* row : rows) times.push_back(catalogue.recorded(program, size, row->at("name"), "kernel_ms"));
  if (!enough(times)) return std::nullopt;
  return Panel{catalogue.recording().device + ", recorded " + catalogue.recording().date,
               "times as fast as its first row", "#5d8a3c", barsOfTimes(times)};
}

std::string drawPanel(const Panel& panel, int left, int width) {
  double most = 0;
  for (const auto& bar : panel.bars) most = std::max(most, bar ? bar->length : 0);
  std::string out =
      text(left, kTop - 26, "class=\"head\"", panel.title) + text(left, kTop - 10, "class=\"small\"", panel.subtitle);
  const int room = width - kValue;
  for (std::size_t i = 0; i < panel.bars.size(); ++i) {
    const std::optional<Bar>& bar = panel.bars[i];
    if (!bar) continue;
    const int y = kTop + static_cast<int>(i) * kRow;
    const double length = most > 0 ? std::max(1.0, room * bar->length / most) : 1;
    out += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" rx=\"2\" fill=\"{}\"/>\n", left, y,
                       length, kBar, panel.colour);
    out += text(left + length + 6, y + 13, "class=\"value\"", bar->label);
  }
  const int height = static_cast<int>(panel.bars.size()) * kRow;
  return out + fmt::format("<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" stroke=\"#888\"/>\n", left, kTop - 4,
                           kTop + height - 6);
}

std::string drawNames(const std::vector<const json*>& rows) {
  std::string out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const int y = kTop + static_cast<int>(i) * kRow + 13;
    const std::string title = rows[i]->value("title", rows[i]->at("name").get<std::string>());
    out += text(kMargin + kLabels - 10, y, "class=\"name\" text-anchor=\"end\"", shortened(title, 46));
  }
  return out;
}

std::string head(const LabProgram& program, const json& document, int height) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n"
      "<style>.title{{font-size:{2}px;font-weight:bold}}.head{{font-size:13px;font-weight:bold}}"
      ".name,.value{{font-size:12px}}.value{{fill:#333}}.small{{font-size:11px;fill:#666}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, height, program.title.size() > kLongTitle ? 15 : 18);
  out += text(kMargin, 32, "class=\"title\"", shortened(program.title, 125));
  return out + text(kMargin, 50, "class=\"small\"", fmt::format("{} {}", document.at("size").dump(), program.unit));
}

}  // namespace

std::string plotLadder(const LabCatalogue& catalogue, const LabProgram& program, const json& document) {
  const std::vector<const json*> rows = shownVariants(document);
  std::vector<Panel> panels = {oursPanel(program, rows)};
  if (auto published = publishedPanel(catalogue, program, rows)) panels.push_back(std::move(*published));
  if (auto recorded = recordedPanel(catalogue, program, rows, document.value("size", program.size))) {
    panels.push_back(std::move(*recorded));
  }
  const int height = kTop + static_cast<int>(rows.size()) * kRow + kBottom;
  const int count = static_cast<int>(panels.size());
  const int width = (kWidth - kLabels - 2 * kMargin - (count - 1) * kGap) / count;
  std::string out = head(program, document, height) + drawNames(rows);
  for (int i = 0; i < count; ++i) {
    out += drawPanel(panels[static_cast<std::size_t>(i)], kMargin + kLabels + i * (width + kGap), width);
  }
  out += text(kMargin, height - 14, "class=\"small\"", shortened("published: " + program.publishedOn, 160));
  return out + "</svg>\n";
}

}  // namespace ordito::cli
