// Ranks that are devices of one process: random calls by one thread for all and by a thread for each, groups, streams,
// captured calls, bad arguments.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>

#include "libs/nccl/test_trials.hpp"

namespace ordito::libs::nccl::test {
namespace {

constexpr int kRanks = 4;

/// Before anything asks for the devices; also in the processes of processes_test.cpp.
const int kDevicesAreSeveral = setenv("ORDITO_GPU", "h200,h200,h200,h200", 1);

struct Nccl : testing::Test {
  static void SetUpTestSuite() {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    for (int i = 0; i < kRanks; ++i) {
      ASSERT_EQ(cuDevicePrimaryCtxRetain(contexts + i, i), CUDA_SUCCESS);
      enter(i);
      ASSERT_EQ(cuStreamCreate(streams + i, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    }
    enter(0);
    ASSERT_EQ(ncclCommInitAll(comms, kRanks, nullptr), ncclSuccess);
  }
  static void TearDownTestSuite() {
    for (const ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  }
  static void enter(int device) { ASSERT_EQ(cuCtxSetCurrent(contexts[device]), CUDA_SUCCESS); }
  static void synchronize() {
    for (const CUstream stream : streams) ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  }
  /// One call for each rank in a group.
  template <class Call>
  static void inGroup(const Call& call) {
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < kRanks; ++i) ASSERT_EQ(call(i), ncclSuccess);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  }
  /// Random calls on communicators of all ranks, by this thread.
  static void tryCalls(const ncclComm_t* of, unsigned firstSeed, unsigned count) {
    for (unsigned seed = firstSeed; seed < firstSeed + count && !HasFailure(); ++seed) {
      const Trial trial(seed, kRanks);
      std::vector<Trial::Memory> memory;
      for (int i = 0; i < kRanks; ++i) memory.push_back(trial.prepare(i, of[i]));
      inGroup([&](int i) { return trial.call(memory[static_cast<size_t>(i)], i, of[i], streams[i]); });
      synchronize();
      for (int i = 0; i < kRanks; ++i) trial.check(memory[static_cast<size_t>(i)], i, of[i]);
    }
  }
  static inline CUcontext contexts[kRanks];
  static inline CUstream streams[kRanks];
  static inline ncclComm_t comms[kRanks];
};

TEST_F(Nccl, RandomCallsOfOneThread) { tryCalls(comms, 1, 1000); }

TEST_F(Nccl, RandomCallsOfAThreadForEachRank) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([=] {
      enter(i);
      ncclComm_t comm = nullptr;
      ASSERT_EQ(ncclCommInitRank(&comm, 3, id, i), ncclSuccess);
      for (unsigned seed = 5000; seed < 5300; ++seed) {
        const Trial trial(seed, 3);
        Trial::Memory memory = trial.prepare(i, comm);
        ASSERT_EQ(trial.call(memory, i, comm, streams[i]), ncclSuccess);
        ASSERT_EQ(cuStreamSynchronize(streams[i]), CUDA_SUCCESS);
        trial.check(memory, i, comm);
      }
      EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
    });
  for (auto& thread : threads) thread.join();
}

/// Two ranks that know each other and two that come; the first two have divided their communicator before.
TEST_F(Nccl, CommunicatorsGrow) {
  ncclComm_t two[2], apart[2], grown[kRanks];
  ncclUniqueId id, next;
  ASSERT_EQ(ncclCommInitAll(two, 2, nullptr), ncclSuccess);
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(ncclCommSplit(two[i], i, 0, apart + i, nullptr), ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  ASSERT_EQ(ncclCommGetUniqueId(two[0], &id), ncclSuccess);
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int i = 0; i < kRanks; ++i) {
    enter(i);
    const bool isNew = i > 1;
    ASSERT_EQ(ncclCommGrow(isNew ? nullptr : two[i], kRanks, isNew || i == 0 ? &id : nullptr, isNew ? i : -1, grown + i,
                           nullptr),
              ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  tryCalls(grown, 7000, 100);
  EXPECT_EQ(ncclCommGrow(two[0], 2, nullptr, -1, grown, nullptr), ncclInvalidArgument);       // not more ranks
  EXPECT_EQ(ncclCommGrow(two[0], kRanks, nullptr, 0, grown, nullptr), ncclInvalidArgument);   // another number
  EXPECT_EQ(ncclCommGrow(two[0], kRanks, &id, -1, grown, nullptr), ncclInvalidArgument);      // used
  EXPECT_EQ(ncclCommGrow(nullptr, kRanks, nullptr, 2, grown, nullptr), ncclInvalidArgument);  // none
  ASSERT_EQ(ncclCommGetUniqueId(two[0], &next), ncclSuccess);
  EXPECT_NE(std::memcmp(&id, &next, sizeof id), 0);
  for (const ncclComm_t comm : grown) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ncclCommDestroy(apart[i]), ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(two[i]), ncclSuccess);
  }
}

TEST_F(Nccl, CommunicatorsKnowThemselves) {
  for (int i = 0; i < kRanks; ++i) {
    int count = 0, rank = -1, device = -1;
    ncclResult_t error = ncclInternalError;
    EXPECT_EQ(ncclCommCount(comms[i], &count), ncclSuccess);
    EXPECT_EQ(ncclCommUserRank(comms[i], &rank), ncclSuccess);
    EXPECT_EQ(ncclCommCuDevice(comms[i], &device), ncclSuccess);
    EXPECT_EQ(ncclCommGetAsyncError(comms[i], &error), ncclSuccess);
    EXPECT_TRUE(count == kRanks && rank == i && device == i && error == ncclSuccess);
  }
  int version = 0;
  EXPECT_EQ(ncclGetVersion(&version), ncclSuccess);
  EXPECT_EQ(version, NCCL_VERSION_CODE);
  EXPECT_EQ(NCCL_VERSION(2, 8, 3), 2803);
  EXPECT_EQ(NCCL_VERSION(2, 9, 6), 20906);
}

// The default stream is that of the communicator's device, whichever is the current one.
TEST_F(Nccl, TakesDefaultStreams) {
  enter(2);
  std::vector<int> data{1, 2, 3, 4};
  inGroup(
      [&](int i) { return ncclAllReduce(&data[size_t(i)], &data[size_t(i)], 1, ncclInt, ncclSum, comms[i], nullptr); });
  for (int i = 0; i < kRanks; ++i) {
    enter(i);
    ASSERT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  }
  EXPECT_EQ(data, (std::vector<int>{10, 10, 10, 10}));
}

// Operations of a communicator come in the order of their calls, also in different streams.
TEST_F(Nccl, KeepsTheOrderOfCallsInDifferentStreams) {
  CUstream others[kRanks];
  std::vector<std::vector<int>> data(kRanks, std::vector<int>(3, 1));
  for (int i = 0; i < kRanks; ++i) {
    enter(i);
    ASSERT_EQ(cuStreamCreate(others + i, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < kRanks; ++i) {
      int* place = data[size_t(i)].data();
      ASSERT_EQ(ncclAllReduce(place, place, 3, ncclInt, ncclSum, comms[i], (round + i) % 2 ? others[i] : streams[i]),
                ncclSuccess);
    }
  for (int i = 0; i < kRanks; ++i) {
    ASSERT_EQ(cuStreamSynchronize(others[i]), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(streams[i]), CUDA_SUCCESS);
    EXPECT_EQ(data[size_t(i)], std::vector<int>(3, 65536));
    ASSERT_EQ(cuStreamDestroy(others[i]), CUDA_SUCCESS);
  }
}

// A ring in which every rank first sends and then receives, each in a stream of its own.
TEST_F(Nccl, MessagesOfAGroupGoAtOnce) {
  CUstream others[kRanks];
  std::vector<int> sent{1, 2, 3, 4}, received(kRanks);
  for (int i = 0; i < kRanks; ++i) {
    enter(i);
    ASSERT_EQ(cuStreamCreate(others + i, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    ASSERT_EQ(ncclSend(&sent[size_t(i)], 1, ncclInt, (i + 1) % kRanks, comms[i], streams[i]), ncclSuccess);
    ASSERT_EQ(ncclRecv(&received[size_t(i)], 1, ncclInt, (i + 3) % kRanks, comms[i], others[i]), ncclSuccess);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  }
  for (const CUstream other : others) {
    ASSERT_EQ(cuStreamSynchronize(other), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamDestroy(other), CUDA_SUCCESS);
  }
  EXPECT_EQ(received, (std::vector<int>{4, 1, 2, 3}));
}

TEST_F(Nccl, GraphsRunCallsAtEveryLaunch) {
  std::vector<float> data{1, 2, 3, 4};
  CUgraph graphs[kRanks];
  CUgraphExec executables[kRanks];
  for (int i = 0; i < kRanks; ++i)
    ASSERT_EQ(cuStreamBeginCapture(streams[i], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
  inGroup([&](int i) {
    return ncclAllReduce(&data[size_t(i)], &data[size_t(i)], 1, ncclFloat, ncclAvg, comms[i], streams[i]);
  });
  for (int i = 0; i < kRanks; ++i) {
    ASSERT_EQ(cuStreamEndCapture(streams[i], graphs + i), CUDA_SUCCESS);
    ASSERT_EQ(cuGraphInstantiate(executables + i, graphs[i], 0), CUDA_SUCCESS);
  }
  for (int launch = 0; launch < 3; ++launch) {
    data = {1, 2, 3, static_cast<float>(launch)};
    for (int i = 0; i < kRanks; ++i) ASSERT_EQ(cuGraphLaunch(executables[i], streams[i]), CUDA_SUCCESS);
    synchronize();
    EXPECT_EQ(data, std::vector<float>(4, (6 + static_cast<float>(launch)) / 4));
  }
  for (int i = 0; i < kRanks; ++i) {
    cuGraphExecDestroy(executables[i]);
    cuGraphDestroy(graphs[i]);
  }
}

TEST_F(Nccl, ExtremesAreNumbersAndIntegersWrap) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> data{nan, 2, -3, nan}, greatest(4), least(4);
  std::vector<unsigned char> bytes{200, 100, 50, 25}, sums(4);
  const float* factor = &data[1];  // read in the task
  inGroup([&](int i) {
    return ncclAllReduce(&data[size_t(i)], &greatest[size_t(i)], 1, ncclFloat, ncclMax, comms[i], streams[i]);
  });
  inGroup([&](int i) {
    return ncclAllReduce(&data[size_t(i)], &least[size_t(i)], 1, ncclFloat, ncclMin, comms[i], streams[i]);
  });
  inGroup([&](int i) {
    return ncclAllReduce(&bytes[size_t(i)], &sums[size_t(i)], 1, ncclUint8, ncclSum, comms[i], streams[i]);
  });
  synchronize();
  EXPECT_EQ(greatest, std::vector<float>(4, 2));
  EXPECT_EQ(least, std::vector<float>(4, -3));
  EXPECT_EQ(sums, std::vector<unsigned char>(4, (200 + 100 + 50 + 25) % 256));
  data = {1, 3, 5, 7};
  ncclRedOp_t operations[kRanks];
  for (int i = 0; i < kRanks; ++i)
    ASSERT_EQ(
        ncclRedOpCreatePreMulSum(operations + i, const_cast<float*>(factor), ncclFloat, ncclScalarDevice, comms[i]),
        ncclSuccess);
  inGroup([&](int i) {
    return ncclAllReduce(&data[size_t(i)], &greatest[size_t(i)], 1, ncclFloat, operations[i], comms[i], streams[i]);
  });
  synchronize();
  EXPECT_EQ(greatest, std::vector<float>(4, 48));
  for (int i = 0; i < kRanks; ++i) EXPECT_EQ(ncclRedOpDestroy(operations[i], comms[i]), ncclSuccess);
}

TEST_F(Nccl, OneThreadDividesAllCommunicators) {
  ncclComm_t parts[kRanks];
  inGroup([&](int i) { return ncclCommSplit(comms[i], i % 2, i, parts + i, nullptr); });
  std::vector<int> data{1, 2, 3, 4};
  inGroup([&](int i) {
    return ncclAllReduce(&data[size_t(i)], &data[size_t(i)], 1, ncclInt, ncclSum, parts[i], streams[i]);
  });
  synchronize();
  EXPECT_EQ(data, (std::vector<int>{4, 6, 4, 6}));
  for (const ncclComm_t part : parts) EXPECT_EQ(ncclCommDestroy(part), ncclSuccess);
}

TEST_F(Nccl, CommunicatorsThatDoNotBlockSayWhenTheyAreReady) {
  ncclUniqueId id;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t both[2];
  ncclResult_t error = ncclSuccess;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  enter(0);
  ASSERT_EQ(ncclCommInitRankConfig(both, 2, id, 0, &config), ncclSuccess);
  EXPECT_EQ(ncclCommGetAsyncError(both[0], &error), ncclSuccess);
  EXPECT_EQ(error, ncclInProgress);
  enter(1);
  ASSERT_EQ(ncclCommInitRankConfig(both + 1, 2, id, 1, &config), ncclSuccess);
  for (const ncclComm_t comm : both) {
    EXPECT_EQ(ncclCommGetAsyncError(comm, &error), ncclSuccess);
    EXPECT_EQ(error, ncclSuccess);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  }
}

// What ranks do not agree on is told, and ends.
TEST_F(Nccl, DifferentCallsAreAnError) {
  ncclComm_t both[2];
  float data[8] = {};
  ASSERT_EQ(ncclCommInitAll(both, 2, nullptr), ncclSuccess);
  ASSERT_EQ(ncclAllReduce(data, data, 2, ncclFloat, ncclSum, both[0], streams[0]), ncclSuccess);
  ASSERT_EQ(ncclAllReduce(data + 4, data + 4, 3, ncclFloat, ncclSum, both[1], streams[1]), ncclSuccess);
  synchronize();
  for (const ncclComm_t comm : both) {
    ncclResult_t error = ncclSuccess;
    EXPECT_EQ(ncclCommGetAsyncError(comm, &error), ncclSuccess);
    EXPECT_EQ(error, ncclInvalidUsage);
    EXPECT_NE(std::string(ncclGetLastError(comm)).find("ncclAllReduce of rank"), std::string::npos);
    EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  }
}

TEST_F(Nccl, AbortEndsWhatWaits) {
  ncclComm_t both[2];
  float data[2] = {};
  ASSERT_EQ(ncclCommInitAll(both, 2, nullptr), ncclSuccess);
  ASSERT_EQ(ncclAllReduce(data, data, 2, ncclFloat, ncclSum, both[0], streams[0]), ncclSuccess);
  EXPECT_EQ(ncclCommAbort(both[0]), ncclSuccess);
  ASSERT_EQ(cuStreamSynchronize(streams[0]), CUDA_SUCCESS);
  ASSERT_EQ(ncclRecv(data, 2, ncclFloat, 0, both[1], streams[1]), ncclSuccess);
  ASSERT_EQ(cuStreamSynchronize(streams[1]), CUDA_SUCCESS);
  ncclResult_t error = ncclSuccess;
  EXPECT_EQ(ncclCommGetAsyncError(both[1], &error), ncclSuccess);
  EXPECT_EQ(error, ncclRemoteError);
  EXPECT_EQ(ncclCommDestroy(both[1]), ncclSuccess);
}

TEST_F(Nccl, BadArgumentsOfOperations) {
  float data[4] = {};
  const ncclComm_t comm = comms[0];
  const CUstream stream = streams[0];
  EXPECT_EQ(ncclAllReduce(data, data, 1, ncclFloat, ncclSum, nullptr, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(nullptr, data, 1, ncclFloat, ncclSum, comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(data, nullptr, 1, ncclFloat, ncclSum, comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(data, data, 1, ncclNumTypes, ncclSum, comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(data, data, 1, ncclFloat, ncclNumOps, comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclReduce(data, data, 1, ncclFloat, ncclSum, kRanks, comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclBroadcast(data, data, 1, ncclFloat, -1, comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclSend(data, 1, ncclFloat, kRanks, comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclRecv(nullptr, 1, ncclFloat, 1, comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclAlltoAll(data, data, 1, ncclFloat, comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  EXPECT_EQ(ncclSend(data, 1, ncclFloat, -1, comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(ncclAllReduce(data, data, 0, ncclFloat, ncclSum, comm, stream), ncclSuccess);  // nobody else calls
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  ncclRedOp_t operation = ncclSum;
  EXPECT_EQ(ncclRedOpCreatePreMulSum(&operation, nullptr, ncclFloat, ncclScalarDevice, comm), ncclInvalidArgument);
  ASSERT_EQ(ncclRedOpCreatePreMulSum(&operation, data, ncclFloat, ncclScalarHostImmediate, comm), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(data, data, 1, ncclDouble, operation, comm, stream), ncclInvalidArgument);
  EXPECT_EQ(ncclRedOpDestroy(operation, comm), ncclSuccess);
  EXPECT_EQ(ncclRedOpDestroy(operation, comm), ncclInvalidArgument);
}

TEST_F(Nccl, RevokedCommunicatorsAreOfNoUse) {
  ncclUniqueId id;
  ncclComm_t comm = nullptr;
  float data[2] = {};
  enter(0);
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  EXPECT_EQ(ncclCommInitRankScalable(&comm, 1, 0, 0, &id, nullptr), ncclInvalidArgument);
  ASSERT_EQ(ncclCommInitRankScalable(&comm, 1, 0, 1, &id, nullptr), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(data, data, 2, ncclFloat, ncclSum, comm, streams[0]), ncclSuccess);
  EXPECT_EQ(ncclCommRevoke(comm, 1), ncclInvalidArgument);
  EXPECT_EQ(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(data, data, 2, ncclFloat, ncclSum, comm, streams[0]), ncclInvalidUsage);
  EXPECT_STREQ(ncclGetErrorString(ncclInvalidUsage), "invalid usage");
  EXPECT_EQ(cuStreamSynchronize(streams[0]), CUDA_SUCCESS);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST_F(Nccl, BadArgumentsOfCommunicators) {
  ncclUniqueId id, nonsense{};
  ncclComm_t comm = nullptr;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  EXPECT_EQ(ncclGetUniqueId(nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(&comm, 1, nonsense, 0), ncclInvalidArgument);
  config.blocking = 2;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
  config = {};
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
  const int same[] = {1, 1}, none[] = {0, 7};
  ncclComm_t both[2];
  EXPECT_EQ(ncclCommInitAll(both, 2, same), ncclInvalidUsage);
  EXPECT_EQ(ncclCommInitAll(both, 2, none), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitAll(nullptr, 2, same), ncclInvalidArgument);
  EXPECT_EQ(ncclCommSplit(comms[0], -2, 0, &comm, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommCount(nullptr, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(nullptr), ncclSuccess);
  ASSERT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
}

TEST_F(Nccl, RegistersMemory) {
  void *memory = nullptr, *handle = nullptr, *same = nullptr;
  ncclWindow_t window = nullptr;
  enter(0);
  ASSERT_EQ(ncclMemAlloc(&memory, 4096), ncclSuccess);
  EXPECT_EQ(ncclCommRegister(comms[0], memory, 4096, &handle), ncclSuccess);
  EXPECT_EQ(ncclCommWindowRegister(comms[0], memory, 4096, &window, NCCL_WIN_COLL_SYMMETRIC), ncclSuccess);
  EXPECT_EQ(ncclWinGetUserPtr(comms[0], window, &same), ncclSuccess);
  EXPECT_EQ(same, memory);
  EXPECT_EQ(ncclCommWindowDeregister(comms[0], window), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(comms[0], handle), ncclSuccess);
  EXPECT_EQ(ncclCommDeregister(comms[0], handle), ncclInvalidArgument);
  EXPECT_EQ(ncclMemFree(memory), ncclSuccess);
}

}  // namespace
}  // namespace ordito::libs::nccl::test
