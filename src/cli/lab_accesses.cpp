// See lab_accesses.hpp. A picture has a column for each lane and a row for each sector or bank, and a mark where a lane
// touches one. What a GPU moves, or how often it asks, is then the number of rows with marks, or of marks beside each
// other in the fullest row.
#include "cli/lab_accesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "report/svg.hpp"

namespace ordito::cli {
namespace {

using nlohmann::json;
using report::svg::text;

constexpr std::uint64_t kSector = 32, kLine = 128, kBanks = 32, kWord = 4;
constexpr int kLanes = 32;

/// What a variant of this row of the specification is about.
std::pair<std::string, std::string> kindAndSpace(const std::string& spec) {
  if (spec == "mem.bank_conflict") return {"load", "shared"};
  if (spec == "mem.stores") return {"store", "global"};
  if (spec == "mem.local") return {};  // where a lane's own array lies is not where it would lie on a GPU
  return {"load", "global"};
}

LabAccess accessOf(const json& variant, const json& from) {
  LabAccess access{variant.at("name"), variant.at("title"), from.at("kind"), from.at("space"), from.at("source"), {}};
  const auto lanes = from.at("lanes").get<std::vector<int>>();
  const auto addresses = from.at("addresses").get<std::vector<std::uint64_t>>();
  for (std::size_t i = 0; i < lanes.size(); ++i) access.addresses.emplace_back(lanes[i], addresses.at(i));
  return access;
}

}  // namespace

std::uint64_t LabAccess::rowOf(std::uint64_t address) const {
  return space == "shared" ? address / kWord % kBanks : address / kSector;
}

std::vector<std::uint64_t> LabAccess::rows() const {
  std::set<std::uint64_t> touched;
  if (space == "shared")
    for (std::uint64_t bank = 0; bank < kBanks; ++bank) touched.insert(bank);
  for (const auto& [lane, address] : addresses) touched.insert(rowOf(address));
  return {touched.begin(), touched.end()};
}

int LabAccess::passes() const {
  std::map<std::uint64_t, std::set<std::uint64_t>> words;
  for (const auto& [lane, address] : addresses) words[rowOf(address)].insert(address / kWord);
  std::size_t most = 0;
  for (const auto& [bank, different] : words) most = std::max(most, different.size());
  return static_cast<int>(most);
}

Expected<std::vector<LabAccess>> labAccesses(const json& document, const json& recording) {
  std::vector<LabAccess> all;
  const json& launches = recording.at("launches");
  for (const json& variant : document.at("variants")) {
    const std::size_t first = variant.at("launch_first");
    if (variant.at("launch_count") == 0) continue;
    if (first >= launches.size()) return fail("the recording ends after {} launches", launches.size());
    const auto [kind, space] = kindAndSpace(variant.at("spec"));
    for (const json& access : launches.at(first).at("accesses")) {
      if (access.at("kind") != kind || access.at("space") != space) continue;
      all.push_back(accessOf(variant, access));
      break;
    }
  }
  return all;
}

std::string warpText(const json& recording) {
  const json& launches = recording.at("launches");
  if (launches.empty()) return "";
  std::string out;
  for (const json& access : launches.at(0).at("accesses")) {
    std::string lanes(kLanes, 'X');
    for (const json& lane : access.at("lanes")) lanes.at(lane.get<std::size_t>()) = '|';
    std::string source = access.at("source");
    source.erase(std::min(source.size(), source.find(' ')));  // the call's own line, not those of what it calls
    source.erase(0, source.find_last_of('/') + 1);
    out += fmt::format("  {:<16} {:<6} {:<7} {}\n", source, access.at("kind").get<std::string>(),
                       access.at("space").get<std::string>(), lanes);
  }
  return out;
}

// ---------------------------------------------------------------------------------------------------------- picture

namespace {

// In the units of the picture.
constexpr int kWidth = 1000, kMargin = 24, kHead = 82, kTitle = 44, kCell = 11, kLabels = 62, kGap = 40, kAxis = 22;
constexpr int kPanel = (kWidth - 2 * kMargin - kGap) / 2;

std::string style() {
  return "<style>.title{font-size:18px;font-weight:bold}.head{font-size:13px;font-weight:bold}.small{font-size:11px}"
         ".tiny{font-size:9px}text{fill:#222}.small,.tiny{fill:#555}.page{fill:#fff}.field{fill:#f1f1f1}"
         ".mark{fill:#2f6fb0}.crowd{fill:#c8502a}.edge{stroke:#999}"
         "@media(prefers-color-scheme:dark){text{fill:#eee}.small,.tiny{fill:#bbb}.page{fill:#16181c}"
         ".field{fill:#262a30}.mark{fill:#6fb1f0}.crowd{fill:#f0906a}.edge{stroke:#777}}</style>\n";
}

std::string summary(const LabAccess& access) {
  if (access.space == "shared") {
    return fmt::format("{} lanes, {} {}", access.addresses.size(), access.passes(),
                       access.passes() == 1 ? "pass" : "passes, one after another");
  }
  std::set<std::uint64_t> lines;
  for (const auto& [lane, address] : access.addresses) lines.insert(address / kLine);
  return fmt::format("{} lanes, {} {} of 32 bytes in {} {} of 128", access.addresses.size(), access.rows().size(),
                     access.rows().size() == 1 ? "sector" : "sectors", lines.size(),
                     lines.size() == 1 ? "line" : "lines");
}

/// The distance from the start of the first line; or the bank.
std::string rowLabel(const LabAccess& access, std::uint64_t row, std::uint64_t first) {
  if (access.space == "shared") return fmt::format("bank {}", row);
  return fmt::format("+{}", row * kSector - first / (kLine / kSector) * kLine);
}

std::string field(const LabAccess& access, double left, double top) {
  const std::vector<std::uint64_t> rows = access.rows();
  std::map<std::uint64_t, std::set<std::uint64_t>> words;
  for (const auto& [lane, address] : access.addresses) words[access.rowOf(address)].insert(address / kWord);
  std::string out;
  std::map<std::uint64_t, double> placeOf;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = top + static_cast<double>(i) * kCell;
    placeOf[rows[i]] = y;
    out += fmt::format("<rect class=\"field\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\"/>\n", left, y,
                       kLanes * kCell, kCell - 1);
    out += text(left - 6, y + kCell - 2.5, "class=\"tiny\" text-anchor=\"end\"", rowLabel(access, rows[i], rows[0]));
    const bool isNewLine = i > 0 && rows[i] * kSector / kLine != rows[i - 1] * kSector / kLine;
    if (access.space != "shared" && isNewLine) {
      out += fmt::format("<line class=\"edge\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n",
                         left - kLabels + 8, left + kLanes * kCell, y - 0.5);
    }
  }
  for (const auto& [lane, address] : access.addresses) {
    const bool isCrowded = access.space == "shared" && words[access.rowOf(address)].size() > 1;
    out += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\"><title>lane {}: {} "
        "{}</title></rect>\n",
        isCrowded ? "crowd" : "mark", left + lane * kCell + 1, placeOf[access.rowOf(address)], kCell - 2, kCell - 1,
        lane, access.space == "shared" ? "byte" : "address", address);
  }
  return out;
}

