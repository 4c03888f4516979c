// Most of the text is PTX, and the parser of PTX reads it: this one takes out the statements that PTX does not have,
// line by line, so that lines keep their numbers, and puts the two together again.
#include "ir/parse.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "ir/print.hpp"
#include "ptx/parser.hpp"

namespace ordito::ir {

namespace {

using Kind = Terminator::Kind;

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view withoutComment(std::string_view line) { return trim(line.substr(0, line.find("//"))); }

/// The text up to `separator`, which goes with it.
std::string_view take(std::string_view& text, std::string_view separator) {
  const size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view{} : trim(text.substr(at + separator.size()));
  return trim(head);
}

bool accept(std::string_view& text, std::string_view word) {
  const bool whole = text.starts_with(word) && (text.size() == word.size() || text[word.size()] == ' ');
  if (whole) text = trim(text.substr(word.size()));
  return whole;
}

/// One line of a body: a statement and, behind its semicolon or colon, attributes that begin with `!`.
struct Line {
  uint32_t number = 0;
  std::string_view statement;                               // without the semicolon
  std::map<std::string_view, std::string_view> attributes;  // "line" -> "12"
};

bool isOfIr(std::string_view statement) {
  for (std::string_view word : {"phi", "jump", "branch", "exit", "trap", "barrier", "frame"})
    if (accept(statement, word)) return true;
  return false;
}

/// "B12:" or "B12: from B3, B4"
bool isLabel(std::string_view line) {
  const size_t colon = line.find(':');
  return line.starts_with('B') && colon != std::string_view::npos && colon > 1 &&
         line.substr(1, colon - 1).find_first_not_of("0123456789") == std::string_view::npos;
}

/// Is this the head of a body, `.visible .entry k(...) {`?
bool opensBody(std::string_view line) { return line.ends_with('{') && line.find('=') == std::string_view::npos; }

/// A kernel of the document: its lines, and what they become.
class BodyReader {
 public:
  BodyReader(std::string_view file, const ptx::Module& module, const ptx::Function& kernel,
             const std::vector<Line>& lines)
      : file_(file), kernel_(kernel), lines_(lines) {
    f_.module = &module;
    f_.kernel = &kernel;
  }

  Expected<Function> run() {
    f_.variables = kernel_.variables;
    for (line_ = lines_.begin(); line_ != lines_.end() && !error_; ++line_) statement();
    if (!error_ && f_.blocks.empty()) error("the body has no block: B0: is missing");
    if (!error_ && !ended_) error("the last block has no end");
    for (const Block& b : f_.blocks) targetsExist(b);
    if (error_) return tl::unexpected(*error_);
    if (!hasPredecessors_) fillPredecessors(f_);
    completeOrigins();
    return std::move(f_);
  }

 private:
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    if (error_) return;
    const uint32_t number = line_ == lines_.end() ? lines_.back().number : line_->number;
    error_ = Error{fmt::format("{}:{}: {}", file_, number, fmt::format(format, std::forward<Args>(args)...)), 0};
  }

  void statement() {
    std::string_view text = line_->statement;
    if (text.starts_with(".reg")) return registers(text.substr(4));
    if (text.starts_with('.')) return variable();
    if (accept(text, "frame")) return frame(text);
    if (isLabel(text)) return label(text);
    if (f_.blocks.empty() || ended_) return error("a statement outside of a block: a label such as B0: is missing");
    if (isOfIr(text)) return accept(text, "phi") ? phi(text) : end(text);
    block().code.push_back(instruction());
  }

  /// The parser of PTX gives numbers by first use, the IR by declaration.
  void registers(std::string_view text) {
    text = trim(text);
    text.remove_prefix(1);
    const auto type = isa::typeFromName(take(text, " "));
    if (!type) return error("'{}' is no type of a register", line_->statement);
    while (!text.empty()) {
      const std::string name(take(text, ","));
      if (name.find('<') != std::string::npos) return error("name each value: '{}' names several", name);
      values_[name] = static_cast<ValueId>(f_.values.size());
      f_.values.push_back({name, *type});
    }
  }

  void variable() {
    if (!line_->attributes.count("origin")) return;
    std::string_view text = line_->attributes.at("origin");
    const uint32_t function = number(take(text, " "));
    f_.origin.push_back({function, number(text)});
  }

