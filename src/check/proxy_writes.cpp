// See proxy_writes.hpp.
#include "check/proxy_writes.hpp"

#include <algorithm>

#include "check/touch.hpp"

namespace ordito::check {

ProxyWrites::Word& ProxyWrites::at(uint64_t word) {
  if (word >= words_.size()) words_.resize(std::max<uint64_t>(word + 1, 2 * words_.size()));
  return words_[word];
}

void ProxyWrites::wrote(const Write& write) {
  if (write.size == 0) return;
  for (uint64_t word = write.address / kWordBytes; word <= (write.address + write.size - 1) / kWordBytes; ++word) {
    at(word) = {++serial_, write};
    pending_[write.thread].push_back({word, serial_});
  }
}

void ProxyWrites::copiedTo(uint64_t address, uint64_t bytes) {
  const uint64_t end = std::min<uint64_t>(words_.size(), (address + bytes) / kWordBytes);
  for (uint64_t word = address / kWordBytes; word < end; ++word) words_[word].serial = 0;
}

/// A thread's writes are known up to one of them, so that the rest need no look.
void ProxyWrites::fenced(const Clocks& clocks, uint32_t thread) {
  for (uint32_t writer = 0; writer < pending_.size(); ++writer) {
    std::deque<Pending>& pending = pending_[writer];
    while (!pending.empty()) {
      Word& word = words_[pending.front().word];
      const bool isItsOwn = word.serial == pending.front().serial;
      if (isItsOwn && !clocks.knows(thread, writer, word.write.at)) break;
      if (isItsOwn) word.serial = 0;
      pending.pop_front();
    }
  }
}

const ProxyWrites::Write* ProxyWrites::unseen(uint64_t address, uint64_t bytes) const {
  const uint64_t end = std::min<uint64_t>(words_.size(), (address + bytes + kWordBytes - 1) / kWordBytes);
  for (uint64_t word = address / kWordBytes; word < end; ++word)
    if (words_[word].serial) return &words_[word].write;
  return nullptr;
}

}  // namespace ordito::check
