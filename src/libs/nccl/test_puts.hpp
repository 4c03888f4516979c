// Ranks that put bytes into each other's windows: what a rank sends and is to find follows from a seed, so that every
// rank, wherever it is, knows it.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>

#include "libs/nccl/test_trials.hpp"

namespace ordito::libs::nccl::test {

class Puts {
 public:
  /// The windows of a rank; all ranks make theirs in the same order.
  Puts(ncclComm_t comm, int rank, int ranks, CUstream stream)
      : comm_(comm), rank_(rank), ranks_(ranks), stream_(stream) {
    sent_ = reserve(&sentWindow_), found_ = reserve(&foundWindow_);
  }
  ~Puts() {
    EXPECT_EQ(ncclCommWindowDeregister(comm_, sentWindow_), ncclSuccess);
    EXPECT_EQ(ncclCommWindowDeregister(comm_, foundWindow_), ncclSuccess);
    EXPECT_EQ(ncclMemFree(sent_), ncclSuccess);
    EXPECT_EQ(ncclMemFree(found_), ncclSuccess);
  }
  Puts(const Puts&) = delete;
  Puts& operator=(const Puts&) = delete;

  /// Puts all parts for all ranks, this one too, one behind the other, and waits for as many as come.
  void start(unsigned seed) {
    std::vector<ncclWaitSignalDesc_t> signals;
    for (int peer = 0; peer < ranks_; ++peer) {
      fill(sent_ + room(peer), seed, rank_, peer);
      size_t first = 0;
      for (const size_t bytes : parts(seed, rank_, peer)) {
        ASSERT_EQ(ncclPutSignal(sent_ + room(peer) + first, bytes, ncclInt8, peer, foundWindow_, room(rank_) + first, 0,
                                0, 0, comm_, stream_),
                  ncclSuccess);
        first += bytes;
      }
      signals.push_back({static_cast<int>(parts(seed, peer, rank_).size()), peer, 0, 0});
    }
    ASSERT_EQ(ncclWaitSignal(ranks_, signals.data(), comm_, stream_), ncclSuccess);
  }

  void check(unsigned seed) const {
    std::vector<std::byte> expected(kRoom);
    for (int peer = 0; peer < ranks_; ++peer) {
      const auto bytes = parts(seed, peer, rank_);
      fill(expected.data(), seed, peer, rank_);
      EXPECT_EQ(std::memcmp(found_ + room(peer), expected.data(), std::accumulate(bytes.begin(), bytes.end(), 0UL)), 0)
          << "seed " << seed << ", from " << peer << " to " << rank_;
    }
  }

  /// Until all ranks have come here.
  void meet() {
    std::vector<ncclWaitSignalDesc_t> signals;
    for (int peer = 0; peer < ranks_; ++peer) {
      ASSERT_EQ(ncclSignal(peer, 0, 0, 0, comm_, stream_), ncclSuccess);
      signals.push_back({1, peer, 0, 0});
    }
    ASSERT_EQ(ncclWaitSignal(ranks_, signals.data(), comm_, stream_), ncclSuccess);
  }

 private:
  static constexpr size_t kRoom = size_t{3} << 20;
  static size_t room(int rank) { return static_cast<size_t>(rank) * kRoom; }

  std::byte* reserve(ncclWindow_t* window) {
    void* memory = nullptr;
    const size_t bytes = room(ranks_);
    EXPECT_EQ(ncclMemAlloc(&memory, bytes), ncclSuccess);
    EXPECT_EQ(ncclCommWindowRegister(comm_, memory, bytes, window, NCCL_WIN_COLL_SYMMETRIC), ncclSuccess);
    return static_cast<std::byte*>(memory);
  }

  /// One to four parts, some of them empty and some long.
  static std::vector<size_t> parts(unsigned seed, int from, int to) {
    std::mt19937 random(seed * 10000 + static_cast<unsigned>(from * 100 + to));
    std::vector<size_t> bytes(1 + random() % 4);
    for (size_t& part : bytes) part = random() % 8 == 0 ? random() % 700000 : random() % 5 == 0 ? 0 : random() % 9000;
    return bytes;
  }
  static void fill(std::byte* place, unsigned seed, int from, int to) {
    std::mt19937 random(seed * 10000 + static_cast<unsigned>(from * 100 + to) + 5000);
    const auto bytes = parts(seed, from, to);
    const size_t count = std::accumulate(bytes.begin(), bytes.end(), 0UL);
    for (size_t i = 0; i < count; ++i) place[i] = static_cast<std::byte>(random());
  }

  ncclComm_t comm_;
  int rank_, ranks_;
  CUstream stream_;
  ncclWindow_t sentWindow_ = nullptr, foundWindow_ = nullptr;
  std::byte *sent_ = nullptr, *found_ = nullptr;
};

/// Several times, by a thread that speaks for some of the ranks.
inline void exchangeByPuts(const std::vector<std::unique_ptr<Puts>>& ranks, const std::vector<CUstream>& streams,
                           unsigned count) {
  const auto synchronize = [&] {
    for (const CUstream stream : streams) ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  };
  for (unsigned seed = 1; seed <= count && !testing::Test::HasFailure(); ++seed) {
    for (const auto& rank : ranks) rank->start(seed);
    synchronize();
    for (const auto& rank : ranks) rank->check(seed);
    for (const auto& rank : ranks) rank->meet();
    synchronize();
  }
}

}  // namespace ordito::libs::nccl::test
