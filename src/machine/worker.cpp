// See worker.hpp.
#include "machine/worker.hpp"

#include <fmt/format.h>
#include <immintrin.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "machine/grid_deadlock.hpp"
#include "machine/grid_watch.hpp"
#include "machine/replay.hpp"

namespace ordito::machine {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMostFreeContexts = 256;
/// Suspended blocks on all threads, more than a GPU can hold at once: a grid barrier among more would hang there.
constexpr size_t kMostSuspended = 8192;
constexpr uint64_t kTicksPerBatch = 20'000;  // of the processor's time stamp counter: up to ten microseconds
constexpr uint32_t kMostBatched = 64;
constexpr uint64_t kTicksToCombine = 2'000'000;  // about a millisecond that atomics wait at most behind their block
constexpr size_t kTurnsPerStart = 4;             // of suspended blocks, for each block that is started

/// Bytes of the last cache, as the kernel reports it: what sysconf answers on virtual machines was seen to be ten times
/// too large.
uint64_t lastCacheBytes() {
  std::ifstream size("/sys/devices/system/cpu/cpu0/cache/index3/size");
  uint64_t kilobytes = 0;
  return size >> kilobytes && kilobytes ? kilobytes << 10 : uint64_t{32} << 20;
}

/// Does the grid write so much that nothing of it would still be in the cache when somebody reads it? The C library's
/// memcpy draws the same line, at three quarters of what a thread has of the last cache. A virtual machine says of it
/// only how large it is as a whole, and others use it, too; servers have 2 to 5 MB for each core, some up to 12.
bool outgrowsCaches(const GridLaunch& launch, const Executable& code, unsigned threads) {
  constexpr uint64_t kMostPerThread = uint64_t{8} << 20;
  static const uint64_t all = lastCacheBytes();
  const uint64_t limit = std::min(all, kMostPerThread * threads) / 4 * 3;
  return launch.grid.count() * launch.block.count() * code.nonTemporalBytes() >= limit;
}

}  // namespace

GrowingBuffer::~GrowingBuffer() {
  if (base_) munmap(base_, bytes_ + kPage);
}

