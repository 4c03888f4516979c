// Random calls of NCCL: each trial follows from its seed, so that every rank, wherever it is, knows what all ranks
// send and what it is to receive.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cuda.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_fp8.h"
#include "nccl.h"

namespace ordito::libs::nccl::test {

inline size_t sizeOfType(int type) {
  constexpr size_t kSizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kSizes[type];
}

template <class T>
void put(std::byte* place, T value) {
  std::memcpy(place, &value, sizeof(value));
}

/// The element of the type that is nearest to a number.
inline void encode(int type, double value, std::byte* place) {
  const auto number = static_cast<float>(value);
  switch (type) {
    case ncclInt8: return put(place, static_cast<int8_t>(value));
    case ncclUint8: return put(place, static_cast<uint8_t>(value));
    case ncclInt32: return put(place, static_cast<int32_t>(value));
    case ncclUint32: return put(place, static_cast<uint32_t>(value));
    case ncclInt64: return put(place, static_cast<int64_t>(value));
    case ncclUint64: return put(place, static_cast<uint64_t>(value));
    case ncclFloat16: return put(place, __float2half_rn(number));
    case ncclFloat32: return put(place, number);
    case ncclFloat64: return put(place, value);
    case ncclBfloat16: return put(place, __float2bfloat16_rn(number));
    case ncclFloat8e4m3: return put(place, __nv_cvt_float_to_fp8(number, __NV_SATFINITE, __NV_E4M3));
    default: return put(place, __nv_cvt_float_to_fp8(number, __NV_SATFINITE, __NV_E5M2));
  }
}
inline bool isUnsigned(int type) { return type == ncclUint8 || type == ncclUint32 || type == ncclUint64; }
inline bool isWhole(int type) { return type < ncclFloat16; }

inline constexpr const char* kCalls[] = {"AllReduce",     "Reduce",   "Broadcast", "Bcast",   "AllGather",
                                         "ReduceScatter", "AlltoAll", "Gather",    "Scatter", "SendRecv"};
enum Call {
  kAllReduce,
  kReduce,
  kBroadcast,
  kBcast,
  kAllGather,
  kReduceScatter,
  kAlltoAll,
  kGather,
  kScatter,
  kSendRecv,
  kCount
};

class Trial {
 public:
  Trial(unsigned seed, int ranks) : seed_(seed), ranks_(ranks), engine_(seed) {
    call_ = below(kCount);
    type_ = below(ncclNumTypes);
    operation_ = below(ncclNumOps + 1);  // the last is a factor's
    root_ = below(ranks);
    count_ = below(20) == 0 ? 100000 + below(300000) : below(71);
    isInPlace_ = call_ == kBcast || (call_ < kAlltoAll && below(2));
  }

  std::string name() const {
    return std::string(kCalls[call_]) + ", seed " + std::to_string(seed_) + ", type " + std::to_string(type_) +
           ", operation " + std::to_string(operation_) + ", root " + std::to_string(root_) + ", count " +
           std::to_string(count_) + (isInPlace_ ? ", in place" : "");
  }

  /// Fills this rank's memory.
  struct Memory {
    std::vector<std::byte> send, receive;
    ncclRedOp_t operation = ncclSum;
  };
  Memory prepare(int rank, ncclComm_t comm) const {
    Memory memory;
    const size_t size = sizeOfType(type_);
    memory.send.resize(sendCount() * size + 1);
    memory.receive.assign(receiveCount() * size + 1, kUntouched);
    for (size_t i = 0; i < sendCount(); ++i) encode(type_, sent(rank, i), memory.send.data() + i * size);
    if (isInPlace_) {
      if (call_ == kReduceScatter)
        memory.receive = memory.send;
      else
        std::copy_n(memory.send.begin(), sendCount() * size, memory.receive.begin() + ownOffset(rank) * size);
    }
    memory.operation = static_cast<ncclRedOp_t>(operation_);
    if (operation_ == ncclNumOps) {
      std::byte factor[8];
      encode(type_, factorOf(rank), factor);
      EXPECT_EQ(ncclRedOpCreatePreMulSum(&memory.operation, factor, static_cast<ncclDataType_t>(type_),
                                         ncclScalarHostImmediate, comm),
                ncclSuccess);
    }
    return memory;
  }

  ncclResult_t call(Memory& memory, int rank, ncclComm_t comm, CUstream stream) const {
    const auto type = static_cast<ncclDataType_t>(type_);
    const size_t size = sizeOfType(type_);
    std::byte* receive = memory.receive.data();
    const std::byte* send = isInPlace_ ? receive + ownOffset(rank) * size : memory.send.data();
    if (call_ == kReduceScatter && isInPlace_) send = receive, receive += static_cast<size_t>(rank) * count_ * size;
    switch (call_) {
      case kAllReduce: return ncclAllReduce(send, receive, count_, type, memory.operation, comm, stream);
      case kReduce: return ncclReduce(send, receive, count_, type, memory.operation, root_, comm, stream);
      case kBroadcast: return ncclBroadcast(send, receive, count_, type, root_, comm, stream);
      case kBcast: return ncclBcast(receive, count_, type, root_, comm, stream);
      case kAllGather: return ncclAllGather(send, receive, count_, type, comm, stream);
      case kReduceScatter: return ncclReduceScatter(send, receive, count_, type, memory.operation, comm, stream);
      case kAlltoAll: return ncclAlltoAll(send, receive, count_, type, comm, stream);
      case kGather: return ncclGather(send, receive, count_, type, root_, comm, stream);
      case kScatter: return ncclScatter(send, receive, count_, type, root_, comm, stream);
      default: return exchange(memory, rank, comm, stream);
    }
  }

