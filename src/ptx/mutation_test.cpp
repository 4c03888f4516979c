// A deterministic fuzzer that runs with the unit tests: real modules, damaged in many small ways, must never crash or
// hang the parser; and whatever still parses must survive the verifier and print to text that parses to the same
// module. tests/fuzz has the coverage-guided version.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "ptx/test_text.hpp"
#include "ptx/verifier.hpp"

namespace ordito::ptx {
namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr int kMutants = 15000;
#else
constexpr int kMutants = 100000;
#endif
#endif

const std::string_view kNasty[] = {"99999999999",
                                   "18446744073709551615",
                                   "-1",
                                   "{",
                                   "}",
                                   "((((((((",
                                   "[",
                                   "]",
                                   "\"",
                                   "/*",
                                   ";",
                                   ".",
                                   "%",
                                   "%r1",
                                   "0f7F800001",
                                   "0d",
                                   "0x",
                                   ".param",
                                   ".reg .b32 %q<4294967295>;",
                                   "x:",
                                   "generic(",
                                   "_",
                                   "!",
                                   "@%p1",
                                   "call",
                                   ".v4",
                                   "{{{{",
                                   "<",
                                   ">",
                                   "|",
                                   ".f16x2",
                                   "WARP_SZ",
                                   "ret;",
                                   ".b8 x[9999999999]",
                                   "\0\0",
                                   "\xff",
                                   ".align 16",
                                   ".callprototype",
                                   ".branchtargets",
                                   ".entry",
                                   "//",
                                   "?",
                                   "~",
                                   "= {1, {2}}"};

/// Whole lines keep the damage local: most of a mutant is still good PTX, so that it gets deep into the parser.
std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class Mutator {
 public:
  Mutator(std::vector<std::string> lines, std::vector<std::string> modules)
      : lines_(std::move(lines)), modules_(std::move(modules)) {}

  std::string next() { return below(4) ? stretch() : whole(); }

 private:
  /// A whole module with so little damage that it is often still a module.
  std::string whole() {
    std::string text = modules_[below(modules_.size())];
    for (size_t n = 1 + below(3); n > 0; --n) below(8) ? exchange(text) : damage(text);
    return text;
  }

  /// Header plus a stretch of lines, with some damage.
  std::string stretch() {
    size_t length = 1 + below(60), start = below(lines_.size() - std::min(length, lines_.size() - 1));
    std::string text = below(8) ? ".version 8.3\n.target sm_80\n.address_size 64\n" : "";
    bool wrap = below(2);
    if (wrap)
      text +=
          ".entry k(.param .u64 p) {\n.reg .pred %p<9>; .reg .b16 %rs<99>; .reg .b32 %r<99>; .reg .b64 %rd<99>; .reg "
          ".f32 %f<99>; .reg .f64 %fd<99>;\n";
    for (size_t i = 0; i < length && start + i < lines_.size(); ++i) text += lines_[start + i] + "\n";
    if (wrap) text += "}\n";
    for (size_t n = below(4); n > 0; --n) damage(text);
    return text;
  }

  size_t below(size_t n) { return n ? random_() % n : 0; }

  void damage(std::string& text) {
    size_t at = below(text.size()), length = std::min<size_t>(below(12), text.size() - at);
    switch (below(6)) {
      case 0: text[at] = static_cast<char>(below(256)); break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(below(text.size()), length)); break;
      case 3: text.insert(at, kNasty[below(std::size(kNasty))]); break;
      case 4: text.resize(at); break;
      default: text.replace(at, length, kNasty[below(std::size(kNasty))]); break;
    }
    if (text.empty()) text = " ";
  }

  /// One digit, or one word for another word of the same text.
  void exchange(std::string& text) {
    size_t at = text.find_first_of("0123456789", below(text.size()));
    if (below(2) && at != std::string::npos) {
      text[at] = static_cast<char>('0' + below(10));
      return;
    }
    auto [from, fromLength] = wordNear(text, below(text.size()));
    auto [to, toLength] = wordNear(text, below(text.size()));
    text.replace(to, toLength, text.substr(from, fromLength));
  }

  static std::pair<size_t, size_t> wordNear(const std::string& text, size_t at) {
    constexpr const char* kBlanks = " \t\n,;[](){}";
    size_t begin = std::min(text.find_first_not_of(kBlanks, at), text.size());
    size_t end = std::min(text.find_first_of(kBlanks, begin), text.size());
    return {begin, end - begin};
  }

  std::vector<std::string> lines_, modules_;
  std::mt19937 random_{20240229};
};

void check(const std::string& text, int& valid) {
  auto m = parse(text, "mutant");
  if (!m) {
    ASSERT_FALSE(m.error().message.empty());
    return;
  }
  ++valid;
  (void)verify(*m);
  for (const Variable& v : m->variables)
    if (v.initial.size() > 1 << 20) return;
  std::string printed = print(*m);
  auto again = parse(printed, "printed");
  ASSERT_TRUE(again) << again.error().message << "\n" << text << "\n--- printed:\n" << printed;
  ASSERT_EQ(test::withoutLines(*m), test::withoutLines(*again)) << text << "\n--- printed:\n" << printed;
}

TEST(Mutation, NeverCrashesAndStillRoundTrips) {
  std::vector<std::string> lines;
  for (const char* name : test::kInputs) {
    std::vector<std::string> more = linesOf(test::input(name));
    // Debug information is most of its file and is skipped by the parser.
    if (more.size() > 800) more.resize(800);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  ASSERT_GT(lines.size(), 500u);
  Mutator mutator(std::move(lines), {test::input("handmade.ptx"), test::input("language_O2.ptx")});
  int valid = 0;
  for (int i = 0; i < kMutants && !HasFatalFailure(); ++i) check(mutator.next(), valid);
  RecordProperty("valid", valid);
  EXPECT_GT(valid, kMutants / 50) << "the mutants are too broken to test anything";
}

}  // namespace
}  // namespace ordito::ptx
