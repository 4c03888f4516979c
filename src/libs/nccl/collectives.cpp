// Collective operations. Ranks of one process read each other's memory as it is. Between processes the elements go
// through the ranks' rooms in shared memory, as many at a time as fit. The steps are the same: every rank says what it
// has, waits for all, takes what it needs, and waits until the others have, too.
#include <algorithm>
#include <cstring>
#include <string>

#include "libs/nccl/operations.hpp"
#include "libs/stream_task.hpp"

namespace ordito::libs::nccl {
namespace {

struct Range {
  size_t first, count;
};

class Performance {
 public:
  Performance(Communicator& communicator, const Collective& collective)
      : communicator_(communicator),
        collective_(collective),
        size_(sizeOf(collective.type)),
        ranks_(static_cast<size_t>(communicator.ranks())),
        rank_(static_cast<size_t>(communicator.rank())) {}

  void run() {
    announce();
    const size_t most = sectionCount();
    for (size_t first = 0; first < collective_.count && isGood_; first += most)
      section({first, std::min(most, collective_.count - first)}, first == 0);
  }

 private:
  bool isDirect() const { return communicator_.reachesAll(); }
  bool isRoot() const { return communicator_.rank() == collective_.root; }
  /// Whether a rank sends a part of its own to each rank.
  bool sendsParts() const {
    return collective_.kind == Kind::ReduceScatter || collective_.kind == Kind::AllToAll ||
           collective_.kind == Kind::Scatter;
  }
  bool sends() const { return (collective_.kind != Kind::Broadcast && collective_.kind != Kind::Scatter) || isRoot(); }
  /// How many elements (of each part) go through the rooms at a time.
  size_t sectionCount() const {
    if (isDirect()) return collective_.count;
    return communicator_.segment().roomBytes() / size_ / (sendsParts() ? ranks_ : 1);
  }

  void announce() {
    RankBlock& mine = communicator_.block(communicator_.rank());
    const bool hasOperation = collective_.kind <= Kind::Reduce || collective_.kind == Kind::ReduceScatter;
    mine.announcement = {static_cast<uint32_t>(collective_.kind), static_cast<uint32_t>(collective_.type),
                         hasOperation ? static_cast<uint32_t>(collective_.operation) : 0u, collective_.root,
                         collective_.count};
    mine.send = collective_.send;
    mine.receive = collective_.receive;
    mine.factor = collective_.factor;
    if (collective_.factorPlace) std::memcpy(mine.factor.data(), collective_.factorPlace, size_);
  }

  /// All do the same, or all end here.
  void compareAnnouncements() {
    for (int other = 0; other < communicator_.ranks(); ++other)
      if (communicator_.block(other).announcement != communicator_.block(communicator_.rank()).announcement) {
        isGood_ = false;
        return communicator_.fail(ncclInvalidUsage, std::string(collective_.name) + " of rank " +
                                                        std::to_string(communicator_.rank()) + ": rank " +
                                                        std::to_string(other) +
                                                        " calls something else, or with another count, type or root");
      }
  }

  void meet() { isGood_ = isGood_ && communicator_.barrier(); }

  void section(Range range, bool isFirst) {
    if (!isDirect() && sends()) stage(range);
    meet();
    if (isGood_ && isFirst) compareAnnouncements();
    if (!isGood_) return;
    take(range);
    meet();
  }

  /// Puts elements into this rank's room, part behind part.
  void stage(Range range) {
    for (size_t part = 0; part < (sendsParts() ? ranks_ : 1); ++part)
      copyBytes(room(rank_) + part * range.count * size_,
                collective_.send + (part * collective_.count + range.first) * size_, range.count * size_);
  }
  std::byte* room(size_t rank) const { return communicator_.segment().room(static_cast<int>(rank)); }

  /// What another rank sends of a range, its part for `part` if it sends parts.
  const std::byte* sent(size_t from, Range range, size_t part) const {
    if (!isDirect()) return room(from) + part * range.count * size_;
    return communicator_.block(static_cast<int>(from)).send + (part * collective_.count + range.first) * size_;
  }
  std::vector<const std::byte*> sentByAll(Range range, size_t part, size_t skipped = 0) const {
    std::vector<const std::byte*> all;
    for (size_t from = 0; from < ranks_; ++from) all.push_back(sent(from, range, part) + skipped * size_);
    return all;
  }
  std::byte* received(Range range, size_t part = 0) const {
    return collective_.receive + (part * collective_.count + range.first) * size_;
  }
  void reduceInto(std::byte* result, const std::vector<const std::byte*>& inputs, size_t count) const {
    Reduction reduction{collective_.operation};
    for (int rank = 0; rank < communicator_.ranks(); ++rank)
      reduction.factors.push_back(communicator_.block(rank).factor);
    reduce(collective_.type, reduction, inputs, result, count);
  }
  void copyInto(std::byte* to, const std::byte* from, size_t count) const {
    if (to != from) copyBytes(to, from, count * size_);
  }

  void take(Range range) {
    switch (collective_.kind) {
      case Kind::AllReduce: return reduceForAll(range);
      case Kind::ReduceScatter: return reduceInto(received(range), sentByAll(range, rank_), range.count);
      case Kind::Reduce:
        if (isRoot()) reduceInto(received(range), sentByAll(range, 0), range.count);
        return;
      case Kind::Broadcast:
      case Kind::Scatter:
        return copyInto(received(range), sent(static_cast<size_t>(collective_.root), range, sendsParts() ? rank_ : 0),
                        range.count);
      case Kind::Gather:
        if (!isRoot()) return;
        [[fallthrough]];
      case Kind::AllGather:
      case Kind::AllToAll:
        for (size_t from = 0; from < ranks_; ++from)
          copyInto(received(range, from), sent(from, range, sendsParts() ? rank_ : 0), range.count);
    }
  }

  /// Every rank reduces a share of the elements, then takes the others' shares.
  void reduceForAll(Range range) {
    const auto start = [&](size_t rank) { return range.count * rank / ranks_; };
    const auto result = [&](size_t rank) {
      if (!isDirect()) return room(rank);
      return communicator_.block(static_cast<int>(rank)).receive + range.first * size_;
    };
    const size_t mine = start(rank_);
    reduceInto(result(rank_) + mine * size_, sentByAll(range, 0, mine), start(rank_ + 1) - mine);
    meet();
    for (size_t from = 0; isGood_ && from < ranks_; ++from) {
      const size_t bytes = start(from) * size_;
      copyInto(received(range) + bytes, result(from) + bytes, start(from + 1) - start(from));
    }
  }

  Communicator& communicator_;
  const Collective& collective_;
  const size_t size_, ranks_, rank_;
  bool isGood_ = true;
};

}  // namespace

void copyBytes(std::byte* to, const std::byte* from, size_t bytes) {
  constexpr size_t kPiece = size_t{1} << 20;
  parallelFor(static_cast<unsigned>((bytes + kPiece - 1) / kPiece), [&](unsigned piece) {
    const size_t first = piece * kPiece;
    std::memcpy(to + first, from + first, std::min(kPiece, bytes - first));
  });
}

void perform(Communicator& communicator, const Collective& collective) {
  communicator.run([&] { Performance(communicator, collective).run(); });
}

}  // namespace ordito::libs::nccl
