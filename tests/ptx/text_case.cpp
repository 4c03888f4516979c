// Parser of the directives.
#include "text_case.hpp"

#include <bit>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>

namespace ordito::test {

namespace {

using isa::Type;

class Reader {
 public:
  explicit Reader(TextTest& test) : test(test) {}

  Expected<> read() {
    std::istringstream lines(test.text);
    for (std::string line; std::getline(lines, line);) {
      ++number;
      size_t start = line.find("// ");
      if (start == std::string::npos || line.find_first_not_of(" \t") != start) continue;
      if (auto ok = directive(line.substr(start + 3)); !ok)
        return fail("{}:{}: {}", test.name, number, ok.error().message);
    }
    if (test.cases.empty()) return fail("{}: no RUN directive", test.name);
    return {};
  }

 private:
  Expected<> directive(const std::string& text) {
    std::istringstream words(text);
    std::string head;
    words >> head;
    if (head == "RUN:") return run(words);
    bool known = head == "IN" || head == "OUT" || head == "OUT?" || head == "VALUE" || head == "FAULT" ||
                 head == "ERROR" || head == "COUNT" || head == "EMULATED" || head == "INTERPRETED" ||
                 head == "SCHEDULED" || head == "+";
    if (!known) return {};  // an ordinary comment
    if (test.cases.empty()) return fail("{} before the first RUN", head);
    Case& c = test.cases.back();
    if (head == "INTERPRETED") {
      c.interpretedOnly = true;
      return {};
    }
    if (head == "SCHEDULED") {
      c.isScheduled = true;
      return {};
    }
    if (head == "FAULT") {
      c.fault.emplace();
      return fault(words, c);
    }
    if (head == "ERROR") {
      c.error = text.substr(text.find("ERROR") + 6);
      return {};
    }
    if (head == "EMULATED") {
      c.emulatedOnly = true;
      return {};
    }
    if (head == "COUNT") {
      auto& [name, count] = c.counts.emplace_back();
      if (!(words >> name >> count)) return fail("COUNT wants a counter and a number");
      return {};
    }
    return head == "+" ? values(words) : buffer(head, words);
  }

  /// The line is a number or the name of a comment that stands behind the instruction; then the thread.
  Expected<> fault(std::istringstream& words, Case& c) {
    std::string where;
    words >> *c.fault >> where;
    if (where.starts_with("@"))
      c.faultLine = lineMarked(where);
    else if (!where.empty())
      c.faultLine = static_cast<uint32_t>(std::strtoul(where.c_str(), nullptr, 10));
    if (!where.empty() && c.faultLine == 0) return fail("FAULT: no line '{}'", where);
    std::string rest;
    std::getline(words >> std::ws, rest);
    c.faultThread = rest;
    return {};
  }

  uint32_t lineMarked(const std::string& mark) const {
    std::istringstream lines(test.text);
    uint32_t at = 0;
    for (std::string line; std::getline(lines, line);)
      if (++at; line.ends_with("; // " + mark)) return at;
    return 0;
  }

  Expected<> run(std::istringstream& words) {
    Case c;
    c.line = number;
    for (std::string word; words >> word;) {
      if (word == "kernel")
        words >> c.kernel;
      else if (word == "grid")
        c.grid = dimensions(words);
      else if (word == "block")
        c.block = dimensions(words);
      else if (word == "shared")
        words >> c.dynamicShared;
      else
        return fail("RUN: unknown word '{}'", word);
    }
    test.cases.push_back(c);
    return {};
  }

  static machine::Dim3 dimensions(std::istringstream& words) {
    machine::Dim3 d;
    uint32_t* parts[] = {&d.x, &d.y, &d.z};
    for (uint32_t* part : parts) {
      auto position = words.tellg();
      if (!(words >> *part)) {
        *part = 1;
        words.clear();
        words.seekg(position);
        break;
      }
    }
    return d;
  }

  Expected<> buffer(const std::string& head, std::istringstream& words) {
    std::string name, typeName;
    words >> name >> typeName;
    auto type = isa::typeFromName(typeName);
    if (!type || isa::bytes(*type) == 0 || isa::bits(*type) > 64) return fail("'{}' is no type for a buffer", typeName);
    bool isOut = head.starts_with("OUT");
    std::vector<Buffer>& all = test.cases.back().parameters;
    current = 0;
    while (current < all.size() && all[current].name != name) ++current;
    if (current < all.size() && !isOut) return fail("a second {} for {}", head, name);
    if (current == all.size()) {
      all.emplace_back();
      all[current].name = name;
      all[current].isScalar = head == "VALUE";
      fresh = isOut;
    } else {
      fresh = false;
    }
    all[current].type = *type;
    if (head == "OUT?") all[current].expectedOnGpu = false;
    into = isOut;
    return values(words);
  }

