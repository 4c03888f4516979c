// Messages between two ranks go through a mailbox, in parcels: what the sender puts there the receiver takes. Ranks of
// one process put the message's address there instead. All messages of a group advance in turns, so that no rank waits
// for one while the others wait for its next.
#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "libs/nccl/operations.hpp"

namespace ordito::libs::nccl {
namespace {

class Exchange {
 public:
  Exchange(Communicator& communicator, const std::vector<Message>& messages) : communicator_(communicator) {
    for (const Message& message : messages) open_.push_back({message});
  }

  void run() {
    Word& bell = communicator_.block(communicator_.rank()).bell;
    bool isGood = true;
    while (isGood && !open_.empty())
      isGood = communicator_.wait(bell, [&] { return advanceAll(); }, [&] { return isHopeless(); });
  }

 private:
  struct Open {
    Message message;
    size_t done = 0;
    bool started = false, ended = false;
    uint32_t last = 0;  // the number behind the last parcel that was put
  };

  /// One turn; whether anything moved.
  bool advanceAll() {
    bool moved = false;
    std::set<std::pair<bool, int>> waiting;  // messages behind one that is not done
    for (Open& open : open_) {
      const std::pair key{open.message.isSent, open.message.peer};
      if (waiting.contains(key)) continue;
      moved |= open.message.isSent ? put(open) : take(open);
      if (!open.ended) waiting.insert(key);
    }
    std::erase_if(open_, [](const Open& open) { return open.ended; });
    return moved || communicator_.error() != ncclSuccess;
  }

  bool put(Open& open) {
    const Message& message = open.message;
    Mailbox& mailbox = communicator_.segment().mailbox(communicator_.rank(), message.peer);
    const bool isDirect = communicator_.reaches(message.peer);
    if (open.started && open.done == message.bytes) {
      // A parcel with bytes is a copy; one with an address is needed until it is taken.
      open.ended = !isDirect || static_cast<int32_t>(mailbox.taken - open.last) >= 0;
      return open.ended;
    }
    const uint32_t number = mailbox.sent;
    if (number - mailbox.taken >= mailbox.parcels.size()) return false;
    if (!isDirect && !open.started && !communicator_.segment().reserveParcels(communicator_.rank(), message.peer)) {
      communicator_.fail(ncclSystemError, "there is no shared memory left for messages (/dev/shm)");
      return false;
    }
    pack(open, mailbox.parcels[number % 2], number, isDirect);
    open.last = ++mailbox.sent;
    open.started = true;
    communicator_.ring(message.peer);
    return true;
  }

  void pack(Open& open, Parcel& parcel, uint32_t number, bool isDirect) {
    const Message& message = open.message;
    const size_t left = message.bytes - open.done;
    const size_t bytes = isDirect ? left : std::min(left, communicator_.segment().parcelBytes());
    parcel = {bytes, message.bytes, message.data};
    if (!isDirect)
      std::memcpy(communicator_.segment().parcel(communicator_.rank(), message.peer, number), message.data + open.done,
                  bytes);
    open.done += bytes;
  }

  bool take(Open& open) {
    const Message& message = open.message;
    Mailbox& mailbox = communicator_.segment().mailbox(message.peer, communicator_.rank());
    const uint32_t number = mailbox.taken;
    if (mailbox.sent == number) return false;
    const Parcel& parcel = mailbox.parcels[number % 2];
    if (parcel.total != message.bytes) {
      communicator_.fail(ncclInvalidUsage, "ncclRecv of rank " + std::to_string(communicator_.rank()) + " takes " +
                                               std::to_string(message.bytes) + " bytes, ncclSend of rank " +
                                               std::to_string(message.peer) + " has " + std::to_string(parcel.total));
      return false;
    }
    if (communicator_.reaches(message.peer))
      copyBytes(message.data, parcel.place, parcel.bytes);
    else
      std::memcpy(message.data + open.done, communicator_.segment().parcel(message.peer, communicator_.rank(), number),
                  parcel.bytes);
    open.done += parcel.bytes;
    open.ended = open.done == message.bytes;
    ++mailbox.taken;
    communicator_.ring(message.peer);
    return true;
  }

  bool isHopeless() {
    return std::any_of(open_.begin(), open_.end(),
                       [&](const Open& open) { return communicator_.isGone(open.message.peer); });
  }

  Communicator& communicator_;
  std::vector<Open> open_;
};

}  // namespace

void exchange(Communicator& communicator, const std::vector<Message>& messages) {
  communicator.run([&] { Exchange(communicator, messages).run(); });
}

}  // namespace ordito::libs::nccl
