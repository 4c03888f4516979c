// Whether all lanes of an access are in bounds and aligned, judged at once: the lanes' addresses are made from the same
// objects, so the lowest and the highest of them decide. Where that does not say yes, each lane is judged by itself.
#pragma once

#include "machine/events.hpp"

namespace ordito::check {

class Launch;

bool isWhollyFine(Launch& launch, const machine::AccessEvent& access);

}  // namespace ordito::check