  /// "stack_3, 96, sites 1 2, window_1 48"
  void frame(std::string_view text) {
    Frame frame;
    f_.stack.variable = variableNamed(take(text, ","));
    frame.bytes = number(take(text, ","));
    std::string_view sites = take(text, ",");
    if (!accept(sites, "sites")) return error("expected 'sites' and the numbers of calls");
    while (!sites.empty()) frame.sites.push_back(number(take(sites, " ")));
    while (!text.empty()) {
      std::string_view place = take(text, ",");
      const uint32_t variable = variableNamed(take(place, " "));
      frame.variables.emplace_back(variable, number(place));
    }
    f_.stack.frames.push_back(std::move(frame));
  }

  uint32_t variableNamed(std::string_view name) {
    const auto found = std::ranges::find(f_.variables, name, &ptx::Variable::name);
    if (found == f_.variables.end()) return error("there is no variable '{}'", name), 0;
    return static_cast<uint32_t>(found - f_.variables.begin());
  }

  void label(std::string_view text) {
    if (!f_.blocks.empty() && !ended_) return error("the block before has no end");
    const std::string_view name = take(text, ":");
    if (blockNamed(name) != f_.blocks.size()) return error("expected B{}, found {}", f_.blocks.size(), name);
    f_.blocks.emplace_back();
    ended_ = false;
    block().line = attribute("line");
    if (!accept(text, "from")) return;
    hasPredecessors_ = true;
    while (!text.empty()) block().predecessors.push_back(blockNamed(take(text, ",")));
  }

  void phi(std::string_view text) {
    Phi phi;
    phi.value = value(take(text, "="));
    while (!text.empty()) phi.incoming.push_back(value(take(text, ",")));
    if (phi.incoming.size() != block().predecessors.size())
      return error("a phi with {} inputs in a block with {} predecessors (write them: B1: from B0)",
                   phi.incoming.size(), block().predecessors.size());
    block().phis.push_back(std::move(phi));
  }

  void end(std::string_view text) {
    Terminator& end = block().end;
    ended_ = true;
    end.line = attribute("line");
    end.isInstruction = line_->attributes.count("written");
    if (accept(text, "jump")) {
      end.kind = Kind::Jump;
      end.target[0] = blockNamed(text);
    } else if (accept(text, "branch")) {
      end.kind = Kind::Branch;
      end.negated = text.starts_with('!');
      end.condition = value(take(text, ",").substr(end.negated));
      end.target[0] = blockNamed(take(text, ","));
      end.target[1] = blockNamed(text);
    } else if (accept(text, "barrier")) {
      end.kind = Kind::Barrier;
      end.target[0] = blockNamed(take(text, ":"));
      end.barrier = instruction();
      if (line_->attributes.count("end-line")) end.line = attribute("end-line");
    } else if (accept(text, "trap")) {
      end.kind = Kind::Trap;
      end.cause = cause(text);
    } else {
      end.kind = Kind::Exit;
    }
  }

  Terminator::Cause cause(std::string_view word) {
    using enum Terminator::Cause;
    for (auto cause : {Trap, StackOverflow, BadCall, BadIndex})
      if (spell(cause) == word) return cause;
    error("'{}' is no cause of a trap", word);
    return Trap;
  }

  /// The next instruction that the parser of PTX has read, with values for its registers.
  Instruction instruction() {
    if (next_ == kernel_.instructions.size()) return error("expected an instruction"), Instruction();
    Instruction i(kernel_.instructions[next_++]);
    auto rename = [&](ptx::RegisterId& reg) { reg = value(kernel_.registers[reg].name); };
    for (ptx::Operand& o : i.operands) forEachRegister(o, rename);
    if (i.guard) rename(i.guard.reg);
    i.line = attribute("line");
    if (line_->attributes.count("prior")) {
      std::string_view text = line_->attributes.at("prior");
      i.prior[0] = value(take(text, " "));
      if (!text.empty()) i.prior[1] = value(text);
    }
    if (line_->attributes.count("carry-in")) i.carryIn = value(line_->attributes.at("carry-in"));
    if (line_->attributes.count("carry-out")) i.carryOut = value(line_->attributes.at("carry-out"));
    i.raisesIssue = !line_->attributes.count("unissued");
    i.raisesAccess = !line_->attributes.count("unseen");
    i.isReduction = line_->attributes.count("reduction");
    if (line_->attributes.count("object")) i.object = variableNamed(line_->attributes.at("object"));
    return i;
  }

  void targetsExist(const Block& b) {
    for (unsigned k = 0; k < b.end.targetCount(); ++k)
      if (b.end.target[k] >= f_.blocks.size()) error("B{}, to which a block leads, is missing", b.end.target[k]);
  }

