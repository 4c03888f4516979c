// Ranks that are processes: this executable again, once for each rank. What a rank is to do is in its environment.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "libs/nccl/test_puts.hpp"

namespace ordito::libs::nccl::test {
namespace {

constexpr int kTrials = 150;

std::string hexadecimal(const ncclUniqueId& id) {
  std::string text;
  for (const char byte : id.internal) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(byte));
    text += digits;
  }
  return text;
}
ncclUniqueId identityOf(const std::string& text) {
  ncclUniqueId id{};
  for (size_t i = 0; i < sizeof(id); ++i)
    id.internal[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return id;
}

/// Starts this executable as a rank that plays a part.
pid_t start(const std::string& part, const ncclUniqueId& id, int ranks, int rank) {
  const std::string filter = "--gtest_filter=" + part, identity = "NCCL_TEST_ID=" + hexadecimal(id);
  const std::string place = "NCCL_TEST_PLACE=" + std::to_string(ranks * 100 + rank);
  std::string program = "nccl_test", all = "--gtest_also_run_disabled_tests";
  std::vector<char*> arguments{program.data(), const_cast<char*>(filter.c_str()), all.data(), nullptr};
  std::vector<char*> environment{const_cast<char*>(identity.c_str()), const_cast<char*>(place.c_str())};
  for (char** entry = environ; *entry; ++entry) environment.push_back(*entry);
  environment.push_back(nullptr);
  pid_t child = -1;
  EXPECT_EQ(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments.data(), environment.data()), 0);
  return child;
}
int statusOf(pid_t child) {
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}
void play(const std::string& part, int ranks) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) children.push_back(start(part, id, ranks, rank));
  for (const pid_t child : children) EXPECT_EQ(statusOf(child), 0);
}

TEST(NcclProcesses, RandomCallsBetweenTwo) { play("NcclRank.DISABLED_Trials", 2); }
TEST(NcclProcesses, RandomCallsBetweenFive) { play("NcclRank.DISABLED_Trials", 5); }
TEST(NcclProcesses, RandomCallsOfDividedCommunicators) { play("NcclRank.DISABLED_DividedTrials", 4); }
TEST(NcclProcesses, LearnThatAnotherHasEnded) { play("NcclRank.DISABLED_OneEnds", 3); }
TEST(NcclProcesses, AreTwoRanksEach) { play("NcclRank.DISABLED_TwoRanks", 2); }
TEST(NcclProcesses, PutIntoEachOthersWindows) { play("NcclRank.DISABLED_Puts", 3); }
TEST(NcclProcesses, PutAndEnd) { play("NcclRank.DISABLED_OnePutsAndEnds", 2); }

/// A rank of its own process.
struct NcclRank : testing::Test {
  NcclRank() {
    CUcontext context = nullptr;
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    id = identityOf(std::getenv("NCCL_TEST_ID"));
    const int place = std::atoi(std::getenv("NCCL_TEST_PLACE"));
    ranks = place / 100;
    rank = place % 100;
  }
  void connect() { ASSERT_EQ(ncclCommInitRank(&comm, ranks, id, rank), ncclSuccess); }
  void runTrials(ncclComm_t among, int count, int own, unsigned firstSeed) {
    for (unsigned seed = firstSeed; seed < firstSeed + kTrials; ++seed) {
      const Trial trial(seed, count);
      Trial::Memory memory = trial.prepare(own, among);
      ASSERT_EQ(trial.call(memory, own, among, stream), ncclSuccess) << trial.name();
      ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
      trial.check(memory, own, among);
      if (HasFailure()) return;
    }
  }
  ncclUniqueId id{};
  int ranks = 0, rank = 0;
  CUstream stream = nullptr;
  ncclComm_t comm = nullptr;
};

