// The passes over SIMT code: from nothing to code, then from code to code. Each is a function that can be printed and
// tested alone (`ordito opt --passes=build-code`), and what it leaves is verified in debug builds.
#pragma once

#include <span>
#include <string_view>

#include "base/pass_times.hpp"
#include "simt/build_code.hpp"

namespace ordito::simt {

struct CodePass {
  std::string_view name, summary;
  void (*run)(Code& code, const CodeInputs& inputs);
};

/// In the order in which they run.
std::span<const CodePass> codePasses();

/// The pass with this name, or null.
const CodePass* findCodePass(std::string_view name);

/// What all of them make; or, if `last` names one, those as far as that. `times` learns how long each takes.
Code makeCode(const CodeInputs& inputs, std::string_view last = {}, PassTimes* times = nullptr);

/// Where nobody listens, nothing is told.
void dropEvents(Code& code, const CodeInputs& inputs);
/// Masks that nobody reads are not made.
void dropDeadMasks(Code& code, const CodeInputs& inputs);

}  // namespace ordito::simt