std::string panel(const LabAccess& access, double left, double top) {
  std::string out = text(left, top + 14, "class=\"head\"", access.title) +
                    text(left, top + 31, "class=\"small\"", summary(access)) +
                    field(access, left + kLabels, top + kTitle);
  const double bottom = top + kTitle + static_cast<double>(access.rows().size()) * kCell;
  for (const int lane : {0, 8, 16, 24, 31}) {
    out += text(left + kLabels + (lane + 0.5) * kCell, bottom + 11, "class=\"tiny\" text-anchor=\"middle\"",
                lane == 0 ? "lane 0" : std::to_string(lane));
  }
  return out;
}

double heightOf(const LabAccess& access) {
  return kTitle + static_cast<double>(access.rows().size()) * kCell + kAxis + 16;
}

}  // namespace

std::string accessPicture(const std::string& title, const std::vector<LabAccess>& accesses) {
  double height = kHead;
  std::string panels;
  for (std::size_t i = 0; i < accesses.size(); i += 2) {
    panels += panel(accesses[i], kMargin, height);
    double row = heightOf(accesses[i]);
    if (i + 1 < accesses.size()) {
      panels += panel(accesses[i + 1], kMargin + kPanel + kGap, height);
      row = std::max(row, heightOf(accesses[i + 1]));
    }
    height += row;
  }
  const char* key =
      "a mark: this lane touches this sector of global memory, or a word in this bank of shared memory; red: other "
      "words of the bank are wanted, too";
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" "
             "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\">\n",
             kWidth, height + kMargin) +
         style() + "<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n" +
         text(kMargin, 32, "class=\"title\"", title) + text(kMargin, 56, "class=\"small\"", key) + panels + "</svg>\n";
}

}  // namespace ordito::cli
