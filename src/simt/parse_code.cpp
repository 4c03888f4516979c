// A line is a region's entry, the head of a block, or an operation: its name and then, in any order that print_code.cpp
// writes, what it names. Each kind of name is told by its first letter, so the words of a line are read one by one.
#include "simt/parse_code.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "ir/print.hpp"
#include "simt/verify_code.hpp"

namespace ordito::simt {
namespace {

/// In a region; more than any kernel has, and few enough to keep a table of them.
constexpr uint32_t kMostMasks = 1'000'000;

constexpr std::string_view kSpace = " \t\r,";

/// The next word of `text`, which goes with it.
std::string_view take(std::string_view& text) {
  const size_t first = std::min(text.find_first_not_of(kSpace), text.size());
  const size_t end = std::min(text.find_first_of(kSpace, first), text.size());
  const std::string_view word = text.substr(first, end - first);
  text = text.substr(end);
  return word;
}

/// "B12", after the prefix "B": 12.
std::optional<uint32_t> numberIn(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix)) return std::nullopt;
  word.remove_prefix(prefix.size());
  uint32_t number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

bool namesPredicate(CodeOp op) {
  return op == CodeOp::Condition || op == CodeOp::BranchUniform || op == CodeOp::BranchOnBase;
}

class Parser {
 public:
  Parser(std::string_view name, uint32_t line, const CodeInputs& inputs) : name_(name), line_(line), in_(inputs) {
    for (ValueId v = 0; v < in_.function.values.size(); ++v) values_[ir::valueName(in_.function, v)] = v;
  }

  Expected<Code> run(std::string_view text) {
    const uint32_t first = line_;
    for (; !text.empty() && !error_; ++line_) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      read(line.substr(0, line.find("//")));
    }
    if (!error_)
      if (const auto problem = verify(code_, in_)) line_ = first, error("{}", *problem);
    if (error_) return tl::unexpected(*error_);
    return std::move(code_);
  }