  Block& block() { return f_.blocks.back(); }

  ValueId value(std::string_view name) {
    auto it = values_.find(std::string(name));
    if (it != values_.end()) return it->second;
    error("'{}' is not declared", name);
    return kNoValue;
  }

  BlockId blockNamed(std::string_view name) {
    if (!name.starts_with('B')) error("expected a block such as B1, found '{}'", name);
    return error_ ? kNoBlock : number(name.substr(1));
  }

  uint32_t attribute(std::string_view key) {
    auto it = line_->attributes.find(key);
    return it == line_->attributes.end() ? 0 : number(it->second);
  }

  uint32_t number(std::string_view text) {
    uint32_t n = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (problem != std::errc() || end != text.data() + text.size()) error("'{}' is no number", text);
    return n;
  }

  /// Variables without the attribute are the kernel's own.
  void completeOrigins() {
    for (uint32_t i = static_cast<uint32_t>(f_.origin.size()); i < f_.variables.size(); ++i)
      f_.origin.push_back({static_cast<uint32_t>(&kernel_ - f_.module->functions.data()), i});
  }

  std::string_view file_;
  const ptx::Function& kernel_;
  const std::vector<Line>& lines_;
  std::vector<Line>::const_iterator line_;
  Function f_;
  std::map<std::string, ValueId> values_;
  size_t next_ = 0;  // in the kernel's instructions
  bool ended_ = true, hasPredecessors_ = false;
  std::optional<Error> error_;
};

/// Splits the document into PTX, with a line for each of its own, and the lines of each body.
struct Splitter {
  std::string ptx;
  std::vector<std::vector<Line>> bodies;
  std::vector<uint32_t> heads;  // the line of each body's `{`

  explicit Splitter(std::string_view text) {
    for (uint32_t number = 1; !text.empty(); ++number) {
      const size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (inBody_)
        ofBody(withoutComment(line), number);
      else if (ptx += line; opensBody(withoutComment(line)))
        inBody_ = true, bodies.emplace_back(), heads.push_back(number);
      ptx += '\n';
    }
  }

 private:
  void ofBody(std::string_view text, uint32_t number) {
    if (text.empty()) return;
    if (text == "}") {
      ptx += '}';
      inBody_ = false;
      return;
    }
    Line line{number, text, {}};
    const size_t mark = isLabel(text) ? text.find('!') : text.find('!', std::min(text.find(';'), text.size() - 1));
    if (mark != std::string_view::npos) {
      line.statement = trim(text.substr(0, mark));
      readAttributes(line, text.substr(mark + 1));
    }
    if (line.statement.ends_with(';')) line.statement.remove_suffix(1);
    ptx += ptxOf(line.statement);
    bodies.back().push_back(std::move(line));
  }

  static void readAttributes(Line& line, std::string_view rest) {
    while (!rest.empty()) {
      std::string_view attribute = take(rest, "!");
      const std::string_view key = take(attribute, " ");
      line.attributes[key] = attribute;
    }
  }

  /// What the parser of PTX shall read of a statement.
  static std::string ptxOf(std::string_view statement) {
    if (isLabel(statement)) return "";
    if (!isOfIr(statement)) return std::string(statement) + ";";
    if (!statement.starts_with("barrier")) return "";
    take(statement, ":");
    return std::string(statement) + ";";
  }

  bool inBody_ = false;
};

/// The kernel whose body begins on `line`: the last that is declared there or above.
const ptx::Function* kernelAt(const ptx::Module& module, uint32_t line) {
  const ptx::Function* found = nullptr;
  for (const ptx::Function& f : module.functions)
    if (f.hasBody && f.line <= line && (!found || f.line > found->line)) found = &f;
  return found;
}

}  // namespace

Expected<Document> parse(std::string_view text, std::string_view name) {
  const Splitter split(text);
  auto module = ptx::parse(split.ptx, name);
  if (!module) return tl::unexpected(module.error());
  Document document;
  document.module = std::make_unique<const ptx::Module>(std::move(*module));
  for (size_t k = 0; k < split.bodies.size(); ++k) {
    const ptx::Function* kernel = kernelAt(*document.module, split.heads[k]);
    if (!kernel || !kernel->isEntry) return fail("{}:{}: expected a kernel", name, split.heads[k]);
    auto function = BodyReader(name, *document.module, *kernel, split.bodies[k]).run();
    if (!function) return tl::unexpected(function.error());
    document.functions.push_back(std::move(*function));
  }
  return document;
}

}  // namespace ordito::ir
