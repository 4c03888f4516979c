// Which of clang's warnings about host code are off: those that a user of nvcc with g++ would not see for the same
// options. A Makefile that makes warnings errors was written for g++.
#pragma once

#include <string>
#include <vector>

namespace ordito::frontend {

/// The user's options for the host compiler, with what turns those warnings off around them. One that the user names
/// stays on.
std::vector<std::string> withQuietWarnings(const std::vector<std::string>& options);

}  // namespace ordito::frontend
