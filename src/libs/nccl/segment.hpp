// What the ranks of a communicator share: a file in shared memory that each of them maps, whether they are threads or
// processes. It holds a counter for barriers, a block of each rank with what it tells the others, rooms through which
// numbers go between processes, and mailboxes for messages. Behind its end lies what ranks have put into memory of
// another process that has not taken it yet.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "libs/nccl/reduction.hpp"
#include "nccl.h"

namespace ordito::libs::nccl {

/// What an ncclUniqueId says: the host that it was made on, and a number that no other has.
struct Identity {
  uint64_t magic, host;
  std::array<uint64_t, 2> number;

  static Identity create();
  static Identity read(const ncclUniqueId& id);
  void write(ncclUniqueId& id) const;
  bool isValid() const;
  bool isOfThisHost() const;
  /// Another one, which everybody makes who has this one and the same reason.
  Identity derived(uint64_t reason) const;
};

/// Mixes a number into another one.
uint64_t mixed(uint64_t seed, uint64_t value);

/// What a rank is about to do, so that the others see whether they do the same.
struct Announcement {
  uint32_t kind, type, operation;
  int32_t root;
  uint64_t count;

  bool operator==(const Announcement&) const = default;
};

using Word = std::atomic<uint32_t>;  // waiters sleep on it
static_assert(Word::is_always_lock_free, "locks are of one process");

enum class Presence : uint32_t { None, Here, Left };

struct alignas(64) RankBlock {
  std::atomic<Presence> presence;
  Word bell;         // changes when a mailbox of this rank does
  uint64_t process;  // ranks of one process have the same number and reach each other's memory
  int32_t device;
  std::array<std::array<int32_t, 2>, 2> split;  // color and key of every other split
  Announcement announcement;
  const std::byte* send;  // of the collective that runs
  std::byte* receive;
  Element factor;  // of this rank's elements, if the reduction has factors
};

/// A part of a message.
struct Parcel {
  uint64_t bytes, total;
  const std::byte* place;  // in the sender's memory, if the receiver reaches it
};
/// Messages from one rank to another: two parcels at most are under way. Signals count what was put, and the first one
/// that was put for another process lies at `firstPut`.
struct alignas(64) Mailbox {
  Word sent, taken;
  std::array<Parcel, 2> parcels;
  Word signals;
  std::atomic<uint64_t> firstPut;
};
/// What was put, before its bytes; `next` is where the next one lies.
struct alignas(64) PutHeader {
  uint64_t window, offset, bytes;
  std::atomic<uint64_t> next;
};

struct alignas(64) Header {
  Word ranks;                  // how many: the first to come says it
  Word arrivals;               // at barriers of operations in streams
  Word hostArrivals;           // at those of host calls
  std::atomic<uint64_t> lent;  // bytes behind the end
};

class Segment {
 public:
  /// Opens the communicator's file, or makes it. Says in `error` why that failed.
  static bool open(const Identity& identity, int ranks, Segment& segment, std::string& error);
  Segment() = default;
  Segment(Segment&& other) noexcept { *this = std::move(other); }
  Segment& operator=(Segment&& other) noexcept;
  ~Segment() { close(); }

  bool isOpen() const { return memory_ != nullptr; }
  /// Takes the place of a rank, which the process holds until its end; false if it is taken.
  bool occupy(int rank) const;
  /// Whether the process that took the rank's place still holds it.
  bool isHeld(int rank) const;
  /// Takes the file's name away: one of the ranks does so when all have opened it, and the others forget it.
  void unlink();
  void forgetName() { name_.clear(); }
  /// Makes sure that there is memory for the rooms of all ranks, or for a mailbox's parcels.
  bool reserveRooms() const;
  bool reserveParcels(int from, int to) const;

  /// Memory behind the end, at a place that any rank may map until one of them gives it back; false if there is none.
  bool lend(size_t bytes, uint64_t& place) const;
  std::shared_ptr<std::byte> mapped(uint64_t place, size_t bytes) const;
  void giveBack(uint64_t place, size_t bytes) const;

  Header& header() const { return *at<Header>(0); }
  RankBlock& block(int rank) const;
  std::byte* room(int rank) const;
  size_t roomBytes() const { return roomBytes_; }
  Mailbox& mailbox(int from, int to) const;
  std::byte* parcel(int from, int to, uint32_t number) const;
  size_t parcelBytes() const { return parcelBytes_; }

 private:
  template <class T>
  T* at(size_t offset) const {
    return reinterpret_cast<T*>(memory_ + offset);
  }
  void layOut(int ranks);
  size_t pair(int from, int to) const { return static_cast<size_t>(from) * ranks_ + static_cast<size_t>(to); }
  void close();

  std::string name_;
  int file_ = -1;
  std::shared_ptr<void> mapping_;  // the same for all ranks of a process
  std::byte* memory_ = nullptr;
  size_t ranks_ = 0, blocks_ = 0, mailboxes_ = 0, rooms_ = 0, parcels_ = 0, bytes_ = 0;
  size_t roomBytes_ = 0, parcelBytes_ = 0;
};

/// Sleeps while `word` is `seen`, a moment at most.
void sleepOn(Word& word, uint32_t seen);
void wakeAll(Word& word);

}  // namespace ordito::libs::nccl
