// See communicator.hpp.
#include "libs/nccl/communicator.hpp"

#include <unistd.h>

#include <random>
#include <set>
#include <utility>

#include "driver/extensions.hpp"

namespace ordito::libs::nccl {
namespace {

std::mutex lastErrorMutex;
std::string lastErrorText;

uint64_t thisProcess() {
  static const uint64_t number = [] {
    std::random_device random;
    return static_cast<uint64_t>(random()) << 32 | random();
  }();
  return mixed(number, static_cast<uint64_t>(getpid()));  // a child of fork is another one
}

}  // namespace

void setLastError(const std::string& text) {
  const std::scoped_lock lock(lastErrorMutex);
  lastErrorText = text;
}

const char* lastError() {
  thread_local std::string text;
  const std::scoped_lock lock(lastErrorMutex);
  text = lastErrorText;
  return text.c_str();
}

ncclResult_t Communicator::create(const Place& place, std::shared_ptr<Communicator>& made) {
  std::shared_ptr<Communicator> communicator(new Communicator);
  communicator->place_ = place;
  communicator->puts_.resize(static_cast<size_t>(place.ranks));
  // Kept for good, as the runtime keeps it: the last task to own the communicator could not give its own context back.
  if (cuDevicePrimaryCtxRetain(&communicator->context_, place.device) != CUDA_SUCCESS) return ncclUnhandledCudaError;
  std::string error;
  if (!Segment::open(place.identity, place.ranks, communicator->segment_, error)) {
    setLastError(error);
    orditoTellOnce(error.c_str(), error.c_str());
    return ncclSystemError;
  }
  const ncclResult_t result = communicator->takePlace();
  if (result == ncclSuccess) made = std::move(communicator);
  return result;
}

ncclResult_t Communicator::takePlace() {
  uint32_t nobody = 0;
  Header& header = segment_.header();
  if (!header.ranks.compare_exchange_strong(nobody, static_cast<uint32_t>(ranks())) &&
      nobody != static_cast<uint32_t>(ranks())) {
    setLastError("the ranks do not agree on how many they are");
    segment_.forgetName();
    return ncclInvalidArgument;
  }
  RankBlock& mine = block(rank());
  if (!segment_.occupy(rank()) || mine.presence != Presence::None) {
    setLastError("two ranks of a communicator have the same number");
    segment_.forgetName();
    return ncclInvalidUsage;
  }
  hasPlace_ = true;
  mine.process = thisProcess();
  mine.device = place_.device;
  mine.presence = Presence::Here;
  hostArrivals_ = static_cast<uint32_t>(ranks());
  ++header.hostArrivals;
  wakeAll(header.hostArrivals);
  return ncclSuccess;
}

Communicator::~Communicator() {
  if (hasPlace_) block(rank()).presence = Presence::Left;
  if (lastOperation) cuEventDestroy(lastOperation);
}

ncclResult_t Communicator::connect() {
  const std::scoped_lock lock(connecting_);
  if (connected_ || error_ != ncclSuccess) return error_;
  if (!awaitBarrier(segment_.header().hostArrivals, hostArrivals_)) return error_;
  return finishConnection();
}

bool Communicator::connectIfAllCame() {
  if (connected_ || error_ != ncclSuccess) return true;
  const uint32_t came = segment_.header().hostArrivals;
  if (static_cast<int32_t>(came - static_cast<uint32_t>(ranks())) < 0) return false;
  connect();
  return true;
}

ncclResult_t Communicator::finishConnection() {
  if (rank() == 0) segment_.unlink();
  segment_.forgetName();
  reachesAll_ = true;
  for (int other = 0; other < ranks(); ++other) reachesAll_ &= reaches(other);
  if (hasTwiceTheSameDevice())
    fail(ncclInvalidUsage, "two ranks of a process have the same device; ordito run --gpus N shows N of them");
  else if (!reachesAll_ && !segment_.reserveRooms())
    fail(ncclSystemError, "there is no shared memory left for a communicator (/dev/shm)");
  connected_ = true;
  return error_;
}

bool Communicator::reaches(int rank) { return block(rank).process == block(place_.rank).process; }

bool Communicator::hasTwiceTheSameDevice() {
  std::set<std::pair<uint64_t, int>> devices;
  for (int other = 0; other < ranks(); ++other) devices.emplace(block(other).process, block(other).device);
  return devices.size() < static_cast<size_t>(ranks());
}

void Communicator::run(const std::function<void()>& operation) {
  const std::scoped_lock lock(running_);
  if (error_ == ncclSuccess) operation();
}

bool Communicator::barrierAt(Word& arrivals, uint32_t& target) {
  target += static_cast<uint32_t>(ranks());
  if (++arrivals == target) wakeAll(arrivals);
  return awaitBarrier(arrivals, target);
}

bool Communicator::awaitBarrier(Word& arrivals, uint32_t target) {
  return wait(
      arrivals, [&] { return static_cast<int32_t>(arrivals - target) >= 0; },
      [&] {
        bool isHopeless = false;
        for (int other = 0; other < ranks(); ++other) isHopeless |= isGone(other);
        return isHopeless;
      });
}

bool Communicator::isGone(int rank) {
  const Presence presence = block(rank).presence;
  return rank != place_.rank && (presence == Presence::Left || (presence == Presence::Here && !segment_.isHeld(rank)));
}

void Communicator::ring(int rank) {
  Word& bell = block(rank).bell;
  ++bell;
  wakeAll(bell);
}

void Communicator::announceSplit(int color, int key) {
  ++splits_;
  block(rank()).split[splits_ % 2] = {color, key};
  hostArrivals_ += static_cast<uint32_t>(ranks());
  ++segment_.header().hostArrivals;
  wakeAll(segment_.header().hostArrivals);
}

bool Communicator::awaitSplit() { return awaitBarrier(segment_.header().hostArrivals, hostArrivals_); }

void Communicator::fail(ncclResult_t result, const std::string& text) {
  ncclResult_t none = ncclSuccess;
  if (!error_.compare_exchange_strong(none, result)) return;
  setLastError(text);
  const std::string line = "NCCL: " + text;
  orditoTellOnce(line.c_str(), line.c_str());
}

void Communicator::abort() {
  aborted_ = true;
  ncclResult_t none = ncclSuccess;
  error_.compare_exchange_strong(none, ncclInvalidUsage);
  block(rank()).presence = Presence::Left;
  wakeAll(segment_.header().arrivals);
  wakeAll(segment_.header().hostArrivals);
}

}  // namespace ordito::libs::nccl
