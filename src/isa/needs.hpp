// The least PTX version and target that an instruction needs: its row's (ptx.def), and what its modifiers and types ask
// for beyond that (needs.def).
#pragma once

#include <string>
#include <vector>

#include "isa/isa.hpp"

namespace ordito::isa {

/// What `needs.def` says, as it stands there.
struct NeedInfo {
  std::string_view rows, words;
  int since;  // PTX ISA version × 10
  Target target;
};

inline constexpr NeedInfo kNeeds[] = {
#define NEED(rows, words, since, target) {rows, words, since, parseTarget(#target)},
#include "isa/needs.def"
};

struct Need {
  int since = 0;
  Target target;
};

Need needOf(Op op, const Modifiers& mods, const Type (&types)[kTypeSlots]);

/// Is code for `have` one for which `needed` is enough? What is older than sm_20 is not told apart.
bool fits(Target needed, Target have);

/// "sm_90a"
std::string spell(Target target);

}  // namespace ordito::isa
