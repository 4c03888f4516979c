// Where in the host's program a call of CUDA stands: the frames of a stack that are not ours.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ordito::check {

/// An address of the program, for a symbolizer: the file that holds it, and where in it. `function` is what the dynamic
/// linker knows, perhaps nothing.
struct CallFrame {
  std::string module, function;
  uint64_t offset = 0;
};

/// `call`: the entry point of CUDA that was called. The frames that called it, the innermost first: that may be the
/// stub which the compiler has made for a kernel.
struct CallSite {
  std::string call;
  std::vector<CallFrame> frames;
};

/// Of return addresses, the innermost first; nothing if all of them are ours.
std::optional<CallSite> callSiteOf(std::span<void* const> stack);
/// Of the calling thread.
std::optional<CallSite> callSiteHere();

}  // namespace ordito::check
