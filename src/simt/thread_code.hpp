// The code of what is run thread by thread (by_thread.hpp): a region for each stretch, in the kernel of one thread.
#pragma once

#include "simt/build_code.hpp"

namespace ordito::simt {

/// With all events. The kernel's regions are its stretches, in their order.
Code buildThreadCode(const CodeInputs& inputs);

}  // namespace ordito::simt
