// In the place of CuPy's header of this name, which puts CCCL's names into std, since NVRTC comes without a C++
// library. Ordito's NVRTC finds the host's, which has them.
#pragma once

#include <cuda/std/limits>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
