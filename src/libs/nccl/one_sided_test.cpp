// Puts and signals between the devices of one process; processes_test.cpp has those between processes.
#include "libs/nccl/test_puts.hpp"

namespace ordito::libs::nccl::test {
namespace {

constexpr int kRanks = 3;

struct NcclOneSided : testing::Test {
  NcclOneSided() {
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    for (int i = 0; i < kRanks; ++i) {
      CUcontext context = nullptr;
      EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, i), CUDA_SUCCESS);
      EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
      EXPECT_EQ(cuStreamCreate(&streams[static_cast<size_t>(i)], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    }
    EXPECT_EQ(ncclCommInitAll(comms, kRanks, nullptr), ncclSuccess);
    for (int i = 0; i < kRanks; ++i) {
      EXPECT_EQ(ncclMemAlloc(reinterpret_cast<void**>(memory + i), kBytes), ncclSuccess);
      std::fill_n(memory[i], kCount, 0);
      EXPECT_EQ(ncclCommWindowRegister(comms[i], memory[i], kBytes, windows + i, NCCL_WIN_COLL_SYMMETRIC), ncclSuccess);
    }
  }
  ~NcclOneSided() override {
    for (int i = 0; i < kRanks; ++i) {
      EXPECT_EQ(ncclCommWindowDeregister(comms[i], windows[i]), ncclSuccess);
      EXPECT_EQ(ncclCommDestroy(comms[i]), ncclSuccess);
      EXPECT_EQ(ncclMemFree(memory[i]), ncclSuccess);
      EXPECT_EQ(cuStreamDestroy(streams[static_cast<size_t>(i)]), CUDA_SUCCESS);
    }
  }
  CUstream stream(int rank) const { return streams[static_cast<size_t>(rank)]; }
  void synchronize() {
    for (const CUstream each : streams) ASSERT_EQ(cuStreamSynchronize(each), CUDA_SUCCESS);
  }
  /// One number of a rank, into another place of the peer's.
  ncclResult_t put(int rank, int peer, size_t from, size_t to) {
    return ncclPutSignal(memory[rank] + from, 1, ncclInt32, peer, windows[rank], to * sizeof(int), 0, 0, 0, comms[rank],
                         stream(rank));
  }
  ncclResult_t await(int rank, int peer, int count = 1) {
    ncclWaitSignalDesc_t signal{count, peer, 0, 0};
    return ncclWaitSignal(1, &signal, comms[rank], stream(rank));
  }

