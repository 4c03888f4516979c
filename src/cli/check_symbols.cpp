// Names the places in the host's program: LLVM's symbolizer reads the symbols and lines of the file that the address
// lies in. Without it, what the dynamic linker knows must do. See check_findings.hpp.
#include <fmt/format.h>

#include <map>
#include <sstream>

#include "cli/check_findings.hpp"
#include "frontend/process.hpp"

namespace ordito::cli {

namespace {

struct Place {
  std::string function, source;  // "a.cu:12"
};

Place lookUp(const std::string& module, uint64_t offset) {
  const std::string text = frontend::runCaught({"llvm-symbolizer-19", "--relative-address", "--no-inlines",
                                                "--obj=" + module, fmt::format("{:#x}", offset)},
                                               "", {})
                               .output;
  std::istringstream lines(text);
  Place place;
  std::string source;
  std::getline(lines, place.function);
  std::getline(lines, source);
  if (place.function.starts_with("??")) place.function.clear();
  // file:line:column
  if (!source.starts_with("??"))
    if (const size_t colon = source.rfind(':'); colon != std::string::npos) place.source = source.substr(0, colon);
  if (place.source.ends_with(":0")) place.source.clear();
  return place;
}

/// Many findings come from one call.
const Place& placeAt(const std::string& module, uint64_t offset) {
  static std::map<std::pair<std::string, uint64_t>, Place> known;
  const auto [it, isNew] = known.try_emplace({module, offset});
  if (isNew) it->second = lookUp(module, offset);
  return it->second;
}

}  // namespace

void locateCall(FindingJson& f) {
  if (f.contains("accesses"))
    for (FindingJson& access : f.at("accesses")) locateCall(access);
  if (!f.contains("call") || !f.at("call").is_object()) return;
  FindingJson& call = f.at("call");
  for (const FindingJson& frame : call.at("frames")) {
    const auto module = frame.at("module").get<std::string>();
    const auto offset = frame.at("offset").get<uint64_t>();
    Place place = placeAt(module, offset);
    if (place.function.empty()) place.function = frame.at("function").get<std::string>();
    if (place.function.find("__device_stub__") != std::string::npos) continue;
    call["function"] = place.function;
    call["module"] = module;
    call["offset"] = offset;
    call["source"] = place.source.empty() ? FindingJson() : FindingJson(place.source);
    return;
  }
}

}  // namespace ordito::cli
