// See group.hpp.
#include "libs/nccl/group.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "libs/stream_task.hpp"

namespace ordito::libs::nccl {
namespace {

struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;
  std::vector<Operation> operations;
  std::vector<std::function<ncclResult_t()>> first, second;
};
thread_local Group group;

/// The context of the communicator's device is the current one: stream 0 is that device's.
class InContext {
 public:
  explicit InContext(CUcontext context) : isPushed_(cuCtxPushCurrent(context) == CUDA_SUCCESS) {}
  ~InContext() {
    if (isPushed_) cuCtxPopCurrent(nullptr);
  }
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;

 private:
  bool isPushed_;
};

/// The operations of one communicator in a group. They run in the first call's stream; other streams that calls name
/// come before and after. A group waits for signals when it has done everything else.
class Launch {
 public:
  Launch(Owner communicator, CUstream stream) : communicator_(std::move(communicator)), stream_(stream) {}

  void add(const Operation& operation) {
    if (std::find(streams_.begin(), streams_.end(), operation.stream) == streams_.end())
      streams_.push_back(operation.stream);
    if (const auto* message = std::get_if<Message>(&operation.what)) {
      if (messages_.empty()) messageName_ = operation.name;
      messages_.push_back(*message);
    } else if (const auto* put = std::get_if<Put>(&operation.what)) {
      if (puts_.empty()) putName_ = operation.name;
      puts_.push_back(*put);
    } else if (const auto* awaited = std::get_if<Awaited>(&operation.what)) {
      awaited_.push_back(*awaited);
    } else if (std::get<Collective>(operation.what).count) {
      collectives_.push_back(std::get<Collective>(operation.what));
    }
  }

  ncclResult_t run() {
    if (const ncclResult_t result = communicator_->connect(); result != ncclSuccess) return result;
    const std::scoped_lock lock(communicator_->calls());
    const InContext inContext(communicator_->context());
    if (!comesAfterTheLast() || !joins()) return ncclUnhandledCudaError;
    for (const Collective& collective : collectives_)
      if (enqueue(
              stream_, collective.name, [owner = communicator_, collective] { perform(*owner, collective); },
              workOf(collective)) != CUDA_SUCCESS)
        return ncclUnhandledCudaError;
    const bool isGood =
        enqueueAll(messageName_, messages_, [](Communicator& c, const auto& messages) { exchange(c, messages); }) &&
        enqueueAll(putName_, puts_, [](Communicator& c, const auto& puts) { put(c, puts); }) &&
        enqueueAll("ncclWaitSignal", awaited_, [](Communicator& c, const auto& awaited) { awaitSignals(c, awaited); });
    if (!isGood) return ncclUnhandledCudaError;
    return forks() && remembersTheLast() ? ncclSuccess : ncclUnhandledCudaError;
  }

 private:
  Work workOf(const Collective& collective) const {
    const auto bytes = static_cast<double>(collective.count * sizeOf(collective.type));
    const auto ranks = static_cast<double>(communicator_->ranks());
    switch (collective.kind) {
      case Kind::AllReduce: return {static_cast<double>(collective.count) * (ranks - 1) / ranks, 2 * bytes};
      case Kind::Broadcast:
      case Kind::Reduce: return {0, 2 * bytes};
      case Kind::ReduceScatter: return {static_cast<double>(collective.count) * (ranks - 1), (ranks + 1) * bytes};
      case Kind::AllToAll: return {0, 2 * ranks * bytes};
      default: return {0, (ranks + 1) * bytes};
    }
  }
  /// One task for all of a kind, if there are any.
  template <class Kind, class Task>
  bool enqueueAll(const char* name, const std::vector<Kind>& all, Task task) {
    if (all.empty()) return true;
    double bytes = 0;
    if constexpr (requires { all[0].bytes; })
      for (const Kind& one : all) bytes += static_cast<double>(one.bytes);
    return enqueue(stream_, name, [owner = communicator_, all, task] { task(*owner, all); }, {0, bytes}) ==
           CUDA_SUCCESS;
  }

