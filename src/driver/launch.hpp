// Launching kernels: the checks that a real driver makes, and the operation that a stream runs.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cuda.h"
#include "driver/module.hpp"
#include "driver/stream.hpp"
#include "machine/scheduler.hpp"

namespace ordito::driver {

struct LaunchRequest {
  Function* function = nullptr;
  machine::Dim3 grid, block;
  size_t sharedBytes = 0;  // dynamic
  std::shared_ptr<Stream> stream;
  std::vector<std::byte> parameters;          // laid out as the kernel's parameter block
  std::vector<std::byte*> parameterPointers;  // into it; only nodes of graphs have them, for programs that ask
  bool cooperative = false;
};

/// Why a launch is refused; `configuration` when the grid or the block is to blame.
struct LaunchRefusal {
  CUresult result = CUDA_SUCCESS;
  bool configuration = false;
  std::string message;
};

/// The first rule that the request breaks; result CUDA_SUCCESS when it breaks none.
LaunchRefusal checkLaunch(const LaunchRequest& request);

/// Everything that a launch needs until it has run.
struct Flight {
  LaunchRequest request;
  std::shared_ptr<Module> module;  // may be unloaded before the kernel runs
  Function::Compiled compiled;
  bool counters = false;
};

/// Compiles if need be; the request has been checked.
Expected<std::shared_ptr<Flight>> makeFlight(LaunchRequest request);
/// Points into `flight`.
machine::GridLaunch gridOf(const Flight& flight);
/// Tells the listeners that it has ended; `launcher` is the kernel that launched it, empty for the host.
void raiseLaunch(const Flight& flight, const machine::GridResult& result, uint64_t wallNs, const std::string& launcher);
CUresult launchResult(const Flight& flight, const std::optional<machine::Fault>& fault, std::string& message);

/// Checks and compiles if need be; then `flight` holds the request and `work` runs it, as often as it is called.
/// Refusals are told on stderr and remembered.
CUresult prepareLaunch(LaunchRequest request, std::shared_ptr<const LaunchRequest>& flight, Work& work,
                       bool* badConfiguration = nullptr);
/// The same and into the stream.
CUresult launch(LaunchRequest request, bool* badConfiguration = nullptr);

/// Gathers a launch's parameters from one pointer per parameter (or, when that is null, from `extra`).
Expected<std::vector<std::byte>> gatherParameters(const Function& function, void** parameters, void** extra);

/// Fills in parameterPointers.
void pointToParameters(LaunchRequest& request);

}  // namespace ordito::driver
