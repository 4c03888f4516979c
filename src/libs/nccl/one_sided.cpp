// What ranks put into each other's windows, and signals. Memory of this process is written at once. What is for another
// process lies behind the end of the segment, one behind the other, until that rank waits for the signal and takes it:
// so whoever puts never waits for the other rank, however much it puts. Of the last one that was taken the first page
// stays, whose header will say where the next one lies.
#include <algorithm>
#include <map>
#include <new>
#include <string>

#include "libs/nccl/operations.hpp"
#include "libs/nccl/windows.hpp"

namespace ordito::libs::nccl {
namespace {

constexpr size_t kPage = 4096;

class OneSided {
 public:
  explicit OneSided(Communicator& communicator) : communicator_(communicator) {}

  void put(const Put& put) {
    const bool isDone = communicator_.reaches(put.peer) ? write(put) : post(put);
    if (!isDone) return;
    ++communicator_.segment().mailbox(communicator_.rank(), put.peer).signals;
    communicator_.ring(put.peer);
  }

  void await(const std::vector<Awaited>& awaited) {
    std::map<int, uint32_t> counts;
    for (const Awaited& one : awaited) counts[one.peer] += one.count;
    const auto lacksSome = [&](const auto& count) { return arrived(count.first) < count.second; };
    bool isGood = communicator_.wait(
        bell(), [&] { return std::none_of(counts.begin(), counts.end(), lacksSome); },
        [&] {
          return std::any_of(counts.begin(), counts.end(),
                             [&](const auto& count) { return communicator_.isGone(count.first) && lacksSome(count); });
        });
    for (const auto& [peer, count] : counts)
      for (uint32_t i = 0; isGood && i < count; ++i) isGood = take(peer);
  }

 private:
  Word& bell() { return communicator_.block(communicator_.rank()).bell; }
  /// Signals of the peer that nobody has waited for yet.
  uint32_t arrived(int peer) {
    return communicator_.segment().mailbox(peer, communicator_.rank()).signals - communicator_.puts(peer).taken;
  }

  /// Into a rank's window, if that has room.
  bool writeInto(const Window* window, int rank, uint64_t offset, const std::byte* data, uint64_t bytes) {
    if (window && window->hasRoomFor(offset, bytes)) {
      copyBytes(window->memory + offset, data, bytes);
      return true;
    }
    communicator_.fail(ncclInvalidUsage, "ncclPutSignal: " + std::to_string(bytes) + " bytes at " +
                                             std::to_string(offset) + " are not within the window of rank " +
                                             std::to_string(rank));
    return false;
  }

  bool write(const Put& put) {
    if (put.bytes == 0) return true;
    std::shared_ptr<const Window> window;
    const auto isRegistered = [&] {
      window = symmetricWindow(communicator_.identity(), put.peer, put.window);
      return window != nullptr;
    };
    if (!communicator_.wait(bell(), isRegistered, [&] { return communicator_.isGone(put.peer); })) return false;
    return writeInto(window.get(), put.peer, put.offset, put.data, put.bytes);
  }

  bool post(const Put& put) {
    const Segment& segment = communicator_.segment();
    uint64_t place = 0;
    const size_t size = sizeof(PutHeader) + put.bytes;
    const auto memory = segment.lend(size, place) ? segment.mapped(place, size) : nullptr;
    if (!memory) return lacksMemory();
    new (memory.get()) PutHeader{put.window, put.offset, put.bytes, 0};
    if (put.bytes) copyBytes(memory.get() + sizeof(PutHeader), put.data, put.bytes);
    uint64_t& last = communicator_.puts(put.peer).lastPut;
    if (!last) {
      segment.mailbox(communicator_.rank(), put.peer).firstPut = place;
    } else {
      const auto before = segment.mapped(last, sizeof(PutHeader));
      if (!before) return lacksMemory();
      headerAt(before).next = place;
    }
    last = place;
    return true;
  }

  bool take(int peer) {
    PutChain& chain = communicator_.puts(peer);
    ++chain.taken;
    if (communicator_.reaches(peer)) return true;
    const Segment& segment = communicator_.segment();
    uint64_t place = segment.mailbox(peer, communicator_.rank()).firstPut;
    if (chain.lastTaken) {
      const auto last = segment.mapped(chain.lastTaken, sizeof(PutHeader));
      if (!last) return lacksMemory();
      place = headerAt(last).next;
      segment.giveBack(chain.lastTaken, kPage);
    }
    chain.lastTaken = place;
    const auto head = segment.mapped(place, sizeof(PutHeader));
    if (!head) return lacksMemory();
    return headerAt(head).bytes == 0 || unpack(place, headerAt(head));
  }

  /// Into this rank's window; what is behind the header's page is given back.
  bool unpack(uint64_t place, const PutHeader& put) {
    const Segment& segment = communicator_.segment();
    const size_t size = sizeof(PutHeader) + put.bytes;
    const auto memory = segment.mapped(place, size);
    if (!memory) return lacksMemory();
    const auto window = symmetricWindow(communicator_.identity(), communicator_.rank(), put.window);
    const bool isGood =
        writeInto(window.get(), communicator_.rank(), put.offset, memory.get() + sizeof(PutHeader), put.bytes);
    if (size > kPage) segment.giveBack(place + kPage, size - kPage);
    return isGood;
  }

  static PutHeader& headerAt(const std::shared_ptr<std::byte>& memory) {
    return *reinterpret_cast<PutHeader*>(memory.get());
  }
  bool lacksMemory() {
    communicator_.fail(ncclSystemError, "there is no shared memory left for ncclPutSignal (/dev/shm)");
    return false;
  }

  Communicator& communicator_;
};

}  // namespace

void put(Communicator& communicator, const std::vector<Put>& puts) {
  communicator.run([&] {
    for (const Put& one : puts)
      if (communicator.error() == ncclSuccess) OneSided(communicator).put(one);
  });
}

void awaitSignals(Communicator& communicator, const std::vector<Awaited>& awaited) {
  communicator.run([&] { OneSided(communicator).await(awaited); });
}

}  // namespace ordito::libs::nccl