  static constexpr size_t kCount = 16, kBytes = kCount * sizeof(int);
  std::vector<CUstream> streams = std::vector<CUstream>(kRanks);
  ncclComm_t comms[kRanks];
  int* memory[kRanks];
  ncclWindow_t windows[kRanks];
};

TEST_F(NcclOneSided, RandomPuts) {
  std::vector<std::unique_ptr<Puts>> ranks;
  for (int i = 0; i < kRanks; ++i) ranks.push_back(std::make_unique<Puts>(comms[i], i, kRanks, stream(i)));
  exchangeByPuts(ranks, streams, 40);
}

TEST_F(NcclOneSided, ToAndFro) {
  memory[0][0] = 7;
  // Rank 1 waits before rank 0 puts, and answers from where it was put.
  ASSERT_EQ(await(1, 0), ncclSuccess);
  ASSERT_EQ(put(1, 0, 3, 5), ncclSuccess);
  ASSERT_EQ(put(0, 1, 0, 3), ncclSuccess);
  ASSERT_EQ(await(0, 1), ncclSuccess);
  synchronize();
  EXPECT_EQ(memory[0][5], 7);
}

/// In a group everything is put before anything is waited for.
TEST_F(NcclOneSided, Groups) {
  for (int rank = 0; rank < kRanks; ++rank) memory[rank][0] = 10 + rank;
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int rank = 0; rank < kRanks; ++rank) {
    ASSERT_EQ(await(rank, (rank + kRanks - 1) % kRanks, 2), ncclSuccess);
    ASSERT_EQ(put(rank, (rank + 1) % kRanks, 0, 4), ncclSuccess);
    ASSERT_EQ(ncclSignal((rank + 1) % kRanks, 0, 0, 0, comms[rank], stream(rank)), ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  synchronize();
  for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(memory[rank][4], 10 + (rank + kRanks - 1) % kRanks);
}

TEST_F(NcclOneSided, GraphsPutAtEveryLaunch) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuStreamBeginCapture(stream(0), CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ASSERT_EQ(put(0, 1, 0, 1), ncclSuccess);
  ASSERT_EQ(cuStreamEndCapture(stream(0), &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  for (int turn = 1; turn < 4; ++turn) {
    memory[0][0] = turn;
    ASSERT_EQ(cuGraphLaunch(exec, stream(0)), CUDA_SUCCESS);
    ASSERT_EQ(await(1, 0), ncclSuccess);
    synchronize();
    EXPECT_EQ(memory[1][1], turn);
  }
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(NcclOneSided, NothingIsPutBeyondAWindow) {
  ncclResult_t error = ncclSuccess;
  ASSERT_EQ(put(0, 1, 0, kCount), ncclSuccess);
  ASSERT_EQ(cuStreamSynchronize(stream(0)), CUDA_SUCCESS);
  EXPECT_EQ(ncclCommGetAsyncError(comms[0], &error), ncclSuccess);
  EXPECT_EQ(error, ncclInvalidUsage);
}

TEST_F(NcclOneSided, BadArguments) {
  int* const data = memory[0];
  ncclWindow_t plain = nullptr;
  ASSERT_EQ(ncclCommWindowRegister(comms[0], data, kBytes, &plain, NCCL_WIN_DEFAULT), ncclSuccess);
  const auto call = [&](const int* from, size_t count, int type, int peer, ncclWindow_t window, int signal, int context,
                        unsigned flags) {
    return ncclPutSignal(from, count, static_cast<ncclDataType_t>(type), peer, window, 0, signal, context, flags,
                         comms[0], stream(0));
  };
  EXPECT_EQ(call(data, 1, ncclInt32, kRanks, windows[0], 0, 0, 0), ncclInvalidArgument);
  EXPECT_EQ(call(data, 1, 99, 1, windows[0], 0, 0, 0), ncclInvalidArgument);
  EXPECT_EQ(call(data, 1, ncclInt32, 1, nullptr, 0, 0, 0), ncclInvalidArgument);
  EXPECT_EQ(call(data, 1, ncclInt32, 1, plain, 0, 0, 0), ncclInvalidArgument);       // of one rank
  EXPECT_EQ(call(data, 1, ncclInt32, 1, windows[1], 0, 0, 0), ncclInvalidArgument);  // another rank's handle
  EXPECT_EQ(call(nullptr, 1, ncclInt32, 1, windows[0], 0, 0, 0), ncclInvalidArgument);
  EXPECT_EQ(call(data + 1, kCount, ncclInt32, 1, windows[0], 0, 0, 0), ncclInvalidArgument);
  EXPECT_EQ(call(data, 1, ncclInt32, 1, windows[0], 1, 0, 0), ncclInvalidArgument);
  EXPECT_EQ(call(data, 1, ncclInt32, 1, windows[0], 0, 1, 0), ncclInvalidArgument);
  EXPECT_EQ(call(data, 1, ncclInt32, 1, windows[0], 0, 0, 1), ncclInvalidArgument);
  EXPECT_EQ(ncclSignal(-1, 0, 0, 0, comms[0], stream(0)), ncclInvalidArgument);
  EXPECT_EQ(ncclSignal(1, 0, 0, 0, nullptr, stream(0)), ncclInvalidArgument);
  EXPECT_EQ(ncclWaitSignal(1, nullptr, comms[0], stream(0)), ncclInvalidArgument);
  EXPECT_EQ(await(0, 1, 0), ncclInvalidArgument);
  EXPECT_EQ(await(0, kRanks), ncclInvalidArgument);
  EXPECT_EQ(ncclCommWindowDeregister(comms[0], plain), ncclSuccess);
}

}  // namespace
}  // namespace ordito::libs::nccl::test
