// ptxas_check: does our verifier take what NVIDIA's compiler takes? Every combination of modifiers and types of each
// row goes to both (of optional modifiers of memory instructions up to three at once), hundreds in one file; each that
// only one of them takes is printed.
//
//   ptxas_check PTXAS [ROW]...
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "forms.hpp"

namespace ordito::gpu {
namespace {

constexpr size_t kPerFile = 400;
constexpr unsigned kOptionalInMemory = 3;

/// The output of a command, both streams.
std::string outputOf(const std::string& command) {
  std::string text;
  std::array<char, 4096> piece;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  while (pipe && fgets(piece.data(), piece.size(), pipe)) text += piece.data();
  if (pipe) pclose(pipe);
  return text;
}

/// The complaint about each line.
std::map<size_t, std::string> complaints(const std::string& log) {
  std::map<size_t, std::string> found;
  for (size_t at = 0; (at = log.find(", line ", at)) != std::string::npos; ++at) {
    const size_t end = log.find('\n', at), error = log.find("error", at);
    if (error != std::string::npos && error < end)
      found.emplace(std::strtoul(log.c_str() + at + 7, nullptr, 10), log.substr(error, end - error));
  }
  return found;
}

struct Probe {
  std::string line;  // the instruction
  bool ours = false;
};

class Check {
 public:
  explicit Check(std::string ptxas)
      : ptxas_(std::move(ptxas)), file_(fmt::format("/tmp/ptxas_check.{}.ptx", getpid())) {}
  ~Check() { unlink(file_.c_str()); }

  size_t row(isa::Op op) {
    size_t differing = 0;
    std::vector<Probe> probes;
    const unsigned optional = isa::info(op).effect == isa::Effect::Pure ? ~0u : kOptionalInMemory;
    for (const Form& f : opcodesOf(op, {.optional = optional, .refused = true})) {
      const std::string text = probe(f);
      if (text.empty()) continue;
      const size_t end = text.rfind('\n', text.size() - 3), begin = text.rfind('\n', end - 1);
      head_ = text.substr(0, begin + 1);
      probes.push_back({text.substr(begin + 1, end - begin), isValid(text)});
    }
    for (size_t k = 0; k < probes.size(); k += kPerFile)
      differing += compare({probes.begin() + static_cast<long>(k),
                            probes.begin() + static_cast<long>(std::min(k + kPerFile, probes.size()))});
    return differing;
  }

 private:
  std::string ptxas_, file_, head_;

  size_t compare(std::vector<Probe> probes) {
    size_t differing = 0;
    const size_t first = 1 + static_cast<size_t>(std::count(head_.begin(), head_.end(), '\n'));
    // A line that does not even parse hides the others: it is taken out and the rest asked again.
    for (;;) {
      std::ofstream out(file_);
      out << head_;
      for (const Probe& p : probes) out << p.line;
      out << "}\n";
      out.close();
      const auto found = complaints(outputOf(fmt::format("{} -arch=sm_90a -O0 {} -o /dev/null", ptxas_, file_)));
      size_t unparsed = probes.size();
      for (const auto& [line, what] : found)
        if (what.find("syntax error") != std::string::npos && line >= first && line - first < probes.size())
          unparsed = line - first;
      if (unparsed == probes.size()) {
        for (size_t k = 0; k < probes.size(); ++k) differing += report(probes[k], found, first + k);
        return differing;
      }
      differing += report(probes[unparsed], found, first + unparsed);
      probes.erase(probes.begin() + static_cast<long>(unparsed));
    }
  }

  static bool report(const Probe& p, const std::map<size_t, std::string>& found, size_t line) {
    const auto complaint = found.find(line);
    const bool theirs = complaint == found.end();
    if (p.ours == theirs) return false;
    std::printf("%s %.*s%s%s\n", theirs ? "only ptxas takes" : "only Ordito takes", static_cast<int>(p.line.size() - 1),
                p.line.c_str(), theirs ? "" : "   -- ", theirs ? "" : complaint->second.c_str());
    return true;
  }
};

int run(int argc, char** argv) {
  Check check(argv[1]);
  size_t differing = 0;
  for (uint16_t k = 0; k < static_cast<uint16_t>(isa::Op::Count); ++k) {
    const bool isChosen =
        argc == 2 || std::any_of(argv + 2, argv + argc, [&](char* a) { return isa::kOps[k].name == a; });
    if (isChosen) differing += check.row(static_cast<isa::Op>(k));
  }
  std::printf("%zu combinations are taken by one of the two only\n", differing);
  return differing != 0;
}

}  // namespace
}  // namespace ordito::gpu

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("usage: ptxas_check PTXAS [ROW]..."), 2;
  return ordito::gpu::run(argc, argv);
}
