// CUDA_VISIBLE_DEVICES: which of the GPUs a process sees, and in which order.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ordito::driver {

/// The numbers of the GPUs that `wanted` (nothing: the variable is not set) lists by number or by the beginning of a
/// UUID as nvidia-smi prints it. As with NVIDIA's driver the list ends before the first that there is not, and one that
/// names a GPU twice shows none.
std::vector<size_t> visibleDevices(std::optional<std::string_view> wanted, const std::vector<std::string>& uuids);

}  // namespace ordito::driver