std::byte* GrowingBuffer::get(size_t bytes) {
  if (bytes <= bytes_ && base_) return base_;
  size_t size = std::max(bytes_ * 2, (bytes + kPage - 1) / kPage * kPage);
  size = std::max(size, size_t{64} * 1024);
  void* memory =
      mmap(nullptr, size + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (base_) munmap(base_, bytes_ + kPage);
  base_ = static_cast<std::byte*>(memory);
  bytes_ = size;
  mprotect(base_ + size, kPage, PROT_NONE);
  return base_;
}

Worker::Worker()
    : number_([] {
        static std::atomic<uint32_t> next{0};
        return next++;
      }()) {}

Worker& Worker::current() {
  static thread_local Worker worker;
  return worker;
}

Fault Worker::noMemory(const GridLaunch& launch) {
  Fault fault;
  fault.kind = FaultKind::StackOverflow;
  fault.kernel = launch.kernelName ? launch.kernelName : "";
  fault.message = fmt::format(
      "kernel '{}': this computer has too little memory for the local and shared memory of a block", fault.kernel);
  return fault;
}

bool Worker::begin(const GridLaunch& launch, uint64_t gridId, uint32_t threads, Onlookers onlookers) {
  onlookers_ = onlookers;
  if (free_.size() > kMostFreeContexts) free_.resize(kMostFreeContexts);
  frame_ = {};
  frame_.parameters = launch.parameters;
  frame_.globals = launch.globals;
  frame_.functions = launch.functions;
  counters_.clear();
  batch_ = 1;
  const uint32_t grid[3] = {launch.grid.x, launch.grid.y, launch.grid.z};
  const uint32_t block[3] = {launch.block.x, launch.block.y, launch.block.z};
  std::copy(grid, grid + 3, frame_.nctaid);
  std::copy(block, block + 3, frame_.ntid);
  frame_.dynamicSharedBytes = launch.dynamicSharedBytes;
  frame_.totalSharedBytes = launch.totalSharedBytes;
  frame_.nsmid = std::max(threads, 1u);
  nonTemporal_ = false;
  frame_.smid = number_ % frame_.nsmid;
  frame_.gridid = gridId;
  frame_.kernelName = launch.kernelName;
  frame_.gridWorkspace = launch.gridWorkspace;
  frame_.trial = launch.trial;
  frame_.combining = &combining_;
  frame_.stop = onlookers.watch ? &onlookers.watch->stop() : nullptr;
  if (context_) free_.push_back(std::move(context_));
  return takeContext(launch);
}

/// Prepares a context for the next block, on the best code that there is by now. False when the host has too little
/// memory.
bool Worker::takeContext(const GridLaunch& launch) {
  if (free_.empty()) free_.push_back(std::make_unique<BlockContext>());
  context_ = std::move(free_.back());
  free_.pop_back();
  const Executable& code = launch.executable->latest();
  context_->code = &code;
  BlockFrame& frame = context_->frame = frame_;
  frame.counters = launch.counters ? countersOf(code) : nullptr;
  frame.shared = context_->shared.place(launch.totalSharedBytes, launch.sharedAlignment);
  frame.scratch = context_->scratch.get(code.scratchBytes());
  frame.local = context_->local.get(code.localBytes());
  frame.localBytes = code.localBytes();
  frame.nonTemporal = outgrowsCaches(launch, code, frame_.nsmid);
  nonTemporal_ |= frame.nonTemporal != 0;
  frame.device = launch.nested ? &context_->device : nullptr;
  return frame.shared && frame.scratch && frame.local;
}

uint64_t* Worker::countersOf(const Executable& code) {
  for (auto& [known, words] : counters_)
    if (known == &code) return words.data();
  return counters_.emplace_back(&code, std::vector<uint64_t>(code.counterWords())).second.data();
}

void Worker::addCounters(SiteCounters& sites) const {
  for (const auto& [code, words] : counters_) code->addCounters(words.data(), sites);
}

/// How many of the next `blocks` blocks one call runs: a call has a price, and so short blocks run many at a time. One
/// where something is due between blocks.
uint32_t Worker::batchFor(const GridLaunch& launch, uint64_t blocks) const {
  if (launch.nested || onlookers_.deadlock || !waiting_.empty()) return 1;
  return static_cast<uint32_t>(std::min<uint64_t>(batch_, blocks));
}

/// Twice as many next time while they take a few microseconds: so a launch that is stopped, or has got better code,
/// goes on with neither for long.
void Worker::adaptBatch(uint32_t ran, uint64_t ticks) {
  if (ticks < kTicksPerBatch && ran == batch_) batch_ = std::min(2 * batch_, kMostBatched);
  if (ticks > 4 * kTicksPerBatch) batch_ = std::max(batch_ / 2, 1u);
}

void Worker::emptyInTime(uint64_t ticks) {
  if (ticks - emptied_ < kTicksToCombine) return;
  combining_.empty();
  emptied_ = ticks;
}

/// Runs `count` blocks from that which has the context on, until they end or one is suspended and takes the context
/// with it.
std::optional<Fault> Worker::runContext(const GridLaunch& launch, std::unique_ptr<BlockContext>& context,
                                        uint32_t count) {
  BlockStatus status = BlockStatus::Ended;
  auto fault = runGuarded(*context->code, context->frame, count, &status);
  if (fault && fault->kind == FaultKind::Timeout && onlookers_.watch)
    onlookers_.watch->stands(context->frame.block(), fault->ptxLine);
  else if (fault)
    nameThread(launch, context->frame, *fault);
  if (fault || status == BlockStatus::Ended) {
    if (onlookers_.deadlock && !fault) onlookers_.deadlock->ended(context->frame);
    context->device.end();
    return fault;
  }
  if (onlookers_.deadlock) onlookers_.deadlock->suspended(context->frame);
  ++context->frame.resumes;
  waiting_.push_back(std::move(context));
  return std::nullopt;
}

/// Goes on with the `count` blocks that have waited longest.
std::optional<Fault> Worker::resume(const GridLaunch& launch, size_t count, const std::atomic<bool>& stop) {
  for (count = std::min(count, waiting_.size()); count && !stop.load(std::memory_order_relaxed); --count) {
    std::unique_ptr<BlockContext> context = std::move(waiting_.front());
    waiting_.pop_front();
    auto fault = runContext(launch, context);
    if (context) free_.push_back(std::move(context));
    if (fault) return fault;
  }
  return std::nullopt;
}

std::optional<Fault> Worker::runBlocks(const GridLaunch& launch, uint64_t first, uint64_t last,
                                       const std::atomic<bool>& stop) {
  for (uint64_t block = first; block < last;) {
    if (stop.load(std::memory_order_relaxed)) return std::nullopt;
    if (context_ && context_->code != &launch.executable->latest()) free_.push_back(std::move(context_));
    if (!context_ && !takeContext(launch)) return noMemory(launch);
    BlockFrame& frame = context_->frame;
    frame.place(block);
    if (launch.nested) context_->device.begin(*launch.nested);
    const uint32_t count = batchFor(launch, last - block);
    const uint64_t start = __rdtsc();
    if (auto fault = runContext(launch, context_, count)) return fault;
    const uint64_t end = __rdtsc();
    adaptBatch(count, end - start);
    emptyInTime(end);
    block = frame.block() + 1;
    if (!waiting_.empty())
      if (auto fault = resume(launch, kTurnsPerStart, stop)) return fault;
    while (waiting_.size() >= kMostSuspended / frame_.nsmid && !stop.load(std::memory_order_relaxed))
      if (auto fault = resume(launch, waiting_.size(), stop)) return fault;
  }
  if (nonTemporal_) _mm_sfence();  // stores that went round the caches are in no order with the others
  return std::nullopt;
}

std::optional<Fault> Worker::finish(const GridLaunch& launch, const std::atomic<bool>& stop) {
  auto fault = resumeAll(launch, stop);
  abandonWaiting();
  combining_.reset();
  if (nonTemporal_) _mm_sfence();
  return fault;
}

std::optional<Fault> Worker::resumeAll(const GridLaunch& launch, const std::atomic<bool>& stop) {
  while (!waiting_.empty() && !stop.load(std::memory_order_relaxed)) {
    const size_t before = waiting_.size();
    if (auto fault = resume(launch, before, stop)) return fault;
    if (waiting_.size() != before) continue;
    if (onlookers_.deadlock && onlookers_.deadlock->isThere()) return onlookers_.deadlock->fault();
    if (onlookers_.watch) onlookers_.watch->onlyWaits([&] { return stateOfWaiting(launch); });
    sched_yield();  // whom they wait for may be on another thread that has no core
  }
  return std::nullopt;
}

std::optional<Digest> Worker::stateOfWaiting(const GridLaunch& launch) const {
  if (launch.readsClock) return std::nullopt;
  Digest all;
  for (const auto& context : waiting_) {
    const auto state = context->code->suspendedState(context->frame);
    if (!state) return std::nullopt;
    all.add(context->frame.block()).add(*state);
  }
  return all;
}

/// A launch that is stopped leaves suspended blocks behind.
void Worker::abandonWaiting() {
  const bool isDeadlocked = onlookers_.deadlock && onlookers_.deadlock->isThere();
  for (auto& context : waiting_) {
    if (isDeadlocked) onlookers_.deadlock->waits(context->frame);
    if (onlookers_.watch) onlookers_.watch->stands(context->frame.block(), context->frame.waitsAt);
    context->code->abandon(context->frame);
    context->device.end();
    free_.push_back(std::move(context));
  }
  waiting_.clear();
}

}  // namespace ordito::machine