  Expected<> values(std::istringstream& words) {
    Buffer& b = test.cases.back().parameters[current];
    for (std::string word; words >> word;) {
      if (word == "random") {
        uint64_t seed, count;
        if (into || !(words >> seed >> count)) return fail("random wants a seed and a count, and belongs to IN");
        std::mt19937_64 generator(seed);
        while (count-- > 0) add(b, generator());
      } else if (auto ok = value(b, word); !ok) {
        return ok;
      }
    }
    return {};
  }

  Expected<> value(Buffer& b, const std::string& word) {
    if (size_t dots = word.find(".."); dots != std::string::npos) {
      int64_t first = std::strtoll(word.c_str(), nullptr, 0);
      char* rest = nullptr;
      int64_t last = std::strtoll(word.c_str() + dots + 2, &rest, 0);
      int64_t step = *rest == '/' ? std::strtoll(rest + 1, nullptr, 0) : 1;
      if (step <= 0 || last < first) return fail("bad range {}", word);
      for (int64_t v = first; v <= last; v += step)
        add(b, isa::isFloat(b.type) ? *number_(b.type, std::to_string(v)) : uint64_t(v));
      return {};
    }
    uint64_t repeat = 1;
    std::string one = word;
    if (size_t star = word.find('*'); star != std::string::npos) {
      one = word.substr(0, star);
      repeat = std::strtoull(word.c_str() + star + 1, nullptr, 0);
    }
    bool any = one == "_";
    auto bits = any ? Expected<uint64_t>(0) : number_(b.type, one);
    if (!bits) return tl::unexpected(bits.error());
    while (repeat-- > 0) add(b, *bits, any);
    return {};
  }

  void add(Buffer& b, uint64_t bits, bool any = false) {
    unsigned width = isa::bits(b.type);
    if (width < 64) bits &= (uint64_t{1} << width) - 1;
    if (!into) return b.initial.push_back(bits);
    b.expected.push_back({bits, any});
    if (fresh) b.initial.push_back(0);
  }

  /// Integers, hexadecimal words of f32 and f64 (but not hexadecimal floats such as 0x1p-3), and all words of the other
  /// formats are bits.
  static bool isBits(Type type, const std::string& word) {
    bool isHex = word.find("0x") != std::string::npos && word.find('p') == std::string::npos;
    return isHex || (type != Type::f32 && type != Type::f64);
  }

  static Expected<uint64_t> number_(Type type, const std::string& word) {
    char* end = nullptr;
    uint64_t bits;
    bool negative = word[0] == '-';
    bool prefixed = word.size() > 2 && word[0] == '0' && (word[1] == 'f' || word[1] == 'd');
    if (prefixed) {
      bits = std::strtoull(word.c_str() + 2, &end, 16);
    } else if (isBits(type, word)) {
      bits = negative ? uint64_t(std::strtoll(word.c_str(), &end, 0)) : std::strtoull(word.c_str(), &end, 0);
    } else if (type == Type::f32) {
      bits = std::bit_cast<uint32_t>(std::strtof(word.c_str(), &end));
      if (word == "nan") bits = 0x7FFFFFFF;
    } else {
      bits = std::bit_cast<uint64_t>(std::strtod(word.c_str(), &end));
    }
    if (*end) return fail("'{}' is no value of type {}", word, isa::name(type));
    return bits;
  }

  TextTest& test;
  uint32_t number = 0;
  size_t current = 0;  // the buffer that `+` continues
  bool into = false;   // whether values are expected ones
  bool fresh = false;  // whether expected values also size the buffer
};

}  // namespace

Expected<TextTest> readTextTest(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail("cannot read {}", path);
  TextTest test;
  test.name = path.substr(path.find_last_of('/') + 1);
  test.text = std::string(std::istreambuf_iterator<char>(file), {});
  if (auto ok = Reader(test).read(); !ok) return tl::unexpected(ok.error());
  return test;
}

}  // namespace ordito::test
