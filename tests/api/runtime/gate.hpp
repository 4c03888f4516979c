// A stream that is held, and whether a call waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "expect.hpp"

/// A host function that holds its stream.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) { EXPECT_OK(cudaLaunchHostFunc(stream, wait, this)); }
  void open() { isOpen_ = true; }

 private:
  static void wait(void* gate) {
    while (!static_cast<Gate*>(gate)->isOpen_) std::this_thread::yield();
  }
  std::atomic<bool> isOpen_{false};
};

/// A thread makes the call; it is not back as long as the stream is held.
template <class Call>
static void waits(cudaStream_t stream, Call call) {
  Gate gate(stream);
  std::atomic<bool> isBack{false};
  std::thread caller([&] {
    call();
    isBack = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT(!isBack);
  gate.open();
  caller.join();
}
