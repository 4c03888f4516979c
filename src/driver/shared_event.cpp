// See shared_event.hpp. Waiters sleep in the kernel on a word that every record that is reached changes (futex(2)).
#include "driver/shared_event.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>

namespace ordito::driver {

struct SharedEvent::State {
  std::atomic<uint64_t> recorded;
  std::atomic<uint32_t> changes;
  std::array<std::atomic<uint64_t>, 64> reached;  // by number modulo their count

  std::atomic<uint64_t>& slot(uint64_t record) { return reached[record % reached.size()]; }
};

namespace {

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free,
              "locks are of one process");

}  // namespace

std::shared_ptr<SharedEvent> SharedEvent::map(int file) {
  void* const memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    close(file);
    return nullptr;
  }
  return std::shared_ptr<SharedEvent>(new SharedEvent(file, static_cast<State*>(memory)));
}

std::shared_ptr<SharedEvent> SharedEvent::create() {
  const int file = memfd_create("shared event", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  if (ftruncate(file, sizeof(State)) == 0) return map(file);  // zeros: nothing recorded
  close(file);
  return nullptr;
}

std::shared_ptr<SharedEvent> SharedEvent::open(int file) {
  struct stat status{};
  if (fstat(file, &status) == 0 && status.st_size == sizeof(State)) return map(file);
  close(file);
  return nullptr;
}

SharedEvent::~SharedEvent() {
  munmap(state_, sizeof(State));
  close(file_);
}

uint64_t SharedEvent::record() { return ++state_->recorded; }

void SharedEvent::reach(uint64_t record) {
  auto& slot = state_->slot(record);
  for (uint64_t before = slot; before < record && !slot.compare_exchange_weak(before, record);) {
  }
  ++state_->changes;
  syscall(SYS_futex, &state_->changes, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

uint64_t SharedEvent::last() const { return state_->recorded; }

bool SharedEvent::isReached(uint64_t record) const { return record == 0 || state_->slot(record) >= record; }

void SharedEvent::wait(uint64_t record) const {
  while (true) {
    const uint32_t seen = state_->changes;
    if (isReached(record)) return;
    syscall(SYS_futex, &state_->changes, FUTEX_WAIT, seen, nullptr, nullptr, 0);
  }
}

}  // namespace ordito::driver