  /// Operations of a communicator come one after the other, whatever their streams.
  bool comesAfterTheLast() {
    if (!communicator_->lastOperation || communicator_->lastStream == stream_ || isCaptured(stream_)) return true;
    return cuStreamWaitEvent(stream_, communicator_->lastOperation, 0) == CUDA_SUCCESS;
  }
  bool remembersTheLast() {
    if (isCaptured(stream_)) return true;
    communicator_->lastStream = stream_;
    if (!communicator_->lastOperation &&
        cuEventCreate(&communicator_->lastOperation, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
      return false;
    return cuEventRecord(communicator_->lastOperation, stream_) == CUDA_SUCCESS;
  }

  bool joins() {
    return std::all_of(streams_.begin(), streams_.end(), [&](CUstream other) { return follows(stream_, other); });
  }
  bool forks() {
    return std::all_of(streams_.begin(), streams_.end(), [&](CUstream other) { return follows(other, stream_); });
  }
  static bool follows(CUstream later, CUstream earlier) {
    if (later == earlier) return true;
    CUevent event = nullptr;
    if (cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) return false;
    const bool isGood =
        cuEventRecord(event, earlier) == CUDA_SUCCESS && cuStreamWaitEvent(later, event, 0) == CUDA_SUCCESS;
    cuEventDestroy(event);
    return isGood;
  }

  Owner communicator_;
  CUstream stream_;
  std::vector<CUstream> streams_;
  std::vector<Collective> collectives_;
  std::vector<Message> messages_;
  std::vector<Put> puts_;
  std::vector<Awaited> awaited_;
  const char *messageName_ = nullptr, *putName_ = nullptr;
};

ncclResult_t launchAll(const std::vector<Operation>& operations) {
  std::vector<std::pair<const Communicator*, Launch>> launches;
  for (const Operation& operation : operations) {
    const auto found = std::find_if(launches.begin(), launches.end(),
                                    [&](const auto& launch) { return launch.first == operation.communicator.get(); });
    Launch& launch =
        found != launches.end()
            ? found->second
            : launches.emplace_back(operation.communicator.get(), Launch(operation.communicator, operation.stream))
                  .second;
    launch.add(operation);
  }
  ncclResult_t first = ncclSuccess;
  for (auto& [communicator, launch] : launches) {
    const ncclResult_t result = launch.run();
    if (first == ncclSuccess) first = result;
  }
  return first;
}

ncclResult_t runAll(const std::vector<std::function<ncclResult_t()>>& steps) {
  ncclResult_t first = ncclSuccess;
  for (const auto& step : steps) {
    const ncclResult_t result = step();
    if (first == ncclSuccess) first = result;
  }
  return first;
}

}  // namespace

void startGroup() { ++group.depth; }

ncclResult_t endGroup() {
  if (group.depth == 0) {
    setLastError("ncclGroupEnd without ncclGroupStart");
    return ncclInvalidUsage;
  }
  if (group.depth > 1) {
    --group.depth;
    return ncclSuccess;
  }
  // First steps may put second ones off.
  if (group.error == ncclSuccess) group.error = runAll(std::exchange(group.first, {}));
  const Group ended = std::exchange(group, {});
  if (ended.error != ncclSuccess) return ended.error;
  const ncclResult_t result = runAll(ended.second);
  return result == ncclSuccess ? launchAll(ended.operations) : result;
}

ncclResult_t inGroup(const std::function<ncclResult_t()>& call) {
  startGroup();
  const ncclResult_t result = call();
  if (result != ncclSuccess && group.error == ncclSuccess) group.error = result;
  const ncclResult_t ended = endGroup();
  return result != ncclSuccess ? result : ended;
}

void putOff(Operation operation) { group.operations.push_back(std::move(operation)); }

void putOff(std::function<ncclResult_t()> first, std::function<ncclResult_t()> second) {
  if (first) group.first.push_back(std::move(first));
  if (second) group.second.push_back(std::move(second));
}

}  // namespace ordito::libs::nccl
