// From what a program hands to cuModuleLoad… to a parsed PTX module: PTX text, fat binaries, and the compiler's wrapper
// around one.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "ptx/module.hpp"

namespace ordito::driver {

/// A module's image as loaded. Either text that was copied, or a pointer whose target outlives the module.
struct Image {
  const void* data = nullptr;
  size_t bytes = 0;       // 0: unknown, told by the image itself
  std::string origin;     // for messages
  bool contracts = true;  // products are fused into sums, as NVIDIA's compiler does unless told not to optimise
};

/// What an image turned out to hold.
struct ParsedImage {
  std::shared_ptr<const ptx::Module> module;  // null when there is no PTX
  std::string withoutPtx;                     // then: what there is instead, "machine code for sm_80"
};

/// Chooses the PTX for a GPU of compute capability `capability` (80 for 8.0): the highest that is not above it, else
/// the lowest there is, since PTX is all that we need (unless ORDITO_TARGETS=strict). Parts of one program that were
/// compiled separately are linked.
Expected<ParsedImage> parseImage(const Image& image, uint32_t capability);

/// Joins modules by name: definitions take the place of `.extern` declarations.
Expected<ptx::Module> linkModules(std::vector<ptx::Module> modules);

/// How many bytes an image has that comes as a pointer only. 0: not an image.
size_t imageBytes(const void* data);

}  // namespace ordito::driver
