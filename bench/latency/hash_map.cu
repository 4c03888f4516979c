// A hash map of many small functions, as a debug build leaves it: nothing inlined, every variable in local memory.
// Compile with -G.
#include <cstdint>
#include <vector>

#include "first_result.cuh"

constexpr uint32_t kEmpty = ~0u;

struct Murmur {
  uint32_t seed;
  __device__ static uint32_t rotate(uint32_t x, int n) { return x << n | x >> (32 - n); }
  __device__ static uint32_t scramble(uint32_t k) { return rotate(k * 0xcc9e2d51u, 15) * 0x1b873593u; }
  __device__ static uint32_t step(uint32_t h, uint32_t k) { return rotate(h ^ scramble(k), 13) * 5 + 0xe6546b64u; }
  __device__ static uint32_t finish(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
  }
  __device__ uint32_t operator()(uint32_t key) const { return finish(step(seed, key) ^ 4); }
};

struct Equal {
  __device__ bool operator()(uint32_t a, uint32_t b) const { return a == b; }
};

struct Pair {
  uint32_t key, value;
  __device__ Pair(uint32_t k, uint32_t v) : key(k), value(v) {}
  __device__ unsigned long long packed() const { return (unsigned long long)value << 32 | key; }
  __device__ static Pair unpacked(unsigned long long word) { return Pair(uint32_t(word), uint32_t(word >> 32)); }
  __device__ bool isEmpty() const { return key == kEmpty; }
};

class Slot {
 public:
  __device__ explicit Slot(unsigned long long* place) : place_(place) {}
  __device__ Pair load() const { return Pair::unpacked(*(volatile unsigned long long*)place_); }
  __device__ bool replace(const Pair& old, const Pair& wanted, Pair& seen) {
    seen = Pair::unpacked(atomicCAS(place_, old.packed(), wanted.packed()));
    return seen.packed() == old.packed();
  }

 private:
  unsigned long long* place_;
};

template <class Hash>
class Probe {
 public:
  __device__ Probe(uint32_t key, uint32_t capacity, Hash first, Hash second)
      : place_(first(key) % capacity), step_(second(key) % (capacity - 1) + 1), capacity_(capacity) {}
  __device__ uint32_t operator*() const { return place_; }
  __device__ Probe& operator++() {
    place_ = (place_ + step_) % capacity_;
    return *this;
  }

 private:
  uint32_t place_, step_, capacity_;
};

template <class Hash, class Same>
class Map {
 public:
  __host__ __device__ Map(unsigned long long* slots, uint32_t capacity) : slots_(slots), capacity_(capacity) {}
  template <class Update>
  __device__ bool insert(uint32_t key, uint32_t value, Update update) {
    Probe<Hash> probe(key, capacity_, Hash{1}, Hash{2});
    for (uint32_t k = 0; k < capacity_; ++k, ++probe) {
      Slot slot = at(*probe);
      Pair seen = slot.load();
      while (seen.isEmpty() || same_(seen.key, key)) {
        const Pair wanted = seen.isEmpty() ? Pair(key, value) : Pair(key, update(seen.value, value));
        const Pair old = seen;
        if (slot.replace(old, wanted, seen)) return old.isEmpty();
      }
    }
    return false;
  }
  __device__ bool find(uint32_t key, uint32_t& value) const {
    Probe<Hash> probe(key, capacity_, Hash{1}, Hash{2});
    for (uint32_t k = 0; k < capacity_; ++k, ++probe) {
      const Pair seen = at(*probe).load();
      if (seen.isEmpty()) return false;
      if (same_(seen.key, key)) return value = seen.value, true;
    }
    return false;
  }

 private:
  __device__ Slot at(uint32_t place) const { return Slot(slots_ + place); }
  unsigned long long* slots_;
  uint32_t capacity_;
  Same same_;
};

struct Add {
  __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};
struct Most {
  __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a < b ? b : a; }
};
using Numbers = Map<Murmur, Equal>;

__global__ void fill(Numbers sums, Numbers highest, const uint32_t* keys, int n, unsigned* inserted) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (sums.insert(keys[i], 1, Add())) atomicAdd(inserted, 1u);
  if (highest.insert(keys[i], uint32_t(i), Most())) atomicAdd(inserted, 1u);
}

__global__ void look(Numbers sums, Numbers highest, const uint32_t* keys, int n, uint32_t* counts, uint32_t* last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint32_t value = 0;
  counts[i] = sums.find(keys[i], value) ? value : 0;
  last[i] = highest.find(keys[i], value) ? value : kEmpty;
}

int main() {
  sinceStart();
  constexpr int n = 20000, different = 5000, capacity = 8192 - 1;
  std::vector<uint32_t> keys(n);
  for (int k = 0; k < n; ++k) keys[k] = uint32_t(k % different) * 2654435761u >> 1;
  uint32_t *deviceKeys, *counts, *last;
  unsigned* inserted;
  unsigned long long* slots;
  cudaMalloc(&deviceKeys, n * 4);
  cudaMalloc(&counts, n * 4);
  cudaMalloc(&last, n * 4);
  cudaMalloc(&inserted, 4);
  cudaMalloc(&slots, 2 * capacity * 8);
  cudaMemset(slots, 0xFF, 2 * capacity * 8);
  cudaMemset(inserted, 0, 4);
  cudaMemcpy(deviceKeys, keys.data(), n * 4, cudaMemcpyHostToDevice);
  Numbers sums(slots, capacity), highest(slots + capacity, capacity);
  fill<<<(n + 127) / 128, 128>>>(sums, highest, deviceKeys, n, inserted);
  if (!launched()) return 1;
  look<<<(n + 127) / 128, 128>>>(sums, highest, deviceKeys, n, counts, last);
  if (!launched()) return 1;
  std::vector<uint32_t> hostCounts(n), hostLast(n);
  unsigned hostInserted = 0;
  cudaMemcpy(hostCounts.data(), counts, n * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(hostLast.data(), last, n * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(&hostInserted, inserted, 4, cudaMemcpyDeviceToHost);
  bool right = hostInserted == 2 * different;
  for (int k = 0; k < n; ++k)
    right &= hostCounts[k] == n / different && hostLast[k] == uint32_t(n - different + k % different);
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return !right;
}
