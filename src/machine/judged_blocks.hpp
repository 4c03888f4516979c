// Runs a grid of which only some blocks tell what they do: those that a listener's judge has asked for (listener.hpp).
//
// First the blocks run of which the judge says that they are like no other; they tell. Then it decides about the rest:
// these run on code that tells nothing and is as fast as if nobody listened, or tell like the first until the judge has
// heard enough. Nothing may
// depend on the order of blocks, so a judge answers for it that no block waits for another.
#pragma once

#include <functional>
#include <memory>

#include "machine/listener.hpp"
#include "machine/scheduler.hpp"

namespace ordito::machine {

/// `launch` has code that tells, and whose values are followed if a listener wants that; the first blocks run on
/// `first`, which tells as well, and may be the same; `silent` gives the same kernel without, null if there is none.
/// One host thread asks the judge.
GridResult runJudged(const GridLaunch& launch, const Executable& first, BlockJudge& judge,
                     const std::function<std::shared_ptr<const Executable>()>& silent);

}  // namespace ordito::machine