  /// Compares what this rank received.
  void check(const Memory& memory, int rank, ncclComm_t comm) const {
    if (memory.operation >= ncclNumOps) EXPECT_EQ(ncclRedOpDestroy(memory.operation, comm), ncclSuccess);
    EXPECT_EQ(memory.receive.back(), isInPlace_ && call_ == kReduceScatter ? memory.send.back() : kUntouched) << name();
    if (!receives(rank)) return;
    const size_t size = sizeOfType(type_);
    const size_t first = call_ == kReduceScatter && isInPlace_ ? static_cast<size_t>(rank) * count_ : 0;
    std::byte wanted[8];
    for (size_t i = 0; i < resultCount(); ++i) {
      encode(type_, result(rank, i), wanted);
      const std::byte* got = memory.receive.data() + (first + i) * size;
      ASSERT_EQ(std::memcmp(wanted, got, size), 0) << name() << ", rank " << rank << ", element " << i;
    }
  }

 private:
  static constexpr std::byte kUntouched{0x5a};

  int below(int end) { return static_cast<int>(engine_() % static_cast<unsigned>(end)); }
  bool hasParts(bool ofSender) const {
    return call_ == kAlltoAll || call_ == kSendRecv ||
           (ofSender ? call_ == kReduceScatter || call_ == kScatter : call_ == kAllGather || call_ == kGather);
  }
  size_t sendCount() const { return count_ * static_cast<size_t>(hasParts(true) ? ranks_ : 1); }
  size_t resultCount() const { return count_ * static_cast<size_t>(hasParts(false) ? ranks_ : 1); }
  size_t receiveCount() const { return isInPlace_ && call_ == kReduceScatter ? sendCount() : resultCount(); }
  /// Where a rank's own elements are in its result, if they are there from the start.
  size_t ownOffset(int rank) const { return call_ == kAllGather ? static_cast<size_t>(rank) * count_ : 0; }
  bool receives(int rank) const { return (call_ != kReduce && call_ != kGather) || rank == root_; }

  /// Small numbers, whose sums and products are exact.
  double sent(int rank, size_t i) const {
    const auto bits =
        static_cast<unsigned>((i * 7919 + static_cast<size_t>(rank) * 104729 + seed_) * 2654435761u) >> 16;
    const bool multiplies = call_ <= kReduceScatter && operation_ == ncclProd;
    const int value = multiplies ? 1 + static_cast<int>(bits % 2) : static_cast<int>(bits % 4);
    return !isUnsigned(type_) && (bits & 16) ? -value : value;
  }

  /// Each rank has its own.
  double factorOf(int rank) const { return isWhole(type_) ? 1 + rank % 3 : rank % 2 ? 0.5 : 1; }

  double reduced(size_t i) const {
    double all = sent(0, i) * (operation_ == ncclNumOps ? factorOf(0) : 1);
    for (int rank = 1; rank < ranks_; ++rank) {
      const double next = sent(rank, i);
      all = operation_ == ncclProd     ? all * next
            : operation_ == ncclMax    ? std::max(all, next)
            : operation_ == ncclMin    ? std::min(all, next)
            : operation_ == ncclNumOps ? all + factorOf(rank) * next
                                       : all + next;
    }
    if (operation_ != ncclAvg) return all;
    return isWhole(type_) ? std::trunc(all / ranks_) : all / ranks_;
  }

  double result(int rank, size_t i) const {
    const auto from = static_cast<int>(i / std::max<size_t>(count_, 1));
    const size_t within = i % std::max<size_t>(count_, 1), part = static_cast<size_t>(rank) * count_;
    switch (call_) {
      case kAllReduce:
      case kReduce: return reduced(i);
      case kReduceScatter: return reduced(part + i);
      case kBroadcast:
      case kBcast: return sent(root_, i);
      case kScatter: return sent(root_, part + i);
      case kAllGather:
      case kGather: return sent(from, within);
      default: return sent(from, part + within);
    }
  }

  /// All to all by messages.
  ncclResult_t exchange(Memory& memory, int, ncclComm_t comm, CUstream stream) const {
    const auto type = static_cast<ncclDataType_t>(type_);
    const size_t part = count_ * sizeOfType(type_);
    EXPECT_EQ(ncclGroupStart(), ncclSuccess);
    for (int peer = 0; peer < ranks_; ++peer) {
      const size_t offset = static_cast<size_t>(peer) * part;
      EXPECT_EQ(ncclSend(memory.send.data() + offset, count_, type, peer, comm, stream), ncclSuccess);
      EXPECT_EQ(ncclRecv(memory.receive.data() + offset, count_, type, peer, comm, stream), ncclSuccess);
    }
    return ncclGroupEnd();
  }

  const unsigned seed_;
  const int ranks_;
  std::mt19937 engine_;
  int call_, type_, operation_, root_;
  size_t count_;
  bool isInPlace_;
};

}  // namespace ordito::libs::nccl::test
