// The engine that compiles kernels: the JIT, or the reference interpreter when ORDITO_ENGINE=interp asks for it.
#pragma once

#include "machine/kernel.hpp"

namespace ordito::driver {

machine::Engine& engine();

}  // namespace ordito::driver
