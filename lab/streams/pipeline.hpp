// Copy, compute, copy back, in chunks on several streams. Depth first, each chunk's three steps are issued together;
// breadth first, a step of one chunk for each stream, then the next step. Either way a stream keeps the order of its
// own, so the result is the same; what can overlap on a device with one queue is not (the program `queues`). Each
// stream has buffers of its own on the device, which its next chunk uses again.
//
// Offsets are in elements throughout; only the size of a copy is in bytes.
#pragma once

#include "pool.hpp"

namespace streams {

enum class Order { depthFirst, breadthFirst };

struct Plan {
  std::size_t streams;
  std::size_t chunks;
  Order order;
};

/// `n` elements cut into at most `chunks` parts.
class Chunks {
 public:
  Chunks(std::size_t n, std::size_t chunks) : n_(n), length_(std::max<std::size_t>(1, (n + chunks - 1) / chunks)) {}
  std::size_t count() const { return (n_ + length_ - 1) / length_; }
  std::size_t length() const { return length_; }
  std::size_t first(std::size_t chunk) const { return chunk * length_; }
  std::size_t lengthOf(std::size_t chunk) const { return std::min(length_, n_ - first(chunk)); }

 private:
  std::size_t n_, length_;
};

/// Calls each of `steps` for every chunk, in the plan's order: step(chunk, slot), where the slot is that of the stream.
/// The last group of chunks may be smaller than the others.
template <class... Steps>
void issue(const Plan& plan, std::size_t chunks, Steps... steps) {
  const std::size_t group = plan.order == Order::depthFirst ? 1 : plan.streams;
  for (std::size_t first = 0; first < chunks; first += group) {
    const std::size_t end = std::min(chunks, first + group);
    auto forGroup = [&](auto step) {
      for (std::size_t chunk = first; chunk < end; ++chunk) step(chunk, chunk % plan.streams);
    };
    (forGroup(steps), ...);
  }
}

/// Two pinned inputs and a pinned output of T, and a chunk of each for every stream on the device.
template <class T>
class Arrays {
 public:
  explicit Arrays(std::size_t n) : a(n), b(n), c(n) {}
  Pinned<T> a, b, c;
};

/// Runs `kernel(a, b, c, length, stream)` over all chunks of the arrays. The device's buffers are made outside, since
/// to allocate may wait for the device.
template <class T>
class Pipeline {
 public:
  Pipeline(const Plan& plan, Arrays<T>& arrays)
      : plan_(plan),
        arrays_(arrays),
        chunks_(arrays.a.size(), plan.chunks),
        pool_(plan.streams),
        a_(plan.streams * chunks_.length()),
        b_(plan.streams * chunks_.length()),
        c_(plan.streams * chunks_.length()) {}

  std::size_t chunkLength() const { return chunks_.length(); }
  const StreamPool& pool() const { return pool_; }

  template <class Kernel>
  void run(Kernel kernel) {
    issue(
        plan_, chunks_.count(), [&](std::size_t chunk, std::size_t slot) { copyIn(arrays_.a, a_, chunk, slot); },
        [&](std::size_t chunk, std::size_t slot) { copyIn(arrays_.b, b_, chunk, slot); },
        [&](std::size_t chunk, std::size_t slot) {
          kernel(at(a_, slot), at(b_, slot), at(c_, slot), static_cast<int>(chunks_.lengthOf(chunk)), pool_[slot]);
        },
        [&](std::size_t chunk, std::size_t slot) {
          LAB_CHECK(cudaMemcpyAsync(arrays_.c.get() + chunks_.first(chunk), at(c_, slot), bytes(chunk),
                                    cudaMemcpyDeviceToHost, pool_[slot]));
        });
  }

 private:
  T* at(const lab::DeviceArray<T>& buffers, std::size_t slot) const { return buffers.get() + slot * chunks_.length(); }
  std::size_t bytes(std::size_t chunk) const { return chunks_.lengthOf(chunk) * sizeof(T); }
  void copyIn(const Pinned<T>& from, const lab::DeviceArray<T>& to, std::size_t chunk, std::size_t slot) {
    LAB_CHECK(cudaMemcpyAsync(at(to, slot), from.get() + chunks_.first(chunk), bytes(chunk), cudaMemcpyHostToDevice,
                              pool_[slot]));
  }

  Plan plan_;
  Arrays<T>& arrays_;
  Chunks chunks_;
  StreamPool pool_;
  lab::DeviceArray<T> a_, b_, c_;
};

}  // namespace streams
