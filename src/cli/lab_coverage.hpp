// `ordito lab coverage`: for every row of the specification, what shows that it works (lab/coverage.json).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "report/sheet.hpp"

namespace ordito::cli {

struct CoverageRow {
  std::string id;
  std::string title;
  std::string program;             // of the lab; may be empty
  std::vector<std::string> tests;  // names that ctest knows; none if the row is not covered yet
  std::string missing;             // what is lacking, if something is there
  std::string needs;               // from where else than Debian, for the tests not to be skipped
};

struct CoverageGroup {
  std::string name;
  std::vector<CoverageRow> rows;

  std::size_t covered() const;
};

Expected<std::vector<CoverageGroup>> loadCoverage(const std::filesystem::path& folder);

/// A row for each row of the specification.
report::Sheet coverageSheet(const std::vector<CoverageGroup>& groups);

/// How many rows of each group are covered, and of all.
report::Sheet coverageTotals(const std::vector<CoverageGroup>& groups);

}  // namespace ordito::cli
