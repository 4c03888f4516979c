// What a call of a library is to the driver: an operation of a stream, with a name and what it owns. It runs on a
// thread of the host, on device memory as it is, and as often as the graph is launched that it was captured into. A bad
// address in it is a fault of that call, as it would be of a kernel.
#include <chrono>
#include <memory>

#include "driver/api.hpp"
#include "driver/capture.hpp"
#include "driver/extensions.hpp"
#include "machine/fault.hpp"
#include "machine/listener.hpp"
#include "machine/undefined.hpp"

namespace ordito::driver {
namespace {

/// What a call has to do, for the profiler.
struct CallCost {
  double operations = 0, bytes = 0;
};

class LibraryTask {
 public:
  LibraryTask(const char* name, CallCost cost, void (*run)(void*), void* data, void (*destroy)(void*))
      : name_(name), cost_(cost), run_(run), data_(data), destroy_(destroy) {}
  ~LibraryTask() {
    if (destroy_) destroy_(data_);
  }
  LibraryTask(const LibraryTask&) = delete;
  LibraryTask& operator=(const LibraryTask&) = delete;

  const char* name() const { return name_.c_str(); }
  CUDA_HOST_NODE_PARAMS parameters() const { return {run_, data_}; }

  CUresult run(std::string& message) const {
    if (!machine::hasListeners()) return runGuarded(message);
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const CUresult result = runGuarded(message);
    const auto wall = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
    machine::raise(machine::LibraryCall{name(), static_cast<uint64_t>(wall), cost_.operations, cost_.bytes});
    return result;
  }

 private:
  CUresult runGuarded(std::string& message) const {
    static std::byte noSharedMemory[64];
    machine::BlockFrame frame{};
    frame.kernelName = name();
    frame.shared = noSharedMemory;
    const auto fault = machine::runGuarded(Body(*this), frame);
    if (!fault) return CUDA_SUCCESS;
    // What a kernel's message says of block and line is of no use here.
    const size_t what = fault->message.find(": ", name_.size());
    message = name_ + (what == std::string::npos ? ": a fault" : fault->message.substr(what));
    tell(message);
    return static_cast<CUresult>(machine::cudaResult(fault->kind));
  }

  /// The task as a kernel of one block.
  class Body : public machine::Executable {
   public:
    explicit Body(const LibraryTask& task) : task_(task) {}
    machine::BlockStatus runBlock(const machine::BlockFrame&) const override {
      task_.run_(task_.data_);
      machine::noteWrittenAnywhere();  // it does not say where its results are
      return machine::BlockStatus::Ended;
    }
    size_t scratchBytes() const override { return 0; }
    size_t localBytes() const override { return 0; }

   private:
    const LibraryTask& task_;
  };

  const std::string name_;
  const CallCost cost_;
  void (*const run_)(void*);
  void* const data_;
  void (*const destroy_)(void*);
};

}  // namespace
}  // namespace ordito::driver

using namespace ordito::driver;

CUresult orditoLaunchTask(CUstream handle, const char* name, void (*run)(void*), void* data, void (*destroy)(void*)) {
  return orditoLaunchWork(handle, name, 0, 0, run, data, destroy);
}

CUresult orditoLaunchWork(CUstream handle, const char* name, double operations, double bytes, void (*run)(void*),
                          void* data, void (*destroy)(void*)) {
  const auto task = std::make_shared<const LibraryTask>(name, CallCost{operations, bytes}, run, data, destroy);
  ORDITO_CONTEXT(context);
  ORDITO_STREAM(stream, context, handle);
  Operation operation;
  operation.run = [task](std::string& message) { return task->run(message); };
  auto node = [&] { return NodeTask{CU_GRAPH_NODE_TYPE_HOST, task->parameters(), operation.run}; };
  if (auto captured = capture(stream, node)) return *captured;
  operation.what = {.kind = ordito::machine::StreamEvent::Kind::HostFunction, .name = task->name()};
  stream->submit(std::move(operation));
  return CUDA_SUCCESS;
}