TEST_F(NcclRank, DISABLED_Trials) {
  connect();
  runTrials(comm, ranks, rank, 1);
  EXPECT_EQ(ncclCommFinalize(comm), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

// Rank 0 alone, the others backwards: 3 2 1.
TEST_F(NcclRank, DISABLED_DividedTrials) {
  connect();
  ncclComm_t part = nullptr, none = comm, rest = nullptr;
  ASSERT_EQ(ncclCommSplit(comm, rank == 0 ? 7 : 2, -rank, &part, nullptr), ncclSuccess);
  int count = 0, own = -1;
  ASSERT_EQ(ncclCommCount(part, &count), ncclSuccess);
  ASSERT_EQ(ncclCommUserRank(part, &own), ncclSuccess);
  EXPECT_EQ(count, rank == 0 ? 1 : 3);
  EXPECT_EQ(own, rank == 0 ? 0 : 3 - rank);
  runTrials(part, count, own, 1000);
  runTrials(comm, ranks, rank, 2000);
  EXPECT_EQ(ncclCommSplit(comm, NCCL_SPLIT_NOCOLOR, 0, &none, nullptr), ncclSuccess);
  EXPECT_EQ(none, nullptr);
  int excluded[] = {1};
  if (rank != 1) {
    ASSERT_EQ(ncclCommShrink(comm, excluded, 1, &rest, nullptr, NCCL_SHRINK_DEFAULT), ncclSuccess);
    runTrials(rest, 3, rank == 0 ? 0 : rank - 1, 3000);
    EXPECT_EQ(ncclCommDestroy(rest), ncclSuccess);
  }
  EXPECT_EQ(ncclCommDestroy(part), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST_F(NcclRank, DISABLED_OneEnds) {
  connect();
  if (rank == 1) _exit(0);  // without a word
  std::vector<float> data(10, 1);
  ncclResult_t error = ncclSuccess;
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat, ncclSum, comm, stream), ncclSuccess);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(ncclCommGetAsyncError(comm, &error), ncclSuccess);
  EXPECT_EQ(error, ncclRemoteError);
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), data.size(), ncclFloat, ncclSum, comm, stream), ncclRemoteError);
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

TEST_F(NcclRank, DISABLED_Puts) {
  connect();
  {
    std::vector<std::unique_ptr<Puts>> own;
    own.push_back(std::make_unique<Puts>(comm, rank, ranks, stream));
    exchangeByPuts(own, {stream}, 40);
  }
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

/// What was put comes also from a process that has ended; a signal that nobody sends is an error then.
TEST_F(NcclRank, DISABLED_OnePutsAndEnds) {
  connect();
  void* memory = nullptr;
  ncclWindow_t window = nullptr;
  ncclResult_t error = ncclSuccess;
  ASSERT_EQ(ncclMemAlloc(&memory, sizeof(int)), ncclSuccess);
  ASSERT_EQ(ncclCommWindowRegister(comm, memory, sizeof(int), &window, NCCL_WIN_COLL_SYMMETRIC), ncclSuccess);
  *static_cast<int*>(memory) = 40 + rank;
  if (rank == 1) {
    EXPECT_EQ(ncclPutSignal(memory, 1, ncclInt32, 0, window, 0, 0, 0, 0, comm, stream), ncclSuccess);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    _exit(0);
  }
  ncclWaitSignalDesc_t signal{1, 1, 0, 0};
  for (const ncclResult_t expected : {ncclSuccess, ncclRemoteError}) {
    EXPECT_EQ(ncclWaitSignal(1, &signal, comm, stream), ncclSuccess);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(ncclCommGetAsyncError(comm, &error), ncclSuccess);
    EXPECT_EQ(error, expected);
  }
  EXPECT_EQ(*static_cast<int*>(memory), 41);
  EXPECT_EQ(ncclCommAbort(comm), ncclSuccess);
}

/// Two processes with two devices each.
TEST_F(NcclRank, DISABLED_TwoRanks) {
  ncclComm_t own[2];
  CUstream streams[2];
  CUcontext contexts[2];
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(cuDevicePrimaryCtxRetain(contexts + i, i), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(contexts[i]), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(streams + i, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(ncclCommInitRank(own + i, 4, id, 2 * rank + i), ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  for (unsigned seed = 1; seed <= kTrials && !HasFailure(); ++seed) {
    const Trial trial(seed, 4);
    Trial::Memory memory[2];
    for (int i = 0; i < 2; ++i) memory[i] = trial.prepare(2 * rank + i, own[i]);
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(trial.call(memory[i], 2 * rank + i, own[i], streams[i]), ncclSuccess) << trial.name();
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(cuStreamSynchronize(streams[i]), CUDA_SUCCESS);
      trial.check(memory[i], 2 * rank + i, own[i]);
    }
  }
  for (const ncclComm_t one : own) EXPECT_EQ(ncclCommDestroy(one), ncclSuccess);
}

}  // namespace
}  // namespace ordito::libs::nccl::test
