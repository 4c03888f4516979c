// Text of the IR, for people, dumps and tests; ir/parse.hpp reads it.
#pragma once

#include <string>
#include <string_view>

#include "ir/ir.hpp"

namespace ordito::ir {

/// The function as docs/ir.md describes it. Behind `ptx::printDeclarations` of its module this is a text that `parse`
/// reads.
std::string print(const Function& function);

/// The name that a value has in the text.
std::string valueName(const Function& function, ValueId value);

/// The word for a trap's cause; none for the program's own trap.
std::string_view spell(Terminator::Cause cause);

}  // namespace ordito::ir
