// What processes know together of an event: how often it was recorded, and which records have been reached.
//
// It is one page of memory in a file without a name. A record takes the next number when it is put into a stream and
// notes that number when the stream gets there; who waits for the event waits for the number that was the last when it
// began to wait, as within one process. Numbers take turns in the slots, so one that is overtaken by as many others as
// there are slots counts as reached with them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace ordito::driver {

class SharedEvent {
 public:
  /// Null if the operating system has no memory to share.
  static std::shared_ptr<SharedEvent> create();
  /// The one in another process's file, which becomes this object's; null if it is none.
  static std::shared_ptr<SharedEvent> open(int file);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  /// The number of a new record.
  uint64_t record();
  void reach(uint64_t record);
  /// The number of the last record; 0 if there is none.
  uint64_t last() const;
  bool isReached(uint64_t record) const;
  void wait(uint64_t record) const;

  int file() const { return file_; }

 private:
  struct State;
  SharedEvent(int file, State* state) : file_(file), state_(state) {}
  static std::shared_ptr<SharedEvent> map(int file);

  int file_;
  State* state_;
};

}  // namespace ordito::driver
