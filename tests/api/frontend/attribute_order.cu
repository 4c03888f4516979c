// Standard attributes behind CUDA's own words.
struct Range {
  int first, last;
  __device__ [[nodiscard]] bool empty() const { return first == last; }
  __host__ __device__ [[nodiscard, gnu::always_inline]] int size() const { return last - first; }
};

__device__ [[maybe_unused]] void stop() { __trap(); }

// CHECK: .visible .entry _Z6kernel5RangePi
__global__ void kernel(Range range, [[maybe_unused]] int* out) {
  if (range.empty()) stop();
  *out = range.size();
}
