// See sheet.hpp. A table is laid out in two passes: cells become text, then each column is as wide as its widest text.
#include "report/sheet.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "report/units.hpp"

namespace ordito::report {
namespace {

using Lines = std::vector<std::string>;

std::string text(const Cell& cell, const Column& column) {
  if (const bool* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "NO";
  if (const std::string* string = std::get_if<std::string>(&cell)) return *string;
  if (const std::int64_t* whole = std::get_if<std::int64_t>(&cell)) {
    if (column.scale == 1) return grouped(*whole);
    return fmt::format("{:.{}f}", static_cast<double>(*whole) * column.scale, column.digits);
  }
  if (const double* number = std::get_if<double>(&cell)) {
    if (!std::isfinite(*number)) return "-";
    return fmt::format("{:.{}f}", *number * column.scale, column.digits);
  }
  return "";
}

Lines split(std::string_view title) {
  Lines lines;
  for (std::size_t begin = 0;;) {
    const std::size_t end = title.find('\n', begin);
    lines.emplace_back(title.substr(begin, end - begin));
    if (end == std::string_view::npos) return lines;
    begin = end + 1;
  }
}

std::string pad(std::string_view cell, std::size_t width, bool left) {
  const std::string space(width - displayWidth(cell), ' ');
  return left ? std::string(cell) + space : space + std::string(cell);
}

/// The pieces a style is drawn with.
struct Frame {
  std::string_view left, between, right;                  // of a line of cells
  std::string_view rule, cornerLeft, cross, cornerRight;  // of the rule under the headings
};

constexpr Frame kPlain = {"", "  ", "", "-", "", "  ", ""};
constexpr Frame kBox = {"│ ", " │ ", " │", "─", "├─", "─┼─", "─┤"};

/// A table on its way to text: the chosen columns with all their cells formatted.
class Layout {
 public:
  Layout(const std::vector<Column>& columns, const std::vector<std::vector<Cell>>& rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].audience != Audience::Programs) addColumn(columns[i], rows, i);
    }
    for (const Strip& strip : strips_) headings_ = std::max(headings_, strip.title.size());
    rows_ = rows.size();
  }

  std::string draw(const Frame& frame, bool outline) const {
    std::string out;
    if (outline) out += rule("┌─", "─", "─┬─", "─┐");
    for (std::size_t line = 0; line < headings_; ++line) {
      out += drawLine(frame, [&](const Strip& strip) {
        // Headings stand on the rule: a short one leaves its upper lines empty.
        const std::size_t missing = headings_ - strip.title.size();
        return line < missing ? std::string() : strip.title[line - missing];
      });
    }
    out += rule(frame.cornerLeft, frame.rule, frame.cross, frame.cornerRight);
    for (std::size_t row = 0; row < rows_; ++row) {
      out += drawLine(frame, [&](const Strip& strip) { return strip.cells[row]; });
    }
    if (outline) out += rule("└─", "─", "─┴─", "─┘");
    return out;
  }

 private:
  struct Strip {  // one column
    Lines title;
    Lines cells;
    std::size_t width = 0;
    bool left = false;
  };

  void addColumn(const Column& column, const std::vector<std::vector<Cell>>& rows, std::size_t index) {
    Strip strip;
    strip.title = split(column.title);
    for (const std::string& line : strip.title) strip.width = std::max(strip.width, displayWidth(line));
    for (const std::vector<Cell>& row : rows) {
      const Cell cell = index < row.size() ? row[index] : Cell{};
      strip.left = strip.left || std::holds_alternative<std::string>(cell);
      strip.cells.push_back(text(cell, column));
      strip.width = std::max(strip.width, displayWidth(strip.cells.back()));
    }
    strips_.push_back(std::move(strip));
  }

  template <class Pick>
  std::string drawLine(const Frame& frame, Pick pick) const {
    std::string line(frame.left);
    for (std::size_t i = 0; i < strips_.size(); ++i) {
      if (i != 0) line += frame.between;
      line += pad(pick(strips_[i]), strips_[i].width, strips_[i].left);
    }
    line += frame.right;
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  }

  std::string rule(std::string_view left, std::string_view dash, std::string_view cross, std::string_view right) const {
    std::string line(left);
    for (std::size_t i = 0; i < strips_.size(); ++i) {
      if (i != 0) line += cross;
      for (std::size_t k = 0; k < strips_[i].width; ++k) line += dash;
    }
    return line + std::string(right) + "\n";
  }

  std::vector<Strip> strips_;
  std::size_t headings_ = 0;
  std::size_t rows_ = 0;
};

std::string csvField(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
  std::string quoted = "\"";
  for (const char c : field) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

/// Machine-readable text is never scaled, grouped or rounded.
std::string csvCell(const Cell& cell) {
  if (const bool* truth = std::get_if<bool>(&cell)) return *truth ? "true" : "false";
  if (const std::int64_t* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const double* number = std::get_if<double>(&cell))
    return std::isfinite(*number) ? fmt::format("{}", *number) : "";
  if (const std::string* string = std::get_if<std::string>(&cell)) return csvField(*string);
  return "";
}

nlohmann::ordered_json jsonCell(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      cell);
}

}  // namespace

void Sheet::add(std::vector<Cell> row) {
  assert(row.size() <= columns_.size());
  row.resize(columns_.size());
  rows_.push_back(std::move(row));
}

std::string Sheet::table(Style style) const {
  return Layout(columns_, rows_).draw(style == Style::Box ? kBox : kPlain, style == Style::Box);
}

std::string Sheet::csv() const {
  std::string out;
  auto line = [&](auto&& field) {
    bool first = true;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].audience == Audience::People) continue;
      if (!first) out += ',';
      first = false;
      out += field(i);
    }
    out += '\n';
  };
  line([&](std::size_t i) { return csvField(columns_[i].key); });
  for (const std::vector<Cell>& row : rows_) line([&](std::size_t i) { return csvCell(row[i]); });
  return out;
}

nlohmann::ordered_json Sheet::json() const {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const std::vector<Cell>& row : rows_) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].audience != Audience::People) object[columns_[i].key] = jsonCell(row[i]);
    }
    array.push_back(std::move(object));
  }
  return array;
}

Style styleForStdout() {
  if (isatty(STDOUT_FILENO) == 0) return Style::Plain;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale = value;
    const bool utf8 = locale.find("UTF-8") != std::string_view::npos || locale.find("utf8") != std::string_view::npos;
    return utf8 ? Style::Box : Style::Plain;  // the first that is set decides, as in setlocale
  }
  return Style::Plain;
}

}  // namespace ordito::report
