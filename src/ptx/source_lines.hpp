// Which lines of CUDA source a line of PTX comes from, as its .loc directives say.
#pragma once

#include <string>
#include <unordered_map>

#include "ptx/module.hpp"

namespace ordito::ptx {

/// "a.cu:12", and for what was inlined "a.cu:12 > b.cuh:3", the outermost call first; empty if nobody says. Objects
/// that were linked have lines of the same number: those of `first` come first.
std::string sourceOf(const Module& module, const Function& first, uint32_t ptxLine);

/// The column that belongs to it; 0 if nobody says.
uint32_t columnOf(const Module& module, const Function& first, uint32_t ptxLine);

/// An instruction and the function that it stands in.
struct Located {
  const Function* function = nullptr;
  const Instruction* instruction = nullptr;
  explicit operator bool() const { return instruction != nullptr; }
};

/// The instruction at a line of PTX, of `first` or of another function; nothing if there is none.
Located instructionAt(const Module& module, const Function& first, uint32_t ptxLine);

/// Which instructions of a function come from the same place of the source: compilers repeat a loop's body.
class SourcePlaces {
 public:
  SourcePlaces(const Module& module, const Function& function);
  /// The first line of PTX that comes from the same line, column and chain of inlined calls; the same line of PTX if
  /// nobody says where it comes from.
  uint32_t first(uint32_t ptxLine) const {
    const auto it = first_.find(ptxLine);
    return it == first_.end() ? ptxLine : it->second;
  }

 private:
  std::unordered_map<uint32_t, uint32_t> first_;  // by line of PTX
};

/// The text with the source behind each "PTX line N" in it.
std::string withSources(const Module& module, const Function& first, const std::string& text);

}  // namespace ordito::ptx
