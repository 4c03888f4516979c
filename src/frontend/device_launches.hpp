// Launches from kernels, `kernel<<<grid, block>>>(arguments)` in device code, which clang-19 refuses: turned into what
// it accepts.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ordito::frontend {

/// The text with each launch from device code rewritten, `<< <` joined, and `<<<1, {x, y}>>>` given its types, on
/// unchanged lines; nothing if there is none of these.
std::optional<std::string> rewriteLaunches(std::string_view preprocessed);

/// Could the source, or a file that it includes from its own folder or one of `folders`, hold what rewriteLaunches,
/// moveSharedAlignment or doubleRegisterPercents changes, or a macro that becomes a #pragma? A quick look that errs on
/// the side of yes.
bool mayNeedRewriting(const std::filesystem::path& source, const std::vector<std::filesystem::path>& folders);
/// The same of a source and headers that are no files.
bool mayNeedRewriting(const std::vector<std::string>& texts, const std::vector<std::filesystem::path>& folders);

}  // namespace ordito::frontend
