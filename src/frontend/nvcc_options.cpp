// nvcc's command line, read with the table of its options.
#include "frontend/nvcc_options.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <sstream>

#include "frontend/compiler_wrapper.hpp"
#include "frontend/nvcc_option_table.hpp"

namespace ordito::frontend {
namespace {

using Result = Expected<void>;

using Takes = NvccOption::Takes;
using Row = NvccOption;

const Row* findExact(std::string_view name) {
  const auto rows = nvccOptionTable();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.longName == name || r.shortName == name; });
  return row == rows.end() ? nullptr : &*row;
}

const Row* findJoined(std::string_view body) {
  const auto rows = nvccOptionTable();
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.joined && body.starts_with(r.shortName); });
  return row == rows.end() ? nullptr : &*row;
}

class Reader {
 public:
  Result readAll(const std::vector<std::string>& arguments, int depth = 0) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      auto result = readOne(arguments, i, depth);
      if (!result) return result;
    }
    return {};
  }

  NvccOptions options;

 private:
  Result readOne(const std::vector<std::string>& arguments, std::size_t& i, int depth) {
    const std::string& argument = arguments[i];
    if (argument.size() < 2 || argument[0] != '-') {
      options.items.push_back({argument, true});
      return {};
    }
    const std::string_view body = std::string_view(argument).substr(argument.starts_with("--") ? 2 : 1);
    const auto equals = body.find('=');
    const std::string_view name = body.substr(0, equals);
    if (name == "options-file" || name == "optf")
      return readFiles(valueOf(argument, equals, body, arguments, i), depth);
    if (const Row* row = findExact(name)) {
      if (row->takes == Takes::Nothing) {
        if (equals != std::string_view::npos) return fail("{}: the option takes no value", argument);
        return applied(*row, argument, "");
      }
      const bool hasValue = equals != std::string_view::npos;
      // -O alone is an optimisation level too, and does not eat the next argument.
      if (!hasValue && name == "O") return applied(*row, argument, "");
      if (!hasValue && i + 1 == arguments.size()) return fail("{}: the option's value is missing", argument);
      return applied(*row, argument, valueOf(argument, equals, body, arguments, i));
    }
    if (const Row* row = findJoined(body))
      return applied(*row, argument, std::string(body.substr(row->shortName.size())));
    return unknown(argument);
  }

  static std::string valueOf(const std::string&, std::size_t equals, std::string_view body,
                             const std::vector<std::string>& arguments, std::size_t& i) {
    if (equals != std::string_view::npos) return std::string(body.substr(equals + 1));
    return i + 1 < arguments.size() ? arguments[++i] : std::string();
  }

  Result applied(const Row& row, const std::string& argument, const std::string& value) {
    auto result = row.apply(options, value);
    if (!result) return fail("{}: {}", argument, result.error().message);
    if (hasNoEffect(row)) options.notes.push_back(argument + ": " + std::string(row.help));
    return {};
  }

  Result unknown(const std::string& argument) {
    if (!options.forwardUnknown) {
      return fail("{}: nvcc has no such option (options of the host compiler go after -Xcompiler)", argument);
    }
    options.host.push_back(argument);
    return {};
  }

  Result readFiles(const std::string& names, int depth) {
    if (depth > 8) return fail("{}: option files include one another", names);
    for (const auto& name : splitList(names)) {
      std::ifstream file(name);
      if (!file) return fail("{}: cannot read the option file", name);
      std::stringstream text;
      text << file.rdbuf();
      auto result = readAll(splitShellWords(text.str()), depth + 1);
      if (!result) return result;
    }
    return {};
  }
};

}  // namespace

std::vector<std::string> splitShellWords(std::string_view text) {
  std::vector<std::string> words;
  bool inWord = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (quote == 0 && blank) {
      inWord = false;
      continue;
    }
    if (!inWord) words.emplace_back();
    inWord = true;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      words.back() += text[++i];
    } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? 0 : c;
    } else {
      words.back() += c;
    }
  }
  return words;
}

Expected<NvccOptions> parseNvccOptions(const std::vector<std::string>& arguments) {
  Reader reader;
  // The option may come after what it is for.
  reader.options.forwardUnknown = std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return argument.find("forward-unknown-to-host-compiler") != std::string::npos ||
           argument.find("forward-unknown-opts") != std::string::npos;
  });
  auto result = reader.readAll(arguments);
  if (!result) return tl::unexpected(result.error());
  if (isMpiWrapper(reader.options.hostCompiler)) {
    const auto added = mpiWrapperOptions(reader.options.hostCompiler);
    if (!added) return tl::unexpected(added.error());
    // Behind all others: the linker takes libraries in this order.
    result = reader.readAll(*added);
    if (!result) return tl::unexpected(result.error());
  }
  return std::move(reader.options);
}

std::string gpuList(const NvccOptions& options) {
  std::string text;
  for (const int arch : clangArchitectures()) {
    if (options.listArch && options.listCode)
      text += fmt::format("arch=compute_{},code=sm_{}\n", arch, arch);
    else
      text += fmt::format("{}_{}\n", options.listArch ? "compute" : "sm", arch);
  }
  return text;
}

std::string nvccOptionHelp() {
  std::string text;
  for (const Row& row : nvccOptionTable()) {
    const std::string names = row.longName == row.shortName ? fmt::format("-{}", row.shortName)
                                                            : fmt::format("--{} (-{})", row.longName, row.shortName);
    text += fmt::format("  {:<44} {}\n", names, row.help);
  }
  return text;
}

}  // namespace ordito::frontend
