// The block scheduler's threads for the libraries' own loops, so that kernels and library calls share one pool.
#include "driver/extensions.hpp"
#include "machine/fault.hpp"
#include "machine/scheduler.hpp"

namespace {

/// Is this thread doing an iteration of a loop? Workers run one block at a time, so a loop within the iteration is done
/// by the thread itself.
thread_local bool isInLoop = false;

/// A loop as a kernel: an iteration is a block of one thread.
class LoopBody : public ordito::machine::Executable {
 public:
  LoopBody(void (*body)(void*, unsigned), void* data) : body_(body), data_(data) {}
  ordito::machine::BlockStatus runBlock(const ordito::machine::BlockFrame& frame) const override {
    isInLoop = true;
    body_(data_, frame.ctaid[0]);
    isInLoop = false;
    return ordito::machine::BlockStatus::Ended;
  }
  size_t scratchBytes() const override { return 0; }
  size_t localBytes() const override { return 0; }

 private:
  void (*body_)(void*, unsigned);
  void* data_;
};

}  // namespace

unsigned orditoParallelThreads(void) { return isInLoop ? 1 : ordito::machine::scheduler().threads(); }

void orditoParallelFor(unsigned count, void (*body)(void*, unsigned), void* data) {
  if (count == 1 || isInLoop) {
    for (unsigned i = 0; i < count; ++i) body(data, i);
    return;
  }
  if (count == 0) return;
  const LoopBody loop(body, data);
  ordito::machine::GridLaunch launch;
  launch.executable = &loop;
  launch.kernelName = "a library's loop";
  launch.grid = {count, 1, 1};
  launch.mayAwaitBlocks = false;
  const auto fault = ordito::machine::scheduler().run(launch).fault;
  isInLoop = false;  // a fault leaves an iteration on the way
  if (!fault) return;
  // What an iteration did wrong is the fault of the library's call that this loop is part of.
  ordito::machine::BlockFrame frame{};
  frame.kernelName = launch.kernelName;
  ordito::machine::raiseFault(frame, fault->kind, 0, fault->address, nullptr);
}
