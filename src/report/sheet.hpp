// A sheet: named columns and rows of values. What a command has to say is put into one sheet, and the sheet is printed
// as a table for people, as CSV or as JSON for programs, so that the three can never disagree.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

namespace ordito::report {

/// One value. Nothing (monostate) prints as an empty cell and as JSON null.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

/// Where a column appears: wide machine-readable names do not belong into a table for people, and abbreviations do not
/// belong into CSV.
enum class Audience : uint8_t { Everyone, People, Programs };

struct Column {
  std::string key;    // the name in CSV and JSON, for example a metric name of the GPU profiler
  std::string title;  // the heading in a table; may have several lines
  double scale = 1;   // a table shows value * scale
  int digits = 2;     // decimals of a number that is not whole, or of any number when scaled
  Audience audience = Audience::Everyone;
};

enum class Style : uint8_t {
  Plain,  // ASCII: spaces and a dashed rule
  Box     // UTF-8 box drawing
};

class Sheet {
 public:
  explicit Sheet(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Adds a row; missing cells at its end are empty, more cells than columns are a mistake of ours.
  void add(std::vector<Cell> row);

  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

  /// Text is flush left, numbers and truth values flush right.
  std::string table(Style style) const;
  /// RFC 4180: CRLF-free lines, quotes only where needed, a header line first.
  std::string csv() const;
  /// An array with one object per row.
  nlohmann::ordered_json json() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// UTF-8 boxes when standard output is a terminal whose locale says UTF-8, plain text otherwise.
Style styleForStdout();

}  // namespace ordito::report
