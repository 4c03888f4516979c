// What our ptxas and our PTX compiler at run time do with PTX: there is no machine code to make, so the "assembled"
// image is the PTX itself, once it is found to be right.
#pragma once

#include <span>
#include <string>

#include "base/error.hpp"

namespace ordito::frontend {

/// ptxas's options, as far as they mean something here. The rest tells how to make machine code.
struct AssemblerOptions {
  std::string input, output = "elf.o", architecture = "sm_75";  // ptxas 13's own defaults
  bool isVerbose = false, asksVersion = false, contracts = true;
};

AssemblerOptions readAssemblerOptions(std::span<const char* const> words);

struct Assembled {
  std::string image;  // ends with a NUL: cuModuleLoadData, which callers hand its bytes to, is not told how many
  std::string usage;  // with -v: what each kernel takes, as ptxas words it
};

/// `name` is the input's, for messages.
Expected<Assembled> assemble(std::string text, const std::string& name, const AssemblerOptions& options);

}  // namespace ordito::frontend
