// How findings are told. See check_findings.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/check_findings.hpp"

namespace ordito::cli {

namespace {

std::string wordOf(const FindingJson& object, const char* name) { return object.at(name).get<std::string>(); }

std::string triple(const FindingJson& numbers) {
  return fmt::format("({},{},{})", numbers[0].get<uint32_t>(), numbers[1].get<uint32_t>(), numbers[2].get<uint32_t>());
}

/// Where the host's call stands; empty if that is not known.
std::string callText(const FindingJson& f) {
  if (!f.contains("call") || !f.at("call").is_object()) return "";
  const FindingJson& call = f.at("call");
  if (!call.contains("function")) return "";
  const std::string function = wordOf(call, "function");
  if (call.at("source").is_string()) return wordOf(call, "source") + (function.empty() ? "" : " in " + function);
  const std::string module = std::filesystem::path(wordOf(call, "module")).filename();
  return fmt::format("{}{}+{:#x}", function.empty() ? "" : function + " in ", module,
                     call.at("offset").get<uint64_t>());
}

/// Is it a whole operation rather than what one thread has done?
bool isOperation(const FindingJson& access) { return access.contains("operation"); }

std::string placeText(const FindingJson& access) {
  const uint32_t column = access.contains("column") ? access.at("column").get<uint32_t>() : 0;
  if (access.at("source").is_string())
    return wordOf(access, "source") + (column ? fmt::format(":{}", column) : std::string());
  if (!isOperation(access) || access.at("ptx_line").get<uint32_t>())
    return fmt::format("PTX line {}", access.at("ptx_line").get<uint32_t>());
  const std::string call = callText(access);
  return call.empty() ? "the host" : call;
}

/// "write, 4 bytes, by kernel scale(int*) in stream 3, launched at a.cu:40 in main"
std::string textOfOperation(const FindingJson& a) {
  const std::string kernel = wordOf(a, "kernel"), call = callText(a);
  if (wordOf(a, "operation") == "the host" && a.at("bytes") == 0) return wordOf(a, "kind") + " by the host";
  std::string text = fmt::format("{}, {} bytes, by {}", wordOf(a, "kind"), a.at("bytes").get<uint32_t>(),
                                 kernel.empty() ? "" : fmt::format("kernel {} in ", kernel));
  if (kernel.empty() && a.at("call").is_object() && wordOf(a, "operation") != "the host")
    text += wordOf(a.at("call"), "name") + " in ";
  text += wordOf(a, "operation");
  return kernel.empty() || call.empty() ? text : text + ", launched at " + call;
}

/// Who it was, in words.
std::string whoText(const FindingJson& a) {
  if (isOperation(a)) return textOfOperation(a);
  return fmt::format("{}, {} bytes, thread {} = warp {} lane {} of block {}", wordOf(a, "kind"),
                     a.at("bytes").get<uint32_t>(), triple(a.at("thread")), a.at("warp").get<uint32_t>(),
                     a.at("lane").get<uint32_t>(), triple(a.at("block")));
}

std::string textOfAccess(const FindingJson& a) {
  std::string text = fmt::format("  {}: {}\n", placeText(a), whoText(a));
  if (const std::string line = lineAt(placeOf(a)); !line.empty()) text += fmt::format("      {}\n", line);
  return text;
}

/// Of two threads of a block, what they have both come to before; empty for other findings.
std::string meetingText(const FindingJson& f) {
  if (!f.contains("last_meeting") || !f.at("last_meeting").is_object()) return "";
  const FindingJson& m = f.at("last_meeting");
  if (m.at("ptx_line").get<uint32_t>() == 0) return "have not met since their block began";
  return fmt::format("last met at {}: {}", placeText(m), wordOf(m, "kind"));
}

/// "reduce(int*), grid (4,1,1), block (256,1,1)"
std::string kernelText(const FindingJson& f) {
  return fmt::format("{}, grid {}, block {}", wordOf(f, "kernel"), triple(f.at("grid")), triple(f.at("block")));
}

/// The line that a remark belongs to: the last access, since the first one may have been right.
SourcePlace mainPlace(const FindingJson& f) {
  SourcePlace place;
  for (const FindingJson& a : f.at("accesses"))
    if (SourcePlace p = placeOf(a); p.line) place = std::move(p);
  if (!place.line && f.contains("call")) place = placeOf(f.at("call"));
  return place;
}

/// All of the finding in one text.
std::string wholeMessage(const FindingJson& f) {
  std::string text = wordOf(f, "message");
  for (const FindingJson& a : f.at("accesses"))
    text += isOperation(a) ? fmt::format("; {} at {}", textOfOperation(a), placeText(a))
                           : fmt::format("; {} at {} by thread {} of block {}", wordOf(a, "kind"), placeText(a),
                                         triple(a.at("thread")), triple(a.at("block")));
  if (const std::string meeting = meetingText(f); !meeting.empty()) text += "; the two threads " + meeting;
  if (const auto object = wordOf(f, "object"); !object.empty()) text += "; " + object;
  return text;
}

std::string escapedForGithub(const std::string& text, bool isProperty) {
  std::string out;
  for (const char c : text) {
    const bool isSpecial = c == '%' || c == '\r' || c == '\n' || (isProperty && (c == ':' || c == ','));
    out += isSpecial ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  return out;
}

std::string escapedForXml(const std::string& text) {
  static const std::map<char, const char*> names = {
      {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&apos;"}};
  std::string out;
  for (const char c : text) {
    const auto it = names.find(c);
    if (it != names.end())
      out += it->second;
    else if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t')
      out += c;
  }
  return out;
}

}  // namespace

int rankOf(const std::string& severity) { return severity == "error" ? 2 : severity == "warning" ? 1 : 0; }

std::string textOf(const FindingJson& f) {
  std::string text = fmt::format("{}[{}] {}\n", wordOf(f, "severity"), wordOf(f, "rule"), wordOf(f, "message"));
  for (const FindingJson& a : f.at("accesses")) text += textOfAccess(a);
  if (const std::string meeting = meetingText(f); !meeting.empty()) text += fmt::format("  {}\n", meeting);
  if (const auto object = wordOf(f, "object"); !object.empty()) text += fmt::format("  {}\n", object);
  const bool isOfOperations = !f.at("accesses").empty() && isOperation(f.at("accesses")[0]);
  if (!wordOf(f, "kernel").empty() && !isOfOperations) text += fmt::format("  kernel {}\n", kernelText(f));
  if (const std::string call = callText(f); !call.empty() && !isOfOperations)
    text += fmt::format("  {} at {}\n", wordOf(f, "kernel").empty() ? "called" : "launched", call);
  if (const auto help = wordOf(f, "help"); !help.empty()) text += fmt::format("  help: {}\n", help);
  if (const auto count = f.at("count").get<uint64_t>(); count > 1)
    text += fmt::format("  {} more of these\n", count - 1);
  return text;
}

std::string githubTextOf(const FindingJson& f) {
  static constexpr const char* kCommands[] = {"notice", "warning", "error"};
  const SourcePlace place = mainPlace(f);
  const std::string where = place.line
                                ? fmt::format("file={},line={},{}", escapedForGithub(place.file, true), place.line,
                                              place.column ? fmt::format("col={},", place.column) : "")
                                : "";
  return fmt::format("::{} {}title={}::{}\n", kCommands[rankOf(f)], where, escapedForGithub(wordOf(f, "rule"), true),
                     escapedForGithub(wholeMessage(f), false));
}

std::string sarifOf(const std::vector<FindingJson>& findings) {
  using Json = FindingJson;
  const auto location = [](const SourcePlace& p) {
    Json region = {{"startLine", std::max(p.line, 1u)}};
    if (p.column) region["startColumn"] = p.column;
    return Json{{"physicalLocation", {{"artifactLocation", {{"uri", p.file}}}, {"region", std::move(region)}}}};
  };
  Json rules = Json::array(), results = Json::array();
  std::map<std::string, size_t> ruleIndex;
  for (const Json& f : findings) {
    const std::string rule = wordOf(f, "rule");
    if (ruleIndex.try_emplace(rule, ruleIndex.size()).second) rules.push_back({{"id", rule}});
    Json result = {{"ruleId", rule},
                   {"ruleIndex", ruleIndex[rule]},
                   {"level", wordOf(f, "severity")},
                   {"message", {{"text", wholeMessage(f)}}},
                   {"partialFingerprints", {{"ordito/v1", fingerprintOf(f)}}},
                   {"occurrenceCount", f.at("count")}};
    if (const SourcePlace place = mainPlace(f); place.line) result["locations"] = Json::array({location(place)});
    Json related = Json::array();
    for (const Json& a : f.at("accesses"))
      if (const SourcePlace p = placeOf(a); p.line) {
        related.push_back(location(p));
        related.back()["message"] = {{"text", wordOf(a, "kind")}};
      }
    if (!related.empty()) result["relatedLocations"] = std::move(related);
    results.push_back(std::move(result));
  }
  const Json driver = {{"name", "ordito check"}, {"rules", std::move(rules)}};
  const Json run = {{"tool", {{"driver", driver}}}, {"results", std::move(results)}};
  return Json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
              {"version", "2.1.0"},
              {"runs", Json::array({run})}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

/// A test case for each kernel and rule. Notes are no failures.
std::string junitOf(const std::vector<FindingJson>& findings) {
  std::map<std::pair<std::string, std::string>, std::string> cases;
  size_t failures = 0;
  for (const FindingJson& f : findings) {
    std::string& text = cases[{wordOf(f, "kernel"), wordOf(f, "rule")}];
    if (rankOf(f) > 0) text += textOf(f);
  }
  std::string body;
  for (const auto& [name, text] : cases) {
    body += fmt::format("  <testcase classname=\"{}\" name=\"{}\"",
                        escapedForXml(name.first.empty() ? "host" : name.first), escapedForXml(name.second));
    failures += !text.empty();
    body += text.empty() ? "/>\n"
                         : fmt::format(">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n",
                                       escapedForXml(text.substr(0, text.find('\n'))), escapedForXml(text));
  }
  if (cases.empty()) body = "  <testcase classname=\"ordito check\" name=\"no finding\"/>\n";
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ordito check\" tests=\"{}\" "
      "failures=\"{}\">\n{}</testsuite>\n",
      std::max<size_t>(cases.size(), 1), failures, body);
}

}  // namespace ordito::cli
