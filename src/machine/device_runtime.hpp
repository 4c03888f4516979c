// The device runtime: the part of the CUDA runtime API that kernels may call, under the names that compilers give it in
// PTX. Both engines call these functions, once per active lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "machine/device_block.hpp"
#include "machine/kernel.hpp"

namespace ordito::machine {

/// Who calls a function of the device runtime.
struct DeviceCaller {
  const BlockFrame& frame;
  uint32_t thread;  // within the block, x fastest
  /// Is it an address of local memory? For an engine that keeps that elsewhere than in the frame; may be null.
  bool (*isLocal)(const void* engine, uint64_t address) = nullptr;
  const void* engine = nullptr;
};

/// One function. Its arguments arrive as words in the order of the signature.
struct DeviceFunction {
  std::string_view name;
  /// The result, then each argument: i 32 bits, l 64 bits; aggregates as what they hold: d a dim3, p a cudaPitchedPtr,
  /// e a cudaExtent.
  std::string_view signature;
  uint64_t (*run)(const DeviceCaller& caller, const uint64_t* words);
};

/// How an argument of one letter of a signature lies in memory.
struct DeviceArgument {
  unsigned words, bytesPerWord;
};
DeviceArgument deviceArgument(char letter);

/// A word count that no signature exceeds.
inline constexpr unsigned kMostDeviceWords = 10;

/// All of them; a function's place here is the same for the whole build.
std::span<const DeviceFunction> deviceFunctions();
/// The function called `name`, or null.
const DeviceFunction* findDeviceFunction(std::string_view name);

/// Why a call of `name` from a kernel cannot work although CUDA once had it; null if that is not so.
const char* removedDeviceFunction(std::string_view name);

/// What the device runtime needs to know from the driver. Errors are cudaError_t codes.
class LaunchHost {
 public:
  virtual ~LaunchHost() = default;
  /// Checks and compiles; fills in all of `child` but the arguments.
  virtual int prepare(uint64_t kernel, const Dim3& grid, const Dim3& block, uint32_t sharedBytes, Child& child) = 0;
  /// Tells the user of a launch that was refused for the nest's limits.
  virtual void refused(const Child& child, std::string_view why) = 0;
  virtual int device() = 0;
  virtual int deviceCount() = 0;
  virtual int attribute(int* value, int attribute, int device) = 0;
  virtual int limit(uint64_t* value, int limit) = 0;
  virtual int functionAttributes(std::byte* attributes, uint64_t kernel) = 0;
  virtual int occupancy(int* blocks, uint64_t kernel, int blockSize, uint64_t sharedBytes) = 0;
  virtual int version() = 0;
  virtual const char* errorName(int error) = 0;
  virtual const char* errorText(int error) = 0;
};

}  // namespace ordito::machine
