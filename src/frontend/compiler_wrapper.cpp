// See compiler_wrapper.hpp.
#include "frontend/compiler_wrapper.hpp"

#include <filesystem>
#include <string_view>

#include "frontend/nvcc_options.hpp"
#include "frontend/process.hpp"

namespace ordito::frontend {
namespace {

/// Of the words of a host compiler's command those that say where things are, as nvcc takes them.
void translate(const std::string& command, std::vector<std::string>& options) {
  const std::vector<std::string> words = splitShellWords(command);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i], kind = word.substr(0, 2);
    const bool isPath = kind == "-I" || kind == "-L" || kind == "-D" || kind == "-l";
    if (isPath)
      options.push_back(words[i]);
    else if (word == "-isystem" && i + 1 < words.size())
      options.insert(options.end(), {words[i], words[i + 1]}), ++i;
    else if (word == "-pthread")
      options.insert(options.end(), {"-Xcompiler", "-pthread"});
    else if (word.starts_with("-Wl,"))
      options.insert(options.end(), {"-Xlinker", words[i].substr(4)});
  }
}

}  // namespace

bool isMpiWrapper(const std::string& compiler) {
  return std::filesystem::path(compiler).filename().string().starts_with("mpi");
}

Expected<std::vector<std::string>> mpiWrapperOptions(const std::string& compiler) {
  std::vector<std::string> options;
  const ProcessResult compile = runCaught({compiler, "--showme:compile"}, {}, {});
  const ProcessResult link = runCaught({compiler, "--showme:link"}, {}, {});
  if (compile.status == 0 && link.status == 0) {
    translate(compile.output, options);
    translate(link.output, options);
    return options;
  }
  const ProcessResult both = runCaught({compiler, "-show"}, {}, {});
  if (both.status != 0)
    return fail("-ccbin {}: it does not say what it compiles and links with (--showme:compile, --showme:link, -show)",
                compiler);
  translate(both.output, options);
  return options;
}

}  // namespace ordito::frontend
