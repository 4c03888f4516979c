// One rank of a communicator: where it stands among the others, how it waits for them, and what has gone wrong.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda.h"
#include "libs/nccl/reduction.hpp"
#include "libs/nccl/segment.hpp"

namespace ordito::libs::nccl {

/// A factor of a reduction of the program's own (ncclRedOpCreatePreMulSum): its bytes, or where they are on the device.
struct Factor {
  ncclDataType_t type;
  Element bytes;
  const void* place;
};

/// Keeps the text of ncclGetLastError.
void setLastError(const std::string& text);
const char* lastError();

/// What was put between this rank and another one: where the last that was put for it lies, the last that came from it
/// and was taken, and how many were.
struct PutChain {
  uint64_t lastPut = 0, lastTaken = 0;
  uint32_t taken = 0;
};

class Communicator {
 public:
  struct Place {
    Identity identity;
    int ranks, rank;
    CUdevice device;
  };
  /// Takes the place and tells the others, without waiting for them.
  static ncclResult_t create(const Place& place, std::shared_ptr<Communicator>& made);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// Waits until all have come.
  ncclResult_t connect();
  /// Connects if that takes no waiting; false if not all have come.
  bool connectIfAllCame();

  int rank() const { return place_.rank; }
  int ranks() const { return place_.ranks; }
  CUdevice device() const { return place_.device; }
  CUcontext context() const { return context_; }
  const Identity& identity() const { return place_.identity; }
  Segment& segment() { return segment_; }
  RankBlock& block(int rank) { return segment_.block(rank); }
  /// Whether this process reaches the other rank's memory, or all ranks'.
  bool reaches(int rank);
  bool reachesAll() const { return reachesAll_; }

  // --- in tasks

  /// Runs an operation unless the communicator has failed; one after the other.
  void run(const std::function<void()>& operation);
  /// Waits for all ranks; false if the operation is to end.
  bool barrier() { return barrierAt(segment_.header().arrivals, arrivals_); }
  /// Waits until done(), looking again when `word` changes; isHopeless() says that nobody is left who would change it.
  template <class Done, class IsHopeless>
  bool wait(Word& word, const Done& done, const IsHopeless& isHopeless);
  bool isGone(int rank);
  /// Wakes a rank that waits for messages, signals or windows.
  void ring(int rank);
  PutChain& puts(int rank) { return puts_.at(static_cast<size_t>(rank)); }

  // --- in host calls

  /// The ranks' words of a split: says ours, and waits for all of them.
  void announceSplit(int color, int key);
  bool awaitSplit();
  std::array<int32_t, 2> split(int rank) { return block(rank).split[splits_ % 2]; }
  /// How many communicators have been made of this one: the ranks agree on it.
  uint64_t nextChild() { return ++children_; }
  uint64_t peekChild() const { return children_ + 1; }

  /// Ends what runs and what comes: the first reason counts.
  void fail(ncclResult_t result, const std::string& text);
  /// The program gives the communicator up; the others learn it.
  void abort();
  ncclResult_t error() const { return error_; }
  bool isAborted() const { return aborted_; }

  // --- guarded by the mutex of calls

  std::mutex& calls() { return calls_; }
  /// Recorded behind the last operation, which may be in another stream than the next.
  CUevent lastOperation = nullptr;
  CUstream lastStream = nullptr;
  std::map<int, Factor> factors;
  int nextFactor = ncclNumOps;
  uint64_t nextWindow = 0;

 private:
  Communicator() = default;
  bool barrierAt(Word& arrivals, uint32_t& target);
  bool awaitBarrier(Word& arrivals, uint32_t target);
  ncclResult_t takePlace();
  ncclResult_t finishConnection();
  bool hasTwiceTheSameDevice();

  Place place_{};
  CUcontext context_ = nullptr;
  Segment segment_;
  std::mutex running_, calls_, connecting_;
  bool reachesAll_ = false;
  std::vector<PutChain> puts_;
  uint32_t arrivals_ = 0, hostArrivals_ = 0, splits_ = 0;
  uint64_t children_ = 0;
  bool hasPlace_ = false;
  std::atomic<bool> connected_{false}, aborted_{false};
  std::atomic<ncclResult_t> error_{ncclSuccess};
};

template <class Done, class IsHopeless>
bool Communicator::wait(Word& word, const Done& done, const IsHopeless& isHopeless) {
  for (int spin = 0; spin < 200; ++spin) {
    if (done()) return true;
    __builtin_ia32_pause();
  }
  while (true) {
    const uint32_t seen = word;
    if (done()) return true;
    if (error_ != ncclSuccess) return false;
    sleepOn(word, seen);
    if (word != seen || !isHopeless()) continue;
    if (done()) return true;
    if (error_ == ncclSuccess) fail(ncclRemoteError, "another rank of the communicator has ended");
    return false;
  }
}

}  // namespace ordito::libs::nccl
