// See inlined_lines.hpp.
#include "libs/nvvm/inlined_lines.hpp"

#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Path.h>

#include <charconv>
#include <map>
#include <optional>
#include <string_view>

namespace ordito::nvvm {
namespace {

constexpr std::string_view kMark = "ordito inlined ";

/// As LLVM names it in .file.
std::string fileOf(const llvm::DILocation& at) {
  llvm::SmallString<128> path(at.getFilename());
  if (llvm::sys::path::is_relative(path) && !at.getDirectory().empty())
    llvm::sys::path::append(path = at.getDirectory(), at.getFilename());
  return path.str().str();
}

std::string functionOf(const llvm::DILocation& at) {
  const llvm::DISubprogram* function = at.getScope()->getSubprogram();
  const llvm::StringRef name = function->getLinkageName();
  return (name.empty() ? function->getName() : name).str();
}

/// The number at the beginning of `text`, which is taken off.
std::optional<unsigned> takeNumber(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

/// What follows `directive` at the beginning of a line; nothing if another is there.
std::optional<std::string_view> after(std::string_view line, std::string_view directive) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with(directive)) return std::nullopt;
  return line.substr(directive.size());
}

template <typename Each>
void forEachLine(std::string_view text, Each each) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    each(text.substr(at, end - at));
    at = end;
  }
}

/// The .file directives: made-up names and their chains, and the numbers of all others, to which more can be added.
class Files {
 public:
  explicit Files(std::string_view ptx) {
    forEachLine(ptx, [&](std::string_view line) {
      if (auto rest = after(line, ".file")) add(*rest);
    });
  }

  std::optional<unsigned> chainOf(unsigned file) const {
    const auto found = chains_.find(file);
    return found == chains_.end() ? std::nullopt : std::optional(found->second);
  }
  unsigned numberOf(const std::string& name) {
    const auto [at, isNew] = numbers_.try_emplace(name, next_);
    if (isNew) added_ += fmt::format("\t.file\t{} \"{}\"\n", next_++, name);
    return at->second;
  }
  const std::string& added() const { return added_; }

 private:
  void add(std::string_view rest) {
    const auto number = takeNumber(rest);
    const size_t open = rest.find('"'), close = rest.rfind('"');
    if (!number || close == std::string_view::npos || close == open) return;
    std::string_view name = rest.substr(open + 1, close - open - 1);
    next_ = std::max(next_, *number + 1);
    if (!name.starts_with(kMark)) {
      numbers_[std::string(name)] = *number;
      return;
    }
    name.remove_prefix(kMark.size());
    if (const auto chain = takeNumber(name)) chains_[*number] = *chain;
  }

  std::map<unsigned, unsigned> chains_;
  std::map<std::string, unsigned> numbers_;
  unsigned next_ = 1;
  std::string added_;
};

/// Names of functions, as bytes of a section with a label for each.
class Names {
 public:
  std::string labelOf(const std::string& name) {
    const auto [at, isNew] = labels_.try_emplace(name, labels_.size());
    if (isNew) {
      text_ += fmt::format("$L__ordito_name{}:\n\t.b8 ", at->second);
      for (const char c : name) text_ += fmt::format("{},", static_cast<unsigned char>(c));
      text_ += "0\n";
    }
    return fmt::format("$L__ordito_name{}", at->second);
  }
  std::string section() const { return labels_.empty() ? "" : "\t.section\t.debug_str\n\t{\n" + text_ + "\t}\n"; }

 private:
  std::map<std::string, size_t> labels_;
  std::string text_;
};

}  // namespace

InlinedLines::InlinedLines(llvm::Module& module) {
  std::map<std::pair<const llvm::DISubprogram*, const llvm::DILocation*>, llvm::DIFile*> files;
  for (llvm::Function& function : module)
    for (llvm::Instruction& i : llvm::instructions(function)) {
      const llvm::DILocation* own = i.getDebugLoc();
      if (!own || !own->getInlinedAt() || !function.getSubprogram()) continue;
      auto& file = files[{own->getScope()->getSubprogram(), own->getInlinedAt()}];
      if (!file) {
        file = llvm::DIFile::get(module.getContext(), fmt::format("{}{}", kMark, chains_.size()), "");
        Chain chain;
        for (const llvm::DILocation* at = own; at; at = at->getInlinedAt())
          chain.push_back({fileOf(*at), functionOf(*at), at->getLine(), at->getColumn()});
        chains_.push_back(std::move(chain));
      }
      auto* scope = llvm::DILexicalBlockFile::get(module.getContext(), function.getSubprogram(), file, 0);
      i.setDebugLoc(llvm::DILocation::get(module.getContext(), own->getLine(), own->getColumn(), scope));
    }
}

/// A call must have a .loc of its own before it is named as one. Where a place was inlined twice, its last one counts.
std::string InlinedLines::written(const std::string& ptx) const {
  if (chains_.empty()) return ptx;
  Files files(ptx);
  Names names;
  std::string out;
  std::optional<unsigned> said;
  auto say = [&](const Chain& chain, size_t k, unsigned line, unsigned column) {
    const Place& at = chain[k];
    out += fmt::format("\t.loc\t{} {} {}", files.numberOf(at.file), line, column);
    if (k + 1 < chain.size()) {
      const Place& call = chain[k + 1];
      out += fmt::format(", function_name {}, inlined_at {} {} {}", names.labelOf(at.function),
                         files.numberOf(call.file), call.line, call.column);
    }
    out += '\n';
  };
  forEachLine(ptx, [&](std::string_view line) {
    auto loc = after(line, ".loc"), file = after(line, ".file");
    const auto number = loc ? takeNumber(*loc) : file ? takeNumber(*file) : std::nullopt;
    const auto index = number ? files.chainOf(*number) : std::nullopt;
    if (loc && !index) said = std::nullopt;
    if (!index || *index >= chains_.size()) {
      out += line;
      return;
    }
    if (file) return;
    const Chain& chain = chains_[*index];
    for (size_t k = chain.size() - 1; k > 0 && said != index; --k) say(chain, k, chain[k].line, chain[k].column);
    said = index;
    const unsigned atLine = takeNumber(*loc).value_or(0);
    say(chain, 0, atLine, takeNumber(*loc).value_or(0));
  });
  return out + files.added() + names.section();
}

}  // namespace ordito::nvvm
