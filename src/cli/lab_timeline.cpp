// See lab_timeline.hpp.
#include "cli/lab_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/svg.hpp"

namespace ordito::cli {
namespace {

using nlohmann::json;
using report::svg::text;

struct Kind {
  const char *begins, *title;  // what an operation's category or name begins with
  char mark;
  const char *light, *dark;  // colours
};

// The colours differ in lightness too, for those who see them alike.
constexpr Kind kKinds[] = {{"copy to device", "copy to device", '>', "#2f6fb0", "#6fb1f0"},
                           {"copy to host", "copy to host", '<', "#c8782a", "#f0a860"},
                           {"copy", "other copy", '=', "#8a6bb0", "#b79be0"},
                           {"kernel", "kernel", '#', "#3f8a3a", "#7fcf78"},
                           {"host", "host function", 'h', "#b03a5a", "#f08aa5"},
                           {"", "other", '.', "#777777", "#aaaaaa"}};

const Kind& kindOf(const LabOperation& o) {
  return *std::ranges::find_if(
      kKinds, [&](const Kind& k) { return o.name.starts_with(k.begins) || o.category.starts_with(k.begins); });
}

double ms(std::int64_t ns) { return static_cast<double>(ns) * 1e-6; }

std::string summary(const LabTimeline& t) {
  const std::size_t count = t.operations(), streams = t.lanes.size();
  return fmt::format("{} operation{} on {} stream{}, at most {} at once, {:.3f} ms", count, count == 1 ? "" : "s",
                     streams, streams == 1 ? "" : "s", t.mostAtOnce(), ms(t.duration));
}

/// Marks what `lane` did in a line of `width` characters. A short operation still has one.
std::string marked(const std::vector<LabOperation>& lane, std::int64_t duration, std::size_t width) {
  std::string line(width, ' ');
  auto at = [&](std::int64_t time) {
    const double share = duration > 0 ? static_cast<double>(std::max<std::int64_t>(0, time)) / duration : 0;
    return std::min(width - 1, static_cast<std::size_t>(share * static_cast<double>(width)));
  };
  for (const LabOperation& o : lane) {
    for (std::size_t i = at(o.begin); i <= at(o.end); ++i) line[i] = kindOf(o).mark;
  }
  return line;
}

}  // namespace

std::size_t LabTimeline::operations() const {
  std::size_t count = 0;
  for (const auto& lane : lanes) count += lane.size();
  return count;
}

int LabTimeline::mostAtOnce(const std::string& category) const {
  std::vector<std::pair<std::int64_t, int>> changes;  // what ends at an instant ends before what begins
  for (const auto& lane : lanes) {
    for (const LabOperation& o : lane) {
      if (!category.empty() && o.category != category) continue;
      changes.emplace_back(o.begin, 1);
      changes.emplace_back(std::max(o.end, o.begin + 1), -1);
    }
  }
  std::ranges::sort(changes);
  int now = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, now += change);
  return most;
}

std::vector<LabTimeline> labTimelines(const json& document, const json& timeline) {
  std::vector<LabTimeline> all;
  for (const json& variant : document.at("variants")) {
    LabTimeline t{variant.at("name"), variant.value("title", std::string()), 0, {}};
    const auto begin = variant.value("begin_ns", std::int64_t{0}), end = variant.value("end_ns", std::int64_t{0});
    t.duration = end - begin;
    std::map<std::uint64_t, std::size_t> laneOf;
    for (const json& event : timeline.at("traceEvents")) {
      if (event.at("ph") != "X" || event.at("cat") == "event" || event.at("cat") == "range") continue;
      const json& args = event.at("args");
      const auto from = args.at("begin_ns").get<std::int64_t>();
      if (from < begin || from >= end) continue;
      const auto [at, isNew] = laneOf.emplace(event.at("tid").get<std::uint64_t>(), t.lanes.size());
      if (isNew) t.lanes.emplace_back();
      t.lanes[at->second].push_back({event.at("name"), event.at("cat"), args.at("correlation"), from - begin,
                                     args.at("end_ns").get<std::int64_t>() - begin});
    }
    if (!t.lanes.empty()) all.push_back(std::move(t));
  }
  return all;
}

std::string timelineText(const std::vector<LabTimeline>& timelines) {
  constexpr std::size_t kColumns = 88, kMostLanes = 10;
  std::string out = "What ran when, in the last round of each variant (";
  for (const Kind& kind : kKinds) out += fmt::format("{} {}{}", kind.mark, kind.title, *kind.begins ? ", " : "):\n");
  for (const LabTimeline& t : timelines) {
    out += fmt::format("\n{}: {}\n", t.name, summary(t));
    for (std::size_t i = 0; i < std::min(kMostLanes, t.lanes.size()); ++i) {
      out += fmt::format("  stream {:<2} |{}|\n", i + 1, marked(t.lanes[i], t.duration, kColumns));
    }
    if (t.lanes.size() > kMostLanes) out += fmt::format("  and {} more\n", t.lanes.size() - kMostLanes);
  }
  return out;
}

