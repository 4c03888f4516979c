// An array that several devices share: each has a part in memory of its own, and a stream to bring, add and return it.
#pragma once

#include <memory>

#include "chunked.hpp"

namespace streams {

/// What a device needs for its part; made and destroyed while it is the current one.
struct DevicePart {
  DevicePart(int number, std::size_t length) : device(number), memory(3 * length), pool(1) {}
  int device;
  lab::DeviceArray<float> memory;
  StreamPool pool;
};

/// A part of the sum for every device that there is; the host issues them all before it waits for any.
inline void runDevices(Context& c, lab::Measurement& row) {
  int count = 0;
  LAB_CHECK(cudaGetDeviceCount(&count));
  const Chunks chunks(c.n, static_cast<std::size_t>(count));
  std::vector<std::unique_ptr<DevicePart>> parts;
  for (int device = 0; device < count; ++device) {
    LAB_CHECK(cudaSetDevice(device));
    parts.push_back(std::make_unique<DevicePart>(device, chunks.length()));
  }
  LAB_CHECK(cudaSetDevice(0));
  row.kernel = "sumArrays";
  row.grid = dim3(lab::ceilDiv(chunks.length(), kBlock));
  row.block = dim3(kBlock);
  lab::timeRounds(
      c.options.rounds, row, [&] { c.sum.c.clear(); },
      [&] {
        for (std::size_t k = 0; k < chunks.count(); ++k) {
          LAB_CHECK(cudaSetDevice(parts[k]->device));
          const std::size_t first = chunks.first(k), n = chunks.lengthOf(k);
          const cudaStream_t stream = parts[k]->pool[0];
          float* a = parts[k]->memory.get();
          float* b = a + chunks.length();
          float* out = b + chunks.length();
          const std::size_t bytes = n * sizeof(float);
          LAB_CHECK(cudaMemcpyAsync(a, c.sum.a.get() + first, bytes, cudaMemcpyHostToDevice, stream));
          LAB_CHECK(cudaMemcpyAsync(b, c.sum.b.get() + first, bytes, cudaMemcpyHostToDevice, stream));
          sumArrays<<<lab::ceilDiv(n, kBlock), kBlock, 0, stream>>>(a, b, out, static_cast<int>(n), kRepeats);
          lab::launched("sumArrays");
          LAB_CHECK(cudaMemcpyAsync(c.sum.c.get() + first, out, bytes, cudaMemcpyDeviceToHost, stream));
        }
        for (const auto& part : parts) part->pool.synchronize();
        LAB_CHECK(cudaSetDevice(0));  // where the events are that take the time
      },
      [] {});
  judge(row, c.n, [&](std::size_t i) { return c.sum.c[i] == c.sum.a[i] + c.sum.b[i]; });
  row.result = std::to_string(count);
  if (row.note.empty()) row.note = "a part for each of " + row.result + (count == 1 ? " device" : " devices");
  for (const auto& part : parts) {
    cudaPointerAttributes attributes;
    LAB_CHECK(cudaPointerGetAttributes(&attributes, part->memory.get()));
    expect(row, attributes.device == part->device, "a part lies on another device");
  }
  for (auto& part : parts) {
    LAB_CHECK(cudaSetDevice(part->device));
    part.reset();
  }
  LAB_CHECK(cudaSetDevice(0));
}

}  // namespace streams
