// The stream of events that a listener hears of a few kernels and of the driver's operations, as text. Addresses are
// told relative to allocations, so the texts are the same in each run.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "driver/test_kernels.hpp"
#include "machine/listener.hpp"
#include "machine/memory.hpp"

namespace ordito::driver {
namespace {

using namespace machine;

constexpr const char* kPtx = R"(.version 8.3
.target sm_80
.address_size 64
.visible .entry meet(.param .u64 out) {
  .shared .align 16 .b8 words[32];
  .reg .b32 %t, %s, %v;
  .reg .b64 %o, %q;
  .reg .pred %p;
  ld.param.u64 %o, [out];
  mov.u32 %t, %tid.x;
  shl.b32 %s, %t, 2;
  mov.b32 %v, words;
  add.u32 %s, %s, %v;
  st.shared.u32 [%s], %t;
  bar.sync 0;
  setp.eq.u32 %p, %t, 1;
  @%p ld.volatile.shared.u32 %v, [words+8];
  bar.warp.sync 0xf;
  fence.acq_rel.gpu;
  red.release.gpu.global.add.u32 [%o+4], 1;
  @%p atom.cta.shared.add.u32 %v, [words], 1;
  cvta.shared.u64 %q, 0;
  @%p cp.async.ca.shared.global [words+16], [%o], 8, 4;
  cp.async.commit_group;
  cp.async.wait_group 0;
  ret;
}
)";

template <size_t N, class E>
const char* nameOf(const char* const (&names)[N], E e) {
  return names[static_cast<size_t>(e)];
}

constexpr const char* kKinds[] = {"load",   "store",     "matrix load", "matrix store",
                                  "atomic", "reduction", "copy",        "mbarrier"};
constexpr const char* kSpaces[] = {"generic",  "global",    "shared",  "local",
                                   "constant", "parameter", "texture", "surface"};
constexpr const char* kOrders[] = {"weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "sc"};
constexpr const char* kScopes[] = {"cta", "cluster", "gpu", "sys"};
constexpr const char* kSyncs[] = {"arrives at barrier", "waits at barrier", "barrier done",        "meets", "fence",
                                  "commits copies",     "waits for copies", "waits for all copies"};
constexpr const char* kOperations[] = {"value", "kernel", "copy",         "fill",       "host function",
                                       "graph", "free",   "event record", "event wait", "allocation"};

class Recorder : public Listener {
 public:
  bool wantsAccesses() const override { return true; }
  uint32_t allowed(const AccessEvent& e) override {
    return refusesStores && e.kind == AccessKind::Store && e.space == AccessSpace::Global ? 0 : e.at.lanes;
  }
  void accessed(const AccessEvent& e) override {
    const auto first = static_cast<uint32_t>(__builtin_ctz(e.at.lanes));
    std::string where = place(e.space, e.addressOf(first));
    if (e.at.lanes & (e.at.lanes - 1)) {
      const auto last = static_cast<uint32_t>(31 - __builtin_clz(e.at.lanes));
      where += " to " + place(e.space, e.addressOf(last));
    }
    if (e.kind == AccessKind::Copy)
      where += fmt::format(" -> {} ({} read)", place(e.toSpace, e.targets[first]), e.copied[first]);
    const bool isWeak = e.order == MemoryOrder::Weak;
    const std::string order = isWeak ? "" : fmt::format("{}.{} ", nameOf(kOrders, e.order), nameOf(kScopes, e.scope));
    if (e.stored) where += fmt::format(", stored {}", e.stored[first]);
    say("{}: {}{} {} of {} bytes at {}", site(e.at), order, nameOf(kSpaces, e.space), nameOf(kKinds, e.kind), e.bytes,
        where);
  }
  void synchronised(const SyncEvent& e) override {
    std::string text = fmt::format("{}: {}", site(e.at), nameOf(kSyncs, e.kind));
    if (e.kind == SyncEvent::Kind::Fence)
      text += fmt::format(" {}.{}", nameOf(kOrders, e.order), nameOf(kScopes, e.scope));
    if (e.kind == SyncEvent::Kind::BarrierWait) text += fmt::format(" {}", e.number);
    if (e.kind == SyncEvent::Kind::WarpSync)
      text += fmt::format(" {:x}{}", e.mask, e.ordersMemory ? ", memory too" : "");
    for (const uint32_t lanes : e.met) text += fmt::format(" {:x}", lanes);
    say("{}", text);
  }
  void blockChanged(const BlockEvent& e) override {
    say("block {} of {} {}", e.frame.ctaid[0], e.kernel.name, e.kind == BlockEvent::Kind::Begin ? "begins" : "ends");
  }
  void launchBegan(const LaunchEvent& e) override {
    launches_[e.launch] = launches_.size() + 1;
    say("launch {} of {} begins: {} x {}", launches_[e.launch], e.kernel, e.grid.x, e.block.x);
  }
  void launchEnded(const LaunchEvent& e) override {
    say("launch {} ends{}", launches_[e.launch], e.failure ? " with a fault" : "");
  }
  void operationSubmitted(const StreamEvent& e, std::span<const StreamPoint> after) override {
    std::string text = operation(e) + " submitted";
    for (const StreamPoint& p : after) text += fmt::format(", after {}", point(p));
    say("{}", text);
  }
  void operationBegan(const StreamEvent& e) override { say("{} begins", operation(e)); }
  void operationEnded(const StreamEvent& e) override {
    EXPECT_LE(e.beginNs, e.endNs);
    say("{} ends", operation(e));
  }
  void hostWaited(StreamPoint p) override { say("host has waited for {}", point(p)); }
  void allocated(const Allocation& a) override {
    std::lock_guard lock(mutex_);
    allocations_[a.address] = allocations_.size() + 1;
    text_ += fmt::format("allocation {} of {} bytes\n", allocations_[a.address], a.bytes);
  }
  void freed(const Allocation& a) override {
    std::lock_guard lock(mutex_);
    text_ += fmt::format("allocation {} freed\n", allocations_[a.address]);
  }

  /// What has been told since the last call.
  std::string take() {
    std::lock_guard lock(mutex_);
    launches_.clear();
    return std::exchange(text_, {});
  }
  /// From here on streams and allocations are numbered from 1.
  void begin() {
    std::lock_guard lock(mutex_);
    text_.clear(), streams_.clear(), allocations_.clear(), launches_.clear();
  }
  bool refusesStores = false;

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    const std::string line = fmt::format(format, std::forward<Args>(args)...);
    std::lock_guard lock(mutex_);
    text_ += line + "\n";
  }
  std::string point(StreamPoint p) {
    const auto [it, isNew] = streams_.try_emplace(p.stream, Numbers{streams_.size() + 1, p.number - 1});
    return fmt::format("{}.{}", it->second.stream, p.number - it->second.before);
  }
  std::string operation(const StreamEvent& e) {
    std::string text = fmt::format("operation {} ({}", point({e.stream, e.correlation}), nameOf(kOperations, e.kind));
    if (*e.name) text += fmt::format(" {}", e.name);
    if (e.bytes) text += fmt::format(", {} bytes", e.bytes);
    return text + ")";
  }
  static std::string site(const WarpSite& at) {
    return fmt::format("line {} warp {} lanes {:x}", at.line, at.warp, at.lanes);
  }
  std::string place(AccessSpace space, uint64_t address) {
    if (space != AccessSpace::Global) return fmt::format("{}", address);
    const auto found = machine::allocations().find(address);
    return found ? fmt::format("{}+{}", allocations_[found->address], address - found->address) : "?";
  }

  struct Numbers {
    size_t stream;
    uint64_t before;
  };
  std::mutex mutex_;
  std::string text_;
  std::map<uint64_t, Numbers> streams_;
  std::map<uint64_t, size_t> allocations_, launches_;
};

Recorder& recorder() {
  static auto* one = [] {
    auto* made = new Recorder;
    addListener(*made);
    return made;
  }();
  return *one;
}

class Events : public DriverTest {
 protected:
  void SetUp() override {
    recorder();
    DriverTest::SetUp();
    recorder().refusesStores = false;
    recorder().begin();
  }
  void TearDown() override {
    recorder().begin();
    DriverTest::TearDown();
  }
};

TEST_F(Events, OfAKernel) {
  CUmodule own = nullptr;
  CUfunction meet = nullptr;
  ASSERT_EQ(cuModuleLoadData(&own, kPtx), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&meet, own, "meet"), CUDA_SUCCESS);
  recorder().begin();
  CUdeviceptr out = allocate(64);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  recorder().take();
  ASSERT_EQ(start(meet, 1, 4, 0, nullptr, out), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(recorder().take(), R"(operation 1.2 (kernel meet) submitted
operation 1.2 (kernel meet) begins
launch 1 of meet begins: 1 x 4
block 0 of meet begins
line 14 warp 0 lanes f: shared store of 4 bytes at 0 to 12, stored 0
line 15 warp 0 lanes f: waits at barrier 0
line 15 warp 0 lanes f: barrier done f
line 17 warp 0 lanes 2: volatile.sys shared load of 4 bytes at 8
line 18 warp 0 lanes f: meets f, memory too
line 19 warp 0 lanes 1: fence acq_rel.gpu
line 19 warp 0 lanes 2: fence acq_rel.gpu
line 19 warp 0 lanes 4: fence acq_rel.gpu
line 19 warp 0 lanes 8: fence acq_rel.gpu
line 20 warp 0 lanes f: release.gpu global reduction of 4 bytes at 1+4 to 1+4
line 21 warp 0 lanes 2: relaxed.cta shared atomic of 4 bytes at 0
line 23 warp 0 lanes 2: global copy of 8 bytes at 1+0 -> 16 (4 read)
line 24 warp 0 lanes 1: commits copies
line 24 warp 0 lanes 2: commits copies
line 24 warp 0 lanes 4: commits copies
line 24 warp 0 lanes 8: commits copies
line 25 warp 0 lanes 1: waits for copies
line 25 warp 0 lanes 2: waits for copies
line 25 warp 0 lanes 4: waits for copies
line 25 warp 0 lanes 8: waits for copies
block 0 of meet ends
launch 1 ends
operation 1.2 (kernel meet) ends
host has waited for 1.2
)");
}

/// A refused access does not happen, and the thread goes on.
TEST_F(Events, AListenerMayRefuseAnAccess) {
  CUdeviceptr out = allocate(16);
  recorder().refusesStores = true;
  ASSERT_EQ(start(kernel("iota"), 1, 4, 0, nullptr, out, 4u), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(read(out, 4), std::vector<unsigned>(4));
  const std::string text = recorder().take();
  EXPECT_EQ(text.find("global store"), std::string::npos) << text;
}

TEST_F(Events, OfTheDriver) {
  CUstream a = nullptr, b = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  recorder().begin();
  CUdeviceptr out = 0;
  ASSERT_EQ(cuMemAllocAsync(&out, 8, a), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(out, 1, 8, a), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, a), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(b, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  unsigned host[2] = {};
  ASSERT_EQ(cuMemcpyDtoHAsync(host, out, 8, b), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(b, [](void*) {}, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(b), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(out, b), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(b), CUDA_SUCCESS);
  EXPECT_EQ(recorder().take(), R"(allocation 1 of 8 bytes
operation 1.1 (allocation, 8 bytes) submitted
operation 1.2 (fill, 8 bytes) submitted
operation 1.2 (fill, 8 bytes) begins
operation 1.2 (fill, 8 bytes) ends
host has waited for 1.2
operation 1.3 (event record) submitted
operation 1.3 (event record) begins
operation 1.3 (event record) ends
operation 2.1 (event wait) submitted, after 1.3
host has waited for 1.3
operation 2.2 (copy, 8 bytes) submitted
operation 2.2 (copy, 8 bytes) begins
operation 2.2 (copy, 8 bytes) ends
host has waited for 2.2
operation 2.3 (host function) submitted
operation 2.3 (host function) begins
operation 2.3 (host function) ends
host has waited for 2.3
operation 2.4 (free, 8 bytes) submitted
operation 2.4 (free, 8 bytes) begins
allocation 1 freed
operation 2.4 (free, 8 bytes) ends
host has waited for 2.4
)");
}

TEST_F(Events, OfAGraph) {
  CUstream a = nullptr;
  ASSERT_EQ(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUdeviceptr out = allocate(16);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  recorder().begin();
  ASSERT_EQ(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(start(kernel("bounded"), 1, 4, 0, a, out), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(a, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(recorder().take(), "");  // nothing has run yet
  ASSERT_EQ(cuGraphLaunch(exec, a), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_EQ(recorder().take(), R"(operation 1.1 (graph) submitted
operation 1.1 (graph) begins
launch 1 of bounded begins: 1 x 4
block 0 of bounded begins
block 0 of bounded ends
launch 1 ends
operation 1.1 (graph) ends
host has waited for 1.1
)");
}

}  // namespace
}  // namespace ordito::driver
