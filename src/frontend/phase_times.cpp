// See phase_times.hpp. The columns are nvcc's, which scripts plot; phases are named by what our commands do, since they
// are other ones.
#include "frontend/phase_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace ordito::frontend {
namespace {

constexpr const char* kHead =
    "source file name , phase name , phase input files , phase output file , arch , tool, metric , unit\n";

bool has(const Command& command, const std::string& word) {
  return std::find(command.begin(), command.end(), word) != command.end();
}

const char* phase(const Command& command) {
  if (has(command, "-fsyntax-only")) return "clang (looking for what to mend)";
  if (has(command, "-E") || has(command, "-M") || has(command, "-MM")) return "clang (preprocessing)";
  if (has(command, "--cuda-device-only")) return "clang (kernels to PTX)";
  if (has(command, "-c")) return "clang (host code)";
  if (has(command, "--redefine-sym")) return "objcopy";
  return command[0] == "ar" ? "ar" : "clang (linking)";
}

/// The files that a command reads and names by themselves, and the one that it writes.
struct Files {
  std::string inputs, output;
};

Files filesOf(const Command& command) {
  Files files;
  std::error_code ignored;
  for (size_t i = 1; i < command.size(); ++i) {
    if (command[i] == "-o" && i + 1 < command.size()) {
      files.output = command[++i];
    } else if (command[i] == "-include" || command[i] == "-MF" || command[i] == "-MT") {
      ++i;
    } else if (!command[i].starts_with("-") && std::filesystem::is_regular_file(command[i], ignored)) {
      files.inputs += command[i] + ' ';
    }
  }
  return files;
}

}  // namespace

void PhaseTimes::add(const Command& command, const std::string& arch, std::chrono::duration<double, std::milli> time) {
  const Files files = filesOf(command);
  const std::string source = files.inputs.substr(0, files.inputs.find(' '));
  rows_ += fmt::format("{} , {} , {} , {} , {} , nvcc , {:.4f} , ms\n", source, phase(command), files.inputs,
                       files.output, has(command, "--cuda-device-only") ? arch : "", time.count());
}

bool PhaseTimes::append(const std::string& file) const {
  if (file == "-") return std::fputs((kHead + rows_).c_str(), stdout) >= 0;
  std::error_code ignored;
  const bool isEmpty = !std::filesystem::exists(file, ignored) || std::filesystem::file_size(file, ignored) == 0;
  std::FILE* out = std::fopen(file.c_str(), "a");
  if (out == nullptr) return false;
  const bool isWritten = std::fputs(((isEmpty ? kHead : "") + rows_).c_str(), out) >= 0;
  return std::fclose(out) == 0 && isWritten;
}

}  // namespace ordito::frontend
