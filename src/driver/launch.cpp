// See launch.hpp.
#include "driver/launch.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "driver/capture.hpp"
#include "driver/context.hpp"
#include "driver/engine.hpp"
#include "driver/nested.hpp"
#include "driver/results.hpp"
#include "machine/judged_blocks.hpp"
#include "machine/listener.hpp"
#include "machine/occupancy.hpp"
#include "machine/scheduler.hpp"
#include "ptx/source_lines.hpp"

namespace ordito::driver {

namespace {

using machine::Dim3;

std::string text(const Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

template <class... Args>
LaunchRefusal refuse(CUresult result, bool configuration, fmt::format_string<Args...> format, Args&&... args) {
  return {result, configuration, fmt::format(format, std::forward<Args>(args)...)};
}

LaunchRefusal checkGrid(const Dim3& grid) {
  const unsigned dims[3] = {grid.x, grid.y, grid.z};
  for (int i = 0; i < 3; ++i) {
    if (dims[i] == 0) return refuse(CUDA_ERROR_INVALID_VALUE, true, "the grid {} has a zero dimension", text(grid));
    if (dims[i] > kMaxGrid[i])
      return refuse(CUDA_ERROR_INVALID_VALUE, true, "the grid {} is too large: its {} dimension may be {} at most",
                    text(grid), "xyz"[i], kMaxGrid[i]);
  }
  return {};
}

LaunchRefusal checkBlock(const Function& function, const Dim3& block) {
  const unsigned dims[3] = {block.x, block.y, block.z};
  for (int i = 0; i < 3; ++i) {
    if (dims[i] == 0) return refuse(CUDA_ERROR_INVALID_VALUE, true, "the block {} has a zero dimension", text(block));
    if (dims[i] > kMaxBlock[i])
      return refuse(CUDA_ERROR_INVALID_VALUE, true, "the block {} is too large: its {} dimension may be {} at most",
                    text(block), "xyz"[i], kMaxBlock[i]);
  }
  if (block.count() > kMaxThreadsPerBlock)
    return refuse(CUDA_ERROR_INVALID_VALUE, true, "a block of {} has {} threads; {} are the most", text(block),
                  block.count(), kMaxThreadsPerBlock);
  const auto& required = function.kernel.reqntid;
  if (required[0] &&
      (block.x != required[0] || block.y != std::max(required[1], 1u) || block.z != std::max(required[2], 1u)))
    return refuse(CUDA_ERROR_INVALID_VALUE, false, "the kernel requires blocks of ({}, {}, {}) threads, not {}",
                  required[0], std::max(required[1], 1u), std::max(required[2], 1u), text(block));
  if (block.count() > function.maxThreads())
    return refuse(CUDA_ERROR_INVALID_VALUE, false,
                  "a block of {} threads is more than the {} that the kernel's __launch_bounds__ promise",
                  block.count(), function.maxThreads());
  return {};
}

LaunchRefusal checkShared(const Function& function, size_t dynamicBytes) {
  uint32_t staticBytes = function.layout.staticSharedBytes;
  if (staticBytes > kDefaultShared)
    return refuse(CUDA_ERROR_INVALID_VALUE, false,
                  "its {} bytes of static shared memory are more than the {} of a block", staticBytes, kDefaultShared);
  if (dynamicBytes <= function.maxDynamicShared()) return {};
  uint32_t optIn = maxOptInShared(function.module.context.device.gpu);
  if (dynamicBytes + staticBytes <= optIn)
    return refuse(CUDA_ERROR_INVALID_VALUE, false,
                  "{} bytes of dynamic shared memory are more than the kernel may have ({}); allow them first with "
                  "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, {})",
                  dynamicBytes, function.maxDynamicShared(), dynamicBytes);
  return refuse(CUDA_ERROR_INVALID_VALUE, false,
                "{} bytes of shared memory are more than a block can have on a {} ({})", dynamicBytes + staticBytes,
                function.module.context.device.gpu.name, optIn);
}

LaunchRefusal checkCooperative(const LaunchRequest& request) {
  if (!request.cooperative) return {};
  const Function& function = *request.function;
  const auto& gpu = function.module.context.device.gpu;
  // The number of registers is an estimate; what a GPU would take must not be refused because of it.
  const uint32_t registers = function.registers() * 3 / 4;
  auto o = machine::occupancy(gpu, {static_cast<uint32_t>(request.block.count()), registers,
                                    static_cast<uint32_t>(function.layout.dynamicSharedOffset + request.sharedBytes)});
  uint64_t resident = uint64_t{o.blocks} * gpu.multiprocessors;
  if (request.grid.count() <= resident) return {};
  return refuse(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, false,
                "a cooperative grid of {} blocks does not fit on a {}, which holds {} of them at once",
                request.grid.count(), gpu.name, resident);
}

uint32_t totalShared(const LaunchRequest& request) {
  const auto& layout = request.function->layout;
  if (request.sharedBytes == 0) return layout.staticSharedBytes;
  return static_cast<uint32_t>(layout.dynamicSharedOffset + request.sharedBytes);
}

CUresult refused(const Function& function, CUresult result, const std::string& why) {
  std::string message = fmt::format("kernel '{}' was not launched: {}", function.displayName, why);
  tell(message);
  return remember(result, message);
}

}  // namespace

machine::GridLaunch PreparedLaunch::grid() const {
  const Function& function = *request_.function;
  machine::GridLaunch grid;
  grid.number = machine::nextGridNumber();
  grid.executable = compiled_.executable.get();
  grid.kernelName = function.displayName.c_str();
  grid.grid = request_.grid;
  grid.block = request_.block;
  grid.parameters = request_.parameters.data();
  grid.globals = module_->globals();
  grid.functions = module_->parsed().functions.data();
  grid.dynamicSharedBytes = static_cast<uint32_t>(request_.sharedBytes);
  grid.totalSharedBytes = totalShared(request_);
  grid.sharedAlignment = function.sharedAlignment;
  grid.counters = counters_;
  grid.mayAwaitBlocks = function.layout.mayAwaitBlocks;
  grid.readsClock = function.layout.readsClock;
  grid.cooperative = request_.cooperative;
  grid.priority = request_.priority;
  grid.replay = [this] { return engine().replay(module_->parsed(), request_.function->kernel, {request_.block}); };
  return grid;
}

machine::GridResult PreparedLaunch::runBlocks(machine::GridLaunch& launch) const {
  if (module_->usesDeviceRuntime()) return runNested(*this, launch);
  const bool isJudged = !launch.cooperative && machine::areAccessesWanted();
  const auto judge = isJudged ? machine::judgeOf(event(launch, {}, {})) : nullptr;
  if (!judge) return machine::scheduler().run(launch);
  const auto compile = [&](const machine::Specialisation& what) -> std::shared_ptr<const machine::Executable> {
    auto code = request_.function->compile(what);
    return code ? code->executable : nullptr;
  };
  if (void* const trial = judge->trial()) {
    const auto code = compile({request_.block, false, true, {}, false, true});
    machine::GridLaunch tried = launch;
    if (code) tried.executable = code.get(), tried.trial = trial;
    machine::GridResult result = code ? machine::scheduler().run(tried) : machine::GridResult();
    const bool isStopped = result.fault && result.fault->kind == machine::FaultKind::Timeout;
    if (isStopped || judge->isWell(!code || result.fault)) return result;
  }
  const auto first = judge->needsValues() ? nullptr : compile({request_.block, false, true, {}, false});
  return machine::runJudged(launch, first ? *first : *launch.executable, *judge, [&] {
    const std::vector<uint32_t> lines = judge->linesToTell();
    return compile({request_.block, false, !lines.empty(), lines});
  });
}

CUresult PreparedLaunch::run(std::string& message) const {
  machine::GridLaunch launch = grid();
  alignas(64) std::byte workspace[64] = {};
  if (launch.cooperative) launch.gridWorkspace = workspace;
  raiseBegin(launch, {});
  const auto start = std::chrono::steady_clock::now();
  const machine::GridResult result = runBlocks(launch);
  const auto wall = std::chrono::steady_clock::now() - start;
  raiseEnd(launch, result, static_cast<uint64_t>(std::chrono::nanoseconds(wall).count()), {});
  if (!result.fault) return CUDA_SUCCESS;
  message = ptx::withSources(module_->parsed(), request_.function->kernel, result.fault->message);
  tell(message);
  return static_cast<CUresult>(machine::cudaResult(result.fault->kind));
}

machine::LaunchEvent PreparedLaunch::event(const machine::GridLaunch& grid, const machine::GridResult& result,
                                           const std::string& launcher) const {
  const Function& function = *request_.function;
  return {.kernel = function.displayName.c_str(),
          .mangled = function.kernel.name.c_str(),
          .launcher = launcher.c_str(),
          .grid = request_.grid,
          .block = request_.block,
          .launch = grid.number,
          .parameters = grid.parameters,
          .failure = result.fault ? result.fault->message.c_str() : nullptr,
          .staticShared = function.layout.staticSharedBytes,
          .dynamicShared = static_cast<uint32_t>(request_.sharedBytes),
          .registers = function.registers(),
          .compileNs = compiled_.compileNs,
          .sites = result.sites,
          .counters = result.counters,
          .module = module_->parsed(),
          .function = function.kernel,
          .gpu = function.module.context.device.gpu};
}

void PreparedLaunch::raiseBegin(const machine::GridLaunch& grid, const std::string& launcher) const {
  if (machine::hasListeners()) machine::raiseBegan(event(grid, {}, launcher));
}

void PreparedLaunch::raiseEnd(const machine::GridLaunch& grid, const machine::GridResult& result, uint64_t wallNs,
                              const std::string& launcher) const {
  if (!machine::hasListeners()) return;
  machine::LaunchEvent ended = event(grid, result, launcher);
  ended.wallNs = wallNs;
  machine::raise(ended);
}

LaunchRefusal checkLaunch(const LaunchRequest& request) {
  if (auto bad = checkGrid(request.grid); bad.result) return bad;
  if (auto bad = checkBlock(*request.function, request.block); bad.result) return bad;
  if (auto bad = checkShared(*request.function, request.sharedBytes); bad.result) return bad;
  return checkCooperative(request);
}

Expected<std::shared_ptr<const PreparedLaunch>> prepareLaunch(LaunchRequest request) {
  auto prepared = std::make_shared<PreparedLaunch>();
  prepared->counters_ = machine::areSitesWanted();
  auto compiled = request.function->compile({request.block, prepared->counters_, machine::areAccessesWanted()});
  if (!compiled) return tl::unexpected(compiled.error());
  prepared->compiled_ = std::move(*compiled);
  prepared->module_ = request.function->module.shared_from_this();
  prepared->request_ = std::move(request);
  if (prepared->request_.stream) prepared->request_.priority = prepared->request_.stream->priority();
  prepared->request_.stream = nullptr;  // the stream owns the operation, not the other way round
  return prepared;
}

CUresult submitLaunch(const std::shared_ptr<const PreparedLaunch>& launch, const std::shared_ptr<Stream>& stream) {
  Operation operation;
  operation.run = [launch](std::string& message) { return launch->run(message); };
  auto node = [&] {
    auto described = std::make_shared<LaunchRequest>(launch->request());
    pointToParameters(*described);
    return NodeTask{CU_GRAPH_NODE_TYPE_KERNEL, std::shared_ptr<const LaunchRequest>(described), operation.run};
  };
  if (auto captured = capture(stream, node)) return *captured;
  operation.what = {.kind = machine::StreamEvent::Kind::Kernel,
                    .name = launch->request().function->displayName.c_str()};
  stream->submit(std::move(operation));
  return CUDA_SUCCESS;
}

CUresult prepareForHost(LaunchRequest request, std::shared_ptr<const PreparedLaunch>& launch, bool* badConfiguration) {
  const LaunchRefusal refusal = checkLaunch(request);
  if (badConfiguration) *badConfiguration = refusal.configuration;
  if (refusal.result != CUDA_SUCCESS) return refused(*request.function, refusal.result, refusal.message);
  const Function& function = *request.function;
  auto prepared = prepareLaunch(std::move(request));
  if (!prepared) {
    const int code = prepared.error().code;
    return refused(function, code ? static_cast<CUresult>(code) : CUDA_ERROR_NOT_SUPPORTED,
                   ptx::withSources(function.module.parsed(), function.kernel, prepared.error().message));
  }
  launch = std::move(*prepared);
  return CUDA_SUCCESS;
}

CUresult launch(LaunchRequest request, bool* badConfiguration) {
  const std::shared_ptr<Stream> stream = request.stream;
  std::shared_ptr<const PreparedLaunch> prepared;
  if (CUresult bad = prepareForHost(std::move(request), prepared, badConfiguration)) return bad;
  return submitLaunch(prepared, stream);
}

Expected<std::vector<std::byte>> gatherParameters(const Function& function, void** parameters, void** extra) {
  std::vector<std::byte> block(function.kernel.parameterBytes);
  if (parameters) {
    size_t i = 0;
    for (const ptx::Parameter& parameter : function.kernel.parameters)
      std::memcpy(block.data() + parameter.offset, parameters[i++], parameter.size);
    return block;
  }
  if (!extra) {
    if (block.empty()) return block;
    return failWith(CUDA_ERROR_INVALID_VALUE, "kernel '{}' takes {} parameters, and none were given",
                    function.displayName, function.kernel.parameters.size());
  }
  const void* buffer = nullptr;
  size_t bytes = 0;
  for (void** p = extra; *p != CU_LAUNCH_PARAM_END; p += 2) {
    if (*p == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = p[1];
    if (*p == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<size_t*>(p[1]);
  }
  if ((!buffer && !block.empty()) || bytes > ((block.size() + 15) & ~size_t{15}))
    return failWith(CUDA_ERROR_INVALID_VALUE, "kernel '{}' takes {} bytes of parameters, {} were given",
                    function.displayName, block.size(), bytes);
  if (buffer) std::memcpy(block.data(), buffer, std::min(bytes, block.size()));
  return block;
}

void pointToParameters(LaunchRequest& request) {
  request.parameterPointers.clear();
  for (const ptx::Parameter& parameter : request.function->kernel.parameters)
    request.parameterPointers.push_back(request.parameters.data() + parameter.offset);
}

}  // namespace ordito::driver
