// See proxy_writes.hpp.
#include "check/proxy_writes.hpp"

#include <algorithm>

namespace ordito::check {

ProxyWrites::Word& ProxyWrites::at(uint64_t word) {
  std::unique_ptr<Row>& row = rows_[word / kWords];
  if (!row) row = std::make_unique<Row>();
  return (*row)[word % kWords];
}

template <class Self, class Visit>
void ProxyWrites::forEachWord(Self& self, uint64_t first, uint64_t end, Visit visit) {
  for (uint64_t word = first; word < end; word = (word / kWords + 1) * kWords) {
    const auto row = self.rows_.find(word / kWords);
    if (row == self.rows_.end()) continue;
    const uint64_t behind = std::min(end - word / kWords * kWords, kWords);
    for (uint64_t k = word % kWords; k < behind; ++k)
      if (!visit((*row->second)[k])) return;
  }
}

void ProxyWrites::wrote(const Write& write) {
  if (write.size == 0) return;
  std::deque<Pending>& pending = pending_[write.by];
  for (uint64_t word = write.address / kWordBytes; word <= (write.address + write.size - 1) / kWordBytes; ++word) {
    at(word) = {++serial_, write};
    pending.push_back({word, serial_});
  }
}

void ProxyWrites::copiedTo(uint64_t address, uint64_t bytes) {
  forEachWord(*this, address / kWordBytes, (address + bytes) / kWordBytes, [](Word& word) {
    word.serial = 0;
    return true;
  });
}

/// An actor's writes are known up to one of them, so that the rest need no look.
void ProxyWrites::fenced(const Clocks& clocks, uint32_t thread) {
  for (auto& [writer, pending] : pending_)
    while (!pending.empty()) {
      Word& word = at(pending.front().word);
      const bool isItsOwn = word.serial == pending.front().serial;
      if (isItsOwn && !clocks.knows(thread, writer, word.write.at)) break;
      if (isItsOwn) word.serial = 0;
      pending.pop_front();
    }
}

const ProxyWrites::Write* ProxyWrites::unseen(uint64_t address, uint64_t bytes) const {
  const Write* found = nullptr;
  forEachWord(*this, address / kWordBytes, (address + bytes + kWordBytes - 1) / kWordBytes, [&](const Word& word) {
    if (word.serial) found = &word.write;
    return !found;
  });
  return found;
}

}  // namespace ordito::check
