// What stream programs keep: an array of streams that destroys itself, pinned arrays, words that host and device share,
// and timers of two events.
#pragma once

#include <atomic>

#include "../common/lab.hpp"

namespace streams {

/// An array of streams, created and destroyed in loops that check every call.
class StreamPool {
 public:
  explicit StreamPool(std::size_t count, unsigned flags = cudaStreamDefault, int priority = 0) : streams_(count) {
    for (cudaStream_t& stream : streams_) LAB_CHECK(cudaStreamCreateWithPriority(&stream, flags, priority));
  }
  ~StreamPool() {
    for (cudaStream_t stream : streams_) LAB_CHECK(cudaStreamDestroy(stream));
  }
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;

  cudaStream_t operator[](std::size_t i) const { return streams_[i % streams_.size()]; }
  std::size_t size() const { return streams_.size(); }
  /// Waits for one after the other.
  void synchronize() const {
    for (cudaStream_t stream : streams_) LAB_CHECK(cudaStreamSynchronize(stream));
  }

 private:
  std::vector<cudaStream_t> streams_;
};

/// Pinned memory, which copies need that are to run beside something else; kernels may use it where it is.
template <class T>
class Pinned {
 public:
  explicit Pinned(std::size_t length) : length_(length) {
    const std::size_t bytes = std::max<std::size_t>(length, 1) * sizeof(T);
    LAB_CHECK(cudaHostAlloc(reinterpret_cast<void**>(&data_), bytes, cudaHostAllocMapped | cudaHostAllocPortable));
    std::memset(static_cast<void*>(data_), 0, bytes);
  }
  ~Pinned() { cudaFreeHost(data_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  T* get() const { return data_; }
  T& operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return length_; }
  void clear() { std::memset(static_cast<void*>(data_), 0, length_ * sizeof(T)); }

 private:
  T* data_ = nullptr;
  std::size_t length_;
};

/// An event that destroys itself.
class Event {
 public:
  explicit Event(unsigned flags = cudaEventDisableTiming) { LAB_CHECK(cudaEventCreateWithFlags(&event_, flags)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream) { LAB_CHECK(cudaEventRecord(event_, stream)); }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_;
};

/// A host function that holds its stream until the gate is opened.
class Gate {
 public:
  explicit Gate(cudaStream_t stream) { LAB_CHECK(cudaLaunchHostFunc(stream, wait, this)); }
  void open() { isOpen_ = true; }

 private:
  static void CUDART_CB wait(void* gate) {
    while (!static_cast<Gate*>(gate)->isOpen_) {
    }
  }
  std::atomic<bool> isOpen_{false};
};

}  // namespace streams
