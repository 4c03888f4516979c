// Launches whose kernels may launch kernels: what the machine's device runtime asks the driver.
#pragma once

#include "driver/launch.hpp"

namespace ordito::driver {

/// Runs the grid and everything that it and its descendants launch.
machine::GridResult runNested(const PreparedLaunch& launch, const machine::GridLaunch& grid);

}  // namespace ordito::driver
