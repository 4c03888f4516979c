// Launching kernels, in three steps: check (the rules of a real driver), prepare (compile; what has been prepared can
// run at any time) and submit (to a stream, or to the graph that is being captured from it).
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
  int priority = 0;  // the stream's
};

/// Why a launch is refused; `configuration` when the grid or the block is to blame.
struct LaunchRefusal {
  CUresult result = CUDA_SUCCESS;
  bool configuration = false;
  std::string message;
};

/// The first rule that the request breaks; result CUDA_SUCCESS when it breaks none.
LaunchRefusal checkLaunch(const LaunchRequest& request);

/// A launch that has been checked and whose kernel is compiled: everything that it needs until it has run, which it may
/// do any number of times.
class PreparedLaunch {
 public:
  const LaunchRequest& request() const { return request_; }
  const std::shared_ptr<Module>& module() const { return module_; }
  /// Points into this object.
  machine::GridLaunch grid() const;
  /// Runs the grid and waits for it, on the calling thread among others; in `message` it says why it failed.
  CUresult run(std::string& message) const;
  /// Tell the listeners that `grid`, one of grid(), begins and that it has ended; `launcher` is the kernel that
  /// launched it, empty for the host.
  void raiseBegin(const machine::GridLaunch& grid, const std::string& launcher) const;
  void raiseEnd(const machine::GridLaunch& grid, const machine::GridResult& result, uint64_t wallNs,
                const std::string& launcher) const;

 private:
  friend Expected<std::shared_ptr<const PreparedLaunch>> prepareLaunch(LaunchRequest request);

  machine::GridResult runBlocks(machine::GridLaunch& launch) const;
  machine::LaunchEvent event(const machine::GridLaunch& grid, const machine::GridResult& result,
                             const std::string& launcher) const;

  LaunchRequest request_;
  std::shared_ptr<Module> module_;  // may be unloaded before the kernel runs
  Function::Compiled compiled_;
  bool counters_ = false;
};

/// Compiles if need be; the request has been checked.
Expected<std::shared_ptr<const PreparedLaunch>> prepareLaunch(LaunchRequest request);

/// Puts it into the stream, or into the graph that the stream is captured for.
CUresult submitLaunch(const std::shared_ptr<const PreparedLaunch>& launch, const std::shared_ptr<Stream>& stream);

/// Checks and prepares what the host asks for. Refusals are told on stderr and remembered; `badConfiguration` as in
/// LaunchRefusal.
CUresult prepareForHost(LaunchRequest request, std::shared_ptr<const PreparedLaunch>& launch,
                        bool* badConfiguration = nullptr);
/// Check, prepare, submit to the request's stream.
CUresult launch(LaunchRequest request, bool* badConfiguration = nullptr);

/// Gathers a launch's parameters from one pointer per parameter (or, when that is null, from `extra`).
Expected<std::vector<std::byte>> gatherParameters(const Function& function, void** parameters, void** extra);

/// Fills in parameterPointers.
void pointToParameters(LaunchRequest& request);

}  // namespace ordito::driver
