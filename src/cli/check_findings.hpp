// What the command knows of the findings that a checked program has reported: which of them are known already, and how
// they are told, for people and for other programs (docs/check.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace ordito::cli {

using FindingJson = nlohmann::ordered_json;

/// 2 error, 1 warning, 0 note.
int rankOf(const std::string& severity);
inline int rankOf(const FindingJson& finding) { return rankOf(finding.at("severity").get<std::string>()); }

/// A place in a source file, "a.cu:12" taken apart; no line: 0.
struct SourcePlace {
  std::string file;
  uint32_t line = 0, column = 0;  // 0: not known
};
/// Of an access or of a call; no file if that is not known.
SourcePlace placeOf(const FindingJson& access);
/// The text of that line without the blanks around it; empty if the file cannot be read.
std::string lineAt(const SourcePlace& place);

/// Finds the function, file and line of the host's call that a finding names, where the program was compiled with -g
/// and LLVM's symbolizer is installed.
void locateCall(FindingJson& finding);

/// Does the text match a pattern in which `*` stands for any text?
bool matches(std::string_view pattern, std::string_view text);

/// Which findings are known and not to be told.
class Suppressions {
 public:
  /// A file of lines "rule kernel file:line # reason".
  Expected<> readFile(const std::string& path);
  /// A file of fingerprints, as writeBaseline makes it.
  Expected<> readBaseline(const std::string& path);
  /// By these files, or by a comment "ordito: ok RULE" at the end of a line that the finding names.
  bool covers(const FindingJson& finding) const;

 private:
  struct Line {
    std::string rule, kernel = "*", place = "*";
  };
  std::vector<Line> lines_;
  std::vector<std::string> fingerprints_;
};

/// Of rule, kernel and the text of the lines, so that it survives when lines above come and go.
std::string fingerprintOf(const FindingJson& finding);
Expected<> writeBaseline(const std::string& path, const std::vector<FindingJson>& findings);

/// One finding in words.
std::string textOf(const FindingJson& finding);
/// The same as NVIDIA's compute-sanitizer words it, each line behind "========= ".
std::string sanitizerTextOf(const FindingJson& finding);
/// A line for GitHub's log, which becomes a remark at the line of the source.
std::string githubTextOf(const FindingJson& finding);
/// SARIF 2.1.0 and JUnit's XML.
std::string sarifOf(const std::vector<FindingJson>& findings);
std::string junitOf(const std::vector<FindingJson>& findings);

}  // namespace ordito::cli
