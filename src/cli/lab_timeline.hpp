// When the operations of a lab program's streams ran: as lines of characters, as a picture, and as data.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ordito::cli {

/// An operation of a stream, in nanoseconds since its variant's last round began.
struct LabOperation {
  std::string name, category;
  std::uint64_t correlation = 0;
  std::int64_t begin = 0, end = 0;
};

/// What one variant's last round did: a lane for each stream, in the order in which the streams began.
struct LabTimeline {
  std::string name, title;
  std::int64_t duration = 0;  // ns
  std::vector<std::vector<LabOperation>> lanes;

  std::size_t operations() const;
  /// How many ran at the same time; `category`: only those of one category.
  int mostAtOnce(const std::string& category = "") const;
};

/// Lays the timeline that `ordito run --timeline` wrote beside the variants that the program measured. A variant in
/// whose last round nothing ran has none.
std::vector<LabTimeline> labTimelines(const nlohmann::json& document, const nlohmann::json& timeline);

std::string timelineText(const std::vector<LabTimeline>& timelines);
std::string timelinePicture(const std::string& title, const std::vector<LabTimeline>& timelines);
nlohmann::json timelineJson(const std::vector<LabTimeline>& timelines);

}  // namespace ordito::cli
