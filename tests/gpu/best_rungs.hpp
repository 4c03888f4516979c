// What the comparisons of best_rungs.cu share: timing of ours and theirs, CUB's way to be called, and the table.
#pragma once

#include <functional>

#include "../../lab/common/output.hpp"

namespace rungs {

constexpr int kRepeats = 20;
constexpr int kRounds = 7;

struct Line {
  std::string what;
  std::string shape;
  double ms = 0;
  double referenceMs = 0;
  double goal = 0;
};

inline std::vector<Line> lines;
inline bool allRight = true;

inline void expect(bool right, const std::string& what) {
  if (right) return;
  std::fprintf(stderr, "%s differs from the library's result\n", what.c_str());
  allRight = false;
}

/// Milliseconds for one call.
inline double timeOf(const std::function<void()>& call) {
  cudaEvent_t begin, end;
  LAB_CHECK(cudaEventCreate(&begin));
  LAB_CHECK(cudaEventCreate(&end));
  call();
  double best = 1e30;
  for (int round = 0; round < kRounds; ++round) {
    LAB_CHECK(cudaEventRecord(begin));
    for (int i = 0; i < kRepeats; ++i) call();
    LAB_CHECK(cudaEventRecord(end));
    LAB_CHECK(cudaEventSynchronize(end));
    float ms = 0;
    LAB_CHECK(cudaEventElapsedTime(&ms, begin, end));
    best = std::min(best, static_cast<double>(ms) / kRepeats);
  }
  LAB_CHECK(cudaGetLastError());
  LAB_CHECK(cudaEventDestroy(begin));
  LAB_CHECK(cudaEventDestroy(end));
  return best;
}

/// A CUB call with its temporary storage: asked for its size first, then run.
class Cub {
 public:
  using Call = std::function<cudaError_t(void*, std::size_t&)>;
  explicit Cub(Call call) : call_(std::move(call)) {
    LAB_CHECK(call_(nullptr, bytes_));
    LAB_CHECK(cudaMalloc(&storage_, bytes_));
  }
  ~Cub() { cudaFree(storage_); }
  Cub(const Cub&) = delete;
  Cub& operator=(const Cub&) = delete;
  void operator()() { LAB_CHECK(call_(storage_, bytes_)); }

 private:
  Call call_;
  std::size_t bytes_ = 0;
  void* storage_ = nullptr;
};

inline unsigned processors() {
  int count = 0;
  LAB_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return static_cast<unsigned>(count);
}

template <class T>
std::vector<T> contents(const lab::DeviceArray<T>& array, std::size_t count) {
  std::vector<T> host(count);
  array.download(host.data(), count);
  return host;
}

inline const Line* bestOf(const std::string& what) {
  const Line* best = nullptr;
  for (const Line& line : lines) {
    if (line.what == what && (best == nullptr || line.ms < best->ms)) best = &line;
  }
  return best;
}

inline void printTable() {
  std::printf("%-24s %-36s %10s %10s %8s %6s\n", "rung", "shape", "ours ms", "theirs ms", "ratio", "goal");
  for (const Line& line : lines) {
    std::printf("%-24s %-36s %10.4f %10.4f %8.3f %6.2f%s\n", line.what.c_str(), line.shape.c_str(), line.ms,
                line.referenceMs, line.referenceMs / line.ms, line.goal, bestOf(line.what) == &line ? "  best" : "");
  }
}

inline void printJson() {
  cudaDeviceProp properties;
  LAB_CHECK(cudaGetDeviceProperties(&properties, 0));
  std::printf("{\"device\":%s,\"cuda\":%d,\"rungs\":[", lab::jsonQuote(properties.name).c_str(), CUDART_VERSION);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    std::printf("%s\n{\"rung\":%s,\"shape\":%s,\"ms\":%s,\"library_ms\":%s,\"ratio\":%s,\"goal\":%s,\"best\":%s}",
                i == 0 ? "" : ",", lab::jsonQuote(line.what).c_str(), lab::jsonQuote(line.shape).c_str(),
                lab::jsonNumber(line.ms).c_str(), lab::jsonNumber(line.referenceMs).c_str(),
                lab::jsonNumber(line.referenceMs / line.ms).c_str(), lab::jsonNumber(line.goal).c_str(),
                bestOf(line.what) == &line ? "true" : "false");
  }
  std::printf("]}\n");
}

}  // namespace rungs
