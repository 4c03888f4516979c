// Calls of libraries in streams: their order, who owns what they are made of, and their faults.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "driver/extensions.hpp"
#include "driver/test_kernels.hpp"
#include "machine/test_sanitizer.hpp"

namespace ordito::driver {
namespace {

class LibraryTasks : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }

  struct Call {
    int* runs;
    int* ends;
    volatile int* reads = nullptr;
  };
  /// Not instrumented: the thread sanitizer would look up its shadow of a bad address first, and fail there.
  __attribute__((no_sanitize("thread", "address"))) static void run(void* data) {
    auto* call = static_cast<Call*>(data);
    if (call->reads) *call->runs += *call->reads;
    ++*call->runs;
  }
  static void end(void* data) {
    const std::unique_ptr<Call> call(static_cast<Call*>(data));
    ++*call->ends;
  }
  CUresult launch(volatile int* reads = nullptr) {
    return orditoLaunchTask(stream_, "libraryCall", run, new Call{&runs_, &ends_, reads}, end);
  }

  CUstream stream_ = nullptr;
  int runs_ = 0, ends_ = 0;
};

TEST_F(LibraryTasks, RunOnceInOrderAndAreGone) {
  for (int i = 0; i < 10; ++i) ASSERT_EQ(launch(), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(runs_, 10);
  EXPECT_EQ(ends_, 10);
}

TEST_F(LibraryTasks, DoALoopWithinALoopOnce) {
  struct Counts {
    std::atomic<int> outer = 0, inner = 0;
    std::atomic<bool> isAlone = true;
  } counts;
  auto loops = [](void* data) {
    orditoParallelFor(
        24,
        [](void* data, unsigned) {
          auto* counts = static_cast<Counts*>(data);
          ++counts->outer;
          if (orditoParallelThreads() != 1) counts->isAlone = false;
          orditoParallelFor(2, [](void* data, unsigned) { ++static_cast<Counts*>(data)->inner; }, data);
        },
        data);
  };
  ASSERT_EQ(orditoLaunchTask(stream_, "libraryCall", loops, &counts, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
  EXPECT_EQ(counts.outer, 24);
  EXPECT_EQ(counts.inner, 48);
  EXPECT_TRUE(counts.isAlone);
  EXPECT_GT(orditoParallelThreads(), 0u);
}

TEST_F(LibraryTasks, AreGoneAlsoWhereTheStreamIsNone) {
  const auto bad = reinterpret_cast<CUstream>(this);
  EXPECT_EQ(orditoLaunchTask(bad, "libraryCall", run, new Call{&runs_, &ends_}, end), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(ends_, 1);
}

TEST_F(LibraryTasks, BelongToTheGraphThatTheyAreCapturedInto) {
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(launch(), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_SUCCESS);
  EXPECT_EQ(runs_, 0);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  for (int i = 1; i <= 3; ++i) {
    ASSERT_EQ(cuGraphLaunch(executable, stream_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream_), CUDA_SUCCESS);
    EXPECT_EQ(runs_, i);
    EXPECT_EQ(ends_, 0);
  }
  ASSERT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(ends_, 1);
}

TEST_F(LibraryTasks, HaveFaultsOfTheirOwn) {
  SKIP_UNDER_THREAD_SANITIZER("a second hardware fault in one thread");
  ASSERT_EQ(launch(reinterpret_cast<volatile int*>(16)), CUDA_SUCCESS);
  const CUresult late = launch();  // dropped, or refused if the fault was quicker
  EXPECT_TRUE(late == CUDA_SUCCESS || late == CUDA_ERROR_ILLEGAL_ADDRESS) << late;
  EXPECT_EQ(cuStreamSynchronize(stream_), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(std::string(orditoLastErrorMessage()),
            "libraryCall: an illegal memory access at address 0x10: a null pointer plus 16");
  EXPECT_EQ(runs_, 0);
  EXPECT_EQ(ends_, 2);
}

}  // namespace
}  // namespace ordito::driver
