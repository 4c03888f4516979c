// See segment.hpp. A file without a name dies with the last who maps it; until all have opened it, it has one in
// /dev/shm. Places are held by locks of open files, which the kernel gives up when a process ends in whatever way.
#include "libs/nccl/segment.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <utility>

namespace ordito::libs::nccl {
namespace {

constexpr uint64_t kMagic = 0x6c63636e6f746964;
constexpr size_t kPage = 4096;
constexpr size_t kAllRooms = size_t{16} << 20, kAllParcels = size_t{8} << 20;

size_t pages(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

uint64_t thisHost() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string text;
  file >> text;
  uint64_t number = 1;
  for (const char c : text) number = mixed(number, static_cast<unsigned char>(c));
  return number;
}

bool reserve(int file, size_t offset, size_t bytes) {
  return posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0;
}

struct flock placeOf(int rank) {
  struct flock place{};
  place.l_type = F_WRLCK;
  place.l_whence = SEEK_SET;
  place.l_start = rank;
  place.l_len = 1;
  return place;
}

/// The file in memory. Ranks of one process share a mapping, so that what orders their accesses is the same memory for
/// all of them.
std::shared_ptr<void> mappingOf(int file, const struct stat& status, size_t bytes) {
  static std::mutex mutex;
  static std::map<std::pair<dev_t, ino_t>, std::weak_ptr<void>> mappings;
  const std::scoped_lock lock(mutex);
  std::erase_if(mappings, [](const auto& entry) { return entry.second.expired(); });
  auto& known = mappings[{status.st_dev, status.st_ino}];
  if (auto mapping = known.lock()) return mapping;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::shared_ptr<void> mapping(memory, [bytes](void* place) { munmap(place, bytes); });
  known = mapping;
  return mapping;
}

}  // namespace

uint64_t mixed(uint64_t seed, uint64_t value) {
  uint64_t bits = (seed ^ value) * 0x9e3779b97f4a7c15u;
  bits = (bits ^ bits >> 32) * 0xd6e8feb86659fd93u;
  return bits ^ bits >> 32;
}

Identity Identity::create() {
  std::random_device random;
  const auto number = [&] { return static_cast<uint64_t>(random()) << 32 | random(); };
  return {kMagic, thisHost(), {number(), number()}};
}

Identity Identity::read(const ncclUniqueId& id) {
  Identity identity;
  static_assert(sizeof(identity) <= sizeof(id));
  std::memcpy(&identity, &id, sizeof(identity));
  return identity;
}

void Identity::write(ncclUniqueId& id) const {
  std::memset(&id, 0, sizeof(id));
  std::memcpy(&id, this, sizeof(*this));
}

bool Identity::isValid() const { return magic == kMagic; }
bool Identity::isOfThisHost() const { return host == thisHost(); }

Identity Identity::derived(uint64_t reason) const {
  return {magic, host, {mixed(number[0], reason), mixed(number[1], ~reason)}};
}

void Segment::layOut(int ranks) {
  ranks_ = static_cast<size_t>(ranks);
  roomBytes_ = std::clamp(kAllRooms / ranks_, size_t{64} << 10, size_t{1} << 20) / kPage * kPage;
  parcelBytes_ = std::clamp(kAllParcels / (2 * ranks_ * ranks_), kPage, size_t{128} << 10) / kPage * kPage;
  blocks_ = sizeof(Header);
  mailboxes_ = blocks_ + ranks_ * sizeof(RankBlock);
  rooms_ = pages(mailboxes_ + ranks_ * ranks_ * sizeof(Mailbox));
  parcels_ = rooms_ + ranks_ * roomBytes_;
  bytes_ = parcels_ + ranks_ * ranks_ * 2 * parcelBytes_;
}

bool Segment::open(const Identity& identity, int ranks, Segment& segment, std::string& error) {
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "/ordito-nccl-%016llx%016llx",
                static_cast<unsigned long long>(identity.number[0]),
                static_cast<unsigned long long>(identity.number[1]));
  const auto failed = [&](const char* step) {
    error = std::string("shared memory for a communicator (/dev/shm): ") + step + ": " + std::strerror(errno);
    return false;
  };
  segment.layOut(ranks);
  segment.file_ = shm_open(name.data(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (segment.file_ < 0) return failed("shm_open");
  segment.name_ = name.data();
  // Zeros are the state in which nobody has come; whoever is second changes nothing.
  struct stat status{};
  if (fstat(segment.file_, &status) != 0) return failed("fstat");
  const auto bytes = static_cast<off_t>(segment.bytes_);
  if (status.st_size < bytes && ftruncate(segment.file_, bytes) != 0) return failed("ftruncate");
  if (!reserve(segment.file_, 0, segment.rooms_)) return failed("posix_fallocate");
  segment.mapping_ = mappingOf(segment.file_, status, segment.bytes_);
  if (!segment.mapping_) return failed("mmap");
  segment.memory_ = static_cast<std::byte*>(segment.mapping_.get());
  return true;
}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(file_, other.file_);
  std::swap(mapping_, other.mapping_);
  std::swap(memory_, other.memory_);
  for (auto member : {&Segment::ranks_, &Segment::blocks_, &Segment::mailboxes_, &Segment::rooms_, &Segment::parcels_,
                      &Segment::bytes_, &Segment::roomBytes_, &Segment::parcelBytes_})
    std::swap(this->*member, other.*member);
  return *this;
}

void Segment::close() {
  unlink();
  if (file_ >= 0) ::close(file_);
}

void Segment::unlink() {
  if (!name_.empty()) shm_unlink(name_.c_str());
  name_.clear();
}

bool Segment::occupy(int rank) const {
  struct flock place = placeOf(rank);
  return fcntl(file_, F_OFD_SETLK, &place) == 0;
}

bool Segment::isHeld(int rank) const {
  struct flock place = placeOf(rank);
  return fcntl(file_, F_OFD_GETLK, &place) != 0 || place.l_type != F_UNLCK;
}

bool Segment::reserveRooms() const { return reserve(file_, rooms_, ranks_ * roomBytes_); }
bool Segment::reserveParcels(int from, int to) const {
  return reserve(file_, parcels_ + pair(from, to) * 2 * parcelBytes_, 2 * parcelBytes_);
}

bool Segment::lend(size_t bytes, uint64_t& place) const {
  place = pages(bytes_) + header().lent.fetch_add(pages(bytes));
  return reserve(file_, place, pages(bytes));
}
std::shared_ptr<std::byte> Segment::mapped(uint64_t place, size_t bytes) const {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(place));
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(memory), [bytes](std::byte* mapping) { munmap(mapping, bytes); }};
}
void Segment::giveBack(uint64_t place, size_t bytes) const {
  fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(place),
            static_cast<off_t>(pages(bytes)));
}

RankBlock& Segment::block(int rank) const { return at<RankBlock>(blocks_)[rank]; }
std::byte* Segment::room(int rank) const { return memory_ + rooms_ + static_cast<size_t>(rank) * roomBytes_; }
Mailbox& Segment::mailbox(int from, int to) const { return at<Mailbox>(mailboxes_)[pair(from, to)]; }
std::byte* Segment::parcel(int from, int to, uint32_t number) const {
  return memory_ + parcels_ + (pair(from, to) * 2 + number % 2) * parcelBytes_;
}

void sleepOn(Word& word, uint32_t seen) {
  const timespec moment{0, 50'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &moment, nullptr, 0);
}

void wakeAll(Word& word) { syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0); }

}  // namespace ordito::libs::nccl