 private:
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    if (!error_)
      error_ = Error{fmt::format("{}:{}: {}", name_, line_, fmt::format(format, std::forward<Args>(args)...))};
  }

  void read(std::string_view line) {
    rest_ = line;
    const std::string_view word = take(rest_);
    if (word.empty()) return;
    if (word == "region") return readEntry();
    if (code_.regions.empty()) return error("expected 'region from', found '{}'", word);
    if (word.starts_with('.') && word.ends_with(':')) return readBlock(word.substr(0, word.size() - 1));
    if (code_.regions.back().blocks.empty()) return error("expected a block such as '.0: entry', found '{}'", word);
    readOperation(word);
  }

  /// region from B3, scheduled: .0
  void readEntry() {
    const bool opens = code_.regions.empty() || !code_.regions.back().blocks.empty();
    take(rest_);  // from
    std::string_view block = take(rest_);
    const bool endsHere = block.ends_with(':');
    if (endsHere) block.remove_suffix(1);
    const bool isScheduled = !endsHere && take(rest_) == "scheduled:";
    const auto resumePoint = resumePointAt(block);
    const auto entry = numberIn(take(rest_), ".");
    if (!resumePoint || !entry) return error("expected an entry such as 'region from B0: .0'");
    if (opens) {
      const bool shares = isScheduled && in_.regions.sharesScheduled;
      Region region = shares ? in_.regions.shared() : in_.regions.at(*resumePoint);
      code_.regions.push_back({std::move(region), isScheduled, {}, {}, 0});
    }
    code_.regions.back().entries.push_back({*resumePoint, *entry});
  }

  /// .3: body, behind .1
  void readBlock(std::string_view name) {
    auto& blocks = code_.regions.back().blocks;
    if (numberIn(name, ".") != blocks.size()) return error("expected block .{}, found {}", blocks.size(), name);
    CodeBlock block{std::string(take(rest_)), kNoCodeBlock, {}};
    if (take(rest_) == "behind") {
      const auto from = numberIn(take(rest_), ".");
      if (!from) return error("expected a block behind 'behind'");
      block.inherits = *from;
    }
    blocks.push_back(std::move(block));
  }

  void readOperation(std::string_view word) {
    CodeOperation o;
    const auto result = numberIn(word, "m");
    if (result) {
      if (*result >= kMostMasks) return error("m{}: masks are numbered from 0 to {}", *result, kMostMasks - 1);
      if (take(rest_) != "=") return error("expected '=' behind {}", word);
      word = take(rest_);
      o.result = *result;
      code_.regions.back().masks = std::max(code_.regions.back().masks, *result + 1);
    }
    const auto op = codeOpNamed(word);
    if (!op) return error("no operation '{}'", word);
    o.op = *op;
    if (o.givesMask() != result.has_value()) return error("{} {}", word, result ? "gives no mask" : "gives a mask");
    targets_ = masks_ = 0;
    for (word = take(rest_); !word.empty() && !error_; word = take(rest_))
      if (!readWord(o, word)) error("{}: unexpected '{}'", nameOf(o.op), word);
    if (targets_ != o.targetCount()) error("{} has {} targets, not {}", nameOf(o.op), o.targetCount(), targets_);
    if (!error_) code_.regions.back().blocks.back().operations.push_back(std::move(o));
  }

  bool readWord(CodeOperation& o, std::string_view word) {
    if (word == "->" || word == "keeping" || word == "freely") return true;
    if (word == "not" && o.op == CodeOp::Run) return rest_ = {}, o.isWhole = true;  // empty
    if (word == "not") return o.negated = true;
    if (word == "whole") return o.isWhole = true;
    if (word == "all") return ++masks_ == 1;
    if (word.starts_with('%')) return readValue(o, word);
    if (word.starts_with('B')) return readKernelBlock(o, word);
    if (word == "end" || word.starts_with('.')) return readTarget(o, word);
    const auto mask = numberIn(word, "m");
    if (!mask || masks_ == 2) return false;
    (masks_++ == 0 ? o.a : o.b) = *mask;
    return true;
  }

  bool readValue(CodeOperation& o, std::string_view word) {
    const auto found = values_.find(std::string(word));
    if (found == values_.end()) return false;
    if (namesPredicate(o.op))
      o.predicate = found->second;
    else
      o.values.push_back(found->second);
    return true;
  }

  bool readKernelBlock(CodeOperation& o, std::string_view word) {
    if (o.op == CodeOp::Spill || o.op == CodeOp::NextRegion) {
      const auto resumePoint = resumePointAt(word);
      o.resumePoint = resumePoint.value_or(0);
      return resumePoint.has_value();
    }
    const auto block = numberIn(word, "B");
    if (!block || *block >= in_.function.blocks.size()) return false;
    (o.block == ir::kNoBlock ? o.block : o.to) = *block;
    return true;
  }

  bool readTarget(CodeOperation& o, std::string_view word) {
    const auto target = word == "end" ? kRegionEnd : numberIn(word, ".");
    if (!target || targets_ == std::size(o.targets)) return false;
    o.targets[targets_++] = *target;
    return true;
  }

  std::optional<uint32_t> resumePointAt(std::string_view word) const {
    const auto block = numberIn(word, "B");
    if (!block || *block >= in_.regions.pointOf.size()) return std::nullopt;
    const uint32_t point = in_.regions.pointOf[*block];
    return point == Regions::kNoResumePoint ? std::nullopt : std::optional(point);
  }

  std::string_view name_;
  uint32_t line_;
  const CodeInputs& in_;
  std::map<std::string, ValueId> values_;
  Code code_;
  std::string_view rest_;  // of the line
  unsigned targets_ = 0, masks_ = 0;
  std::optional<Error> error_;
};

}  // namespace

Expected<Code> parseCode(std::string_view text, std::string_view name, uint32_t firstLine, const CodeInputs& inputs) {
  return Parser(name, firstLine, inputs).run(text);
}

}  // namespace ordito::simt
