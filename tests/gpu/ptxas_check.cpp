// ptxas_check: does our verifier take what NVIDIA's compiler takes? Every combination of modifiers and types of each
// row goes to both (of optional modifiers of memory instructions up to three at once), hundreds in one file; each that
// only one of them takes is printed.
//
//   ptxas_check PTXAS [ROW]...
//   ptxas_check PTXAS --needs [ROW]...    are the least PTX version and target of each those of isa/ptx.def and
//   needs.def?
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "forms.hpp"
#include "isa/needs.hpp"

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

/// The complaints about each line.
std::map<size_t, std::string> complaints(const std::string& log) {
  std::map<size_t, std::string> found;
  for (size_t at = 0; (at = log.find(", line ", at)) != std::string::npos; ++at) {
    const size_t end = log.find('\n', at), error = std::min(log.find("error", at), log.find("fatal", at));
    if (error < end) found[std::strtoul(log.c_str() + at + 7, nullptr, 10)] += log.substr(error, end - error) + "; ";
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
      const auto found =
          complaints(outputOf(fmt::format("{} -arch={} -O0 {} -o /dev/null", ptxas_,
                                          head_.find("sm_100a") == std::string::npos ? "sm_90a" : "sm_100a", file_)));
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

/// Asks for what each form needs, from little to more: the compiler's complaints say what is missing.
class NeedCheck {
 public:
  explicit NeedCheck(std::string ptxas)
      : ptxas_(std::move(ptxas)), file_(fmt::format("/tmp/ptxas_needs.{}.ptx", getpid())) {}
  ~NeedCheck() { unlink(file_.c_str()); }

  size_t row(isa::Op op) {
    std::vector<Asked> all;
    const unsigned optional = isa::info(op).effect == isa::Effect::Pure ? ~0u : kOptionalForNeeds;
    for (const Form& f : opcodesOf(op, {.optional = optional, .refused = true})) {
      std::string text = probe(f);
      if (!text.empty() && !isValid(text)) text = probe(f, true);
      if (text.empty() || !isValid(text)) continue;
      const size_t end = text.rfind('\n', text.size() - 3), begin = text.rfind('\n', end - 1);
      head_ = text.substr(text.find(".visible"), begin + 1 - text.find(".visible"));
      all.push_back({text.substr(begin + 1, end - begin),
                     isa::needOf(f.op, f.instruction.mods, f.instruction.type),
                     {kOldest.since, kOldest.target}});
    }
    // With a newer PTX an older target may do: of both the table has the least.
    std::vector<Asked> newest = all;
    for (Asked& a : newest) a.theirs = kNewest;
    for (std::vector<Asked>* asked : {&all, &newest})
      for (unsigned round = 0; round < kRounds && raiseAll(*asked); ++round) {
      }
    for (size_t k = 0; k < all.size(); ++k)
      all[k].theirs.target = std::min(all[k].theirs.target, newest[k].theirs.target);
    return std::count_if(all.begin(), all.end(), [](const Asked& a) { return report(a); });
  }

 private:
  static constexpr unsigned kOptionalForNeeds = 2, kRounds = 6;
  static constexpr isa::Need kOldest{30, {20, false}}, kNewest{88, {20, false}};
  struct Asked {
    std::string line;
    isa::Need ours, theirs;
    bool isUnclear = false;  // complained about otherwise
  };
  std::string ptxas_, file_, head_;

  /// The first PTX version that knows a target.
  static int firstVersion(isa::Target t) {
    constexpr std::pair<int, int> kFirst[] = {{100, 86}, {90, 78}, {89, 78}, {87, 74}, {86, 71},
                                              {80, 70},  {75, 63}, {72, 61}, {70, 60}, {60, 50},
                                              {53, 42},  {52, 41}, {50, 40}, {35, 31}, {32, 40}};
    if (t == isa::Target{90, true}) return 80;
    for (auto [sm, version] : kFirst)
      if (t.sm >= sm) return version;
    return kOldest.since;
  }

  /// One more round of questions; false if nobody needs more than is known.
  bool raiseAll(std::vector<Asked>& all) {
    std::map<std::pair<int, isa::Target>, std::vector<Asked*>> groups;
    for (Asked& a : all)
      if (!a.isUnclear) groups[{a.theirs.since, a.theirs.target}].push_back(&a);
    bool raised = false;
    for (auto& [need, group] : groups) raised |= raiseGroup({need.first, need.second}, group);
    return raised;
  }

  bool raiseGroup(isa::Need need, std::vector<Asked*> group) {
    const int version = std::max(need.since, firstVersion(need.target));
    std::string head = fmt::format(".version {}.{}\n.target {}\n.address_size 64\n", version / 10, version % 10,
                                   isa::spell(need.target)) +
                       head_;
    if (const size_t wide = head.find("  .reg .b128"); version < 83 && wide != std::string::npos)
      head.replace(wide, head.find('\n', wide) - wide, " ");
    const size_t first = 1 + static_cast<size_t>(std::count(head.begin(), head.end(), '\n'));
    bool raised = false;
    while (!group.empty()) {
      std::ofstream out(file_);
      out << head;
      for (const Asked* a : group) out << a->line;
      out << "}\n";
      out.close();
      const auto found = complaints(outputOf(fmt::format("{} -arch=sm_100a -O0 {} -o /dev/null", ptxas_, file_)));
      std::vector<Asked*> rest;
      bool hides = false;  // a line that does not parse hides the others
      for (size_t k = 0; k < group.size(); ++k) {
        const auto complaint = found.find(first + k);
        if (complaint == found.end()) {
          rest.push_back(group[k]);
          continue;
        }
        hides |= complaint->second.find("syntax error") != std::string::npos;
        const bool isRaised = raise(group[k]->theirs, complaint->second);
        group[k]->isUnclear = !isRaised;
        raised |= isRaised;
      }
      if (!hides) return raised;
      group = std::move(rest);
    }
    return raised;
  }

  /// Takes over what a complaint asks for; false if that is nothing new.
  static bool raise(isa::Need& need, const std::string& complaint) {
    const isa::Need before = need;
    auto numbers = [&](std::string_view what, auto take) {
      for (size_t at = 0; (at = complaint.find(what, at)) != std::string::npos;)
        take(complaint.c_str() + (at += what.size()));
    };
    numbers("requires .target ", [&](const char* text) {
      const bool hasPrefix = std::string_view(text).starts_with("sm_");
      need.target = std::max(need.target, isa::Target{std::atoi(hasPrefix ? text + 3 : text), false});
    });
    numbers("requires PTX ISA .version ", [&](const char* text) {
      need.since = std::max(need.since, static_cast<int>(std::strtod(text, nullptr) * 10 + 0.5));
    });
    // It does not say which target has it: the next that has something of its own.
    numbers("not supported on .target", [&](const char*) {
      for (isa::Target t : {isa::Target{90, false}, {90, true}, {100, false}, {100, true}})
        if (before.target < t) return void(need.target = std::max(need.target, t));
    });
    return need.since != before.since || need.target != before.target;
  }

  static bool report(const Asked& a) {
    const int since = std::max(a.ours.since, kOldest.since);
    const isa::Target target = std::max(a.ours.target, kOldest.target);
    // A target implies the version that brought it.
    const bool isSame = a.theirs.target == target &&
                        std::max(a.theirs.since, firstVersion(target)) == std::max(since, firstVersion(target));
    if (a.isUnclear || isSame) return false;
    std::printf("table: %d.%d %s, ptxas: %d.%d %s for %s", since / 10, since % 10, isa::spell(target).c_str(),
                a.theirs.since / 10, a.theirs.since % 10, isa::spell(a.theirs.target).c_str(), a.line.c_str());
    return true;
  }
};

template <class C>
size_t checkRows(int argc, char** argv, int first) {
  C check(argv[1]);
  size_t differing = 0;
  for (uint16_t k = 0; k < static_cast<uint16_t>(isa::Op::Count); ++k) {
    const bool isChosen =
        argc == first || std::any_of(argv + first, argv + argc, [&](char* a) { return isa::kOps[k].name == a; });
    if (isChosen) differing += check.row(static_cast<isa::Op>(k));
  }
  return differing;
}

int run(int argc, char** argv) {
  const bool asksNeeds = argc > 2 && std::string_view(argv[2]) == "--needs";
  const size_t differing = asksNeeds ? checkRows<NeedCheck>(argc, argv, 3) : checkRows<Check>(argc, argv, 2);
  std::printf(
      asksNeeds ? "%zu combinations need something else\n" : "%zu combinations are taken by one of the two only\n",
      differing);
  return differing != 0;
}

}  // namespace
}  // namespace ordito::gpu

int main(int argc, char** argv) {
  if (argc < 2) return std::puts("usage: ptxas_check PTXAS [ROW]..."), 2;
  return ordito::gpu::run(argc, argv);
}