json timelineJson(const std::vector<LabTimeline>& timelines) {
  json all = json::array();
  for (const LabTimeline& t : timelines) {
    json operations = json::array();
    for (std::size_t lane = 0; lane < t.lanes.size(); ++lane) {
      for (const LabOperation& o : t.lanes[lane]) {
        operations.push_back({{"stream", lane + 1},
                              {"correlation", o.correlation},
                              {"name", o.name},
                              {"kind", o.category},
                              {"begin_ns", o.begin},
                              {"end_ns", o.end}});
      }
    }
    all.push_back({{"variant", t.name},
                   {"duration_ns", t.duration},
                   {"most_at_once", t.mostAtOnce()},
                   {"most_kernels_at_once", t.mostAtOnce("kernel")},
                   {"most_copies_at_once", t.mostAtOnce("copy")},
                   {"operations", operations}});
  }
  return all;
}

// ---------------------------------------------------------------------------------------------------------- picture

namespace {

// In the units of the picture.
constexpr int kWidth = 1000, kMargin = 24, kLabels = 70, kHead = 84, kTitle = 38, kLane = 13, kBar = 10, kAxis = 24;

std::string style() {
  std::string light, dark;
  for (std::size_t i = 0; i < std::size(kKinds); ++i) {
    light += fmt::format(".k{}{{fill:{}}}", i, kKinds[i].light);
    dark += fmt::format(".k{}{{fill:{}}}", i, kKinds[i].dark);
  }
  return "<style>.title{font-size:18px;font-weight:bold}.head{font-size:13px;font-weight:bold}"
         ".small{font-size:11px}text{fill:#222}.small{fill:#555}.page{fill:#fff}.lane{fill:#f0f0f0}.axis{stroke:#888}" +
         light +
         "@media(prefers-color-scheme:dark){text{fill:#eee}.small{fill:#bbb}.page{fill:#16181c}.lane{fill:#262a30}" +
         dark + "}</style>\n";
}

std::string rectangle(const std::string& kind, double x, double y, double width, double height) {
  return fmt::format("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\"", kind, x, y,
                     width, height);
}

/// 1, 2 or 5 times a power of ten, so that there are some four to ten steps.
double stepOf(double most) {
  double step = 1e-6;
  while (true) {
    for (const double factor : {1.0, 2.0, 5.0})
      if (most / (step * factor) <= 8) return step * factor;
    step *= 10;
  }
}

std::string axis(const LabTimeline& t, double y, double scale) {
  const double most = ms(t.duration), step = stepOf(most);
  std::string out;
  for (double at = 0; at <= most * 1.0001; at += step) {
    const double x = kMargin + kLabels + at * 1e6 * scale;
    out += fmt::format("<line class=\"axis\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n", x, y,
                       y + 4);
    const char* unit = at + step > most ? " ms" : "";
    out += text(x, y + 15, "class=\"small\" text-anchor=\"middle\"", fmt::format("{:g}{}", at, unit));
  }
  return out;
}

std::string panel(const LabTimeline& t, double top) {
  const double room = kWidth - 2 * kMargin - kLabels;
  const double scale = t.duration > 0 ? room / static_cast<double>(t.duration) : 0;
  std::string out = text(kMargin, top + 14, "class=\"head\"", fmt::format("{} ({})", t.title, t.name)) +
                    text(kMargin, top + 29, "class=\"small\"", summary(t));
  for (std::size_t i = 0; i < t.lanes.size(); ++i) {
    const double y = top + kTitle + static_cast<double>(i) * kLane;
    out += rectangle("lane", kMargin + kLabels, y, room, kBar) + "/>\n" +
           text(kMargin + kLabels - 8, y + 9, "class=\"small\" text-anchor=\"end\"", fmt::format("stream {}", i + 1));
    for (const LabOperation& o : t.lanes[i]) {
      const double begin = static_cast<double>(o.begin) * scale;
      const double width = std::max(0.8, std::min(room - begin, static_cast<double>(o.end - o.begin) * scale));
      const auto kind = fmt::format("k{}", &kindOf(o) - kKinds);
      out += rectangle(kind, kMargin + kLabels + begin, y, width, kBar) + "><title>" +
             report::svg::escaped(
                 fmt::format("{} #{}: {:.3f} to {:.3f} ms", o.name, o.correlation, ms(o.begin), ms(o.end))) +
             "</title></rect>\n";
    }
  }
  return out + axis(t, top + kTitle + static_cast<double>(t.lanes.size()) * kLane, scale);
}

std::string legend() {
  std::string out;
  double x = kMargin;
  for (std::size_t i = 0; i < std::size(kKinds); ++i) {
    out += rectangle(fmt::format("k{}", i), x, 56, 12, kBar) + "/>\n" +
           text(x + 17, 65, "class=\"small\"", kKinds[i].title);
    x += 130;
  }
  return out;
}

double heightOf(const LabTimeline& t) { return kTitle + static_cast<double>(t.lanes.size()) * kLane + kAxis + 14; }

}  // namespace

std::string timelinePicture(const std::string& title, const std::vector<LabTimeline>& timelines) {
  double height = kHead;
  std::string panels;
  for (const LabTimeline& t : timelines) {
    panels += panel(t, height);
    height += heightOf(t);
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" "
             "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n",
             kWidth, height + kMargin) +
         style() + "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n" +
         text(kMargin, 32, "class=\"title\"", title) + legend() + panels + "</svg>\n";
}

}  // namespace ordito::cli
