// See finding.hpp.
#include "check/finding.hpp"

#include <nlohmann/json.hpp>

namespace ordito::check {

namespace {

using Json = nlohmann::ordered_json;

struct RuleText {
  const char* name;
  Severity severity;
};

// By Rule.
constexpr RuleText kRules[] = {
    {"memory.bounds", Severity::Error},
    {"memory.misaligned", Severity::Error},
    {"memory.freed", Severity::Error},
    {"memory.leak", Severity::Warning},
    {"memory.uninitialised", Severity::Error},
    {"memory.uninitialised_copy", Severity::Warning},
    {"memory.free", Severity::Error},
    {"api.error", Severity::Warning},
    {"launch.failed", Severity::Error},
    {"race.shared", Severity::Error},
    {"race.warp", Severity::Error},
    {"race.global", Severity::Error},
    {"race.atomic_load", Severity::Warning},
    {"race.copy", Severity::Error},
    {"race.acquire", Severity::Note},
    {"race.same_value", Severity::Note},
    {"race.texture", Severity::Error},
    {"race.proxy", Severity::Error},
    {"race.stream", Severity::Error},
    {"race.graph", Severity::Error},
    {"race.host", Severity::Error},
    {"race.lifetime", Severity::Error},
    {"sync.mask", Severity::Error},
    {"sync.inactive_lane", Severity::Error},
    {"sync.mbarrier", Severity::Error},
    {"sync.divergent_barrier", Severity::Error},
    {"sync.mixed_barrier", Severity::Warning},
    {"sync.bypassed", Severity::Error},
    {"sync.count", Severity::Error},
};
constexpr const char* kSeverities[] = {"note", "warning", "error"};

Json numbers(const uint32_t (&three)[3]) { return {three[0], three[1], three[2]}; }
Json numbers(const machine::Dim3& d) { return {d.x, d.y, d.z}; }

Json jsonOf(const std::optional<CallSite>& call) {
  if (!call) return {};
  Json frames = Json::array();
  for (const CallFrame& f : call->frames)
    frames.push_back({{"function", f.function}, {"module", f.module}, {"offset", f.offset}});
  return {{"name", call->call}, {"frames", std::move(frames)}};
}

Json jsonOf(const Side& side) {
  Json json = {{"kind", side.what},
               {"bytes", side.bytes},
               {"thread", numbers(side.thread)},
               {"block", numbers(side.block)},
               {"warp", side.warp},
               {"lane", side.lane},
               {"ptx_line", side.ptxLine},
               {"source", side.source.empty() ? Json() : Json(side.source)},
               {"column", side.column}};
  if (side.operation.empty()) return json;
  json["operation"] = side.operation;
  json["kernel"] = side.kernel;
  json["call"] = jsonOf(side.call);
  return json;
}

/// null where the finding is none of two threads of a block, or where it is not known.
Json jsonOf(const std::optional<Meeting>& meeting) {
  if (!meeting) return Json();
  return {{"kind", meeting->what},
          {"ptx_line", meeting->ptxLine},
          {"source", meeting->source.empty() ? Json() : Json(meeting->source)},
          {"column", meeting->column}};
}

}  // namespace

const char* nameOf(Rule rule) { return kRules[static_cast<size_t>(rule)].name; }
const char* nameOf(Severity severity) { return kSeverities[static_cast<size_t>(severity)]; }
Severity severityOf(Rule rule) { return kRules[static_cast<size_t>(rule)].severity; }

void Findings::add(Findings more) {
  std::vector<const Key*> keys(more.all_.size());
  for (const auto& [key, at] : more.index_) keys[at] = &key;
  total_ += more.total_, dropped_ += more.dropped_;
  for (size_t k = 0; k < keys.size(); ++k) {
    const auto known = index_.find(*keys[k]);
    if (known != index_.end()) {
      all_[known->second].count += more.all_[k].count;
    } else if (all_.size() >= kMost) {
      dropped_ += more.all_[k].count;
    } else {
      index_[*keys[k]] = all_.size();
      all_.push_back(std::move(more.all_[k]));
    }
  }
}

std::string toJson(const Findings& findings, const BlockCounts& blocks) {
  Json list = Json::array();
  for (const Finding& f : findings.all()) {
    Json sides = Json::array();
    for (const Side& side : f.sides) sides.push_back(jsonOf(side));
    Json one = {{"rule", nameOf(f.rule)},
                {"severity", nameOf(severityOf(f.rule))},
                {"message", f.message},
                {"kernel", f.kernel},
                {"grid", numbers(f.grid)},
                {"block", numbers(f.block)},
                {"accesses", std::move(sides)},
                {"object", f.object},
                {"help", f.help},
                {"call", jsonOf(f.call)},
                {"count", f.count}};
    one["last_meeting"] = jsonOf(f.meeting);
    list.push_back(std::move(one));
  }
  const Json report = {
      {"schema", "ordito.check.1"},
      {"findings", std::move(list)},
      {"dropped", {{"findings", findings.dropped()}}},
      {"blocks",
       {{"told", blocks.told}, {"proved", blocks.proved}, {"tried", blocks.tried}, {"unheard", blocks.unheard}}}};
  return report.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ordito::check
