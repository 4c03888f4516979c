// What GPUVerify's CUDA kernels need to be a program: its words for the prover, as far as a run can know them, and
// launches of kernels of which only the signature is known. gpuverify.py writes the rest.
#pragma once
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <curand_kernel.h>

#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// A thread that has not what is required, or assumed, ends there.
#define __requires(...) ((__VA_ARGS__) ? (void)0 : leave())
#define __assume(...) __requires(__VA_ARGS__)
#define __assert(...) assert((__VA_ARGS__))
#define __implies(a, b) (!(a) || (b))
#define __enabled() true
// Hints, and promises to those who call: nothing happens.
#define __invariant(...) (void)0
#define __global_invariant(...) (void)0
#define __ensures(...) (void)0
#define __requires_fresh_array(...) (void)0
#define __axiom(...) static_assert(true)
// Of the accesses and threads that the prover thinks of, which no thread of a run knows.
#define __read(p) false
#define __write(p) false
#define __no_read(p) true
#define __no_write(p) true
#define __read_implies(p, ...) true
#define __write_implies(p, ...) true
#define __read_offset_bytes(p) 0u
#define __write_offset_bytes(p) 0u
#define __ptr_offset_bytes(p) 0u
#define __uniform_int(x) true
#define __uniform_bool(x) true
#define __distinct_int(x) true
#define __other_int(x) ((x) + 1)
#define __mod_pow2(x, y) ((x) % (y))

namespace cooperative_groups {
template <class Group>
__device__ void synchronize(const Group& group) {  // of CUDA 9
  group.sync();
}
}  // namespace cooperative_groups

__device__ inline void leave() { asm volatile("exit;"); }

// What the kernels get in this round of launches.
struct Round {
  long numbers[5];      // one after the other for the parameters that are numbers
  unsigned first;       // of them,
  unsigned step;        // and how far the next parameter's is
  unsigned functions;   // which function each pointer to a function gets
  bool has_zeros_only;  // memory, or bytes that differ
};
inline Round round_now;

// gpuverify.py defines it: a kernel that writes the file's functions of this type, and how many there are.
template <class F>
__global__ void functions_of(F* out, int* count);

// Something that becomes whatever a parameter or a member is.
struct Anything {
  template <class T>
  operator T() const;
};

template <class T, size_t... N>
constexpr auto has_members(std::index_sequence<N...>) -> decltype(T{(void(N), Anything{})...}, true) {
  return true;
}
template <class T>
constexpr bool has_members(...) {
  return false;
}

template <class T, size_t N = 48>
T from_members() {
  if constexpr (has_members<T>(std::make_index_sequence<N>()))
    return []<size_t... I>(std::index_sequence<I...>) {
      return T{(void(I), Anything{})...};
    }(std::make_index_sequence<N>());
  else if constexpr (N > 0)
    return from_members<T, N - 1>();
}

template <class F>
F function() {
  F* found = nullptr;
  int* count = nullptr;
  cudaMallocManaged(&found, 16 * sizeof(F));
  cudaMallocManaged(&count, sizeof(int));
  functions_of<F><<<1, 1>>>(found, count);
  cudaDeviceSynchronize();
  const unsigned choice = round_now.functions % (*count + 1);  // one of them, or none
  round_now.functions /= *count + 1;
  return choice < unsigned(*count) ? found[choice] : nullptr;
}

template <class T>
T argument() {
  if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) {
    return function<T>();
  } else if constexpr (std::is_pointer_v<T>) {
    static std::vector<unsigned char> bytes(1 << 24);
    for (size_t i = 0; i < bytes.size(); i++) bytes[i] = round_now.has_zeros_only ? 0 : i % 251;
    void* memory = nullptr;
    cudaMalloc(&memory, bytes.size());
    cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice);
    return static_cast<T>(memory);
  } else if constexpr (std::is_arithmetic_v<T>) {
    const long number = round_now.numbers[round_now.first % 5];
    round_now.first += round_now.step;
    return static_cast<T>(number);
  } else if constexpr (std::is_aggregate_v<T>) {
    return from_members<T>();
  } else {
    T zeros;
    memset(static_cast<void*>(&zeros), 0, sizeof zeros);
    return zeros;
  }
}

template <class T>
Anything::operator T() const {
  return argument<T>();
}

// A parameter whose value is known.
struct Known {
  bool is_known;
  long value;
};

template <class T>
T argument(Known known) {
  if constexpr (std::is_arithmetic_v<T>)
    if (known.is_known) return static_cast<T>(known.value);
  return argument<T>();
}

template <class... T, size_t... I>
void launch_with(void (*kernel)(T...), dim3 grid, dim3 block, bool is_cooperative, const Known* known,
                 std::index_sequence<I...>) {
  std::tuple<T...> values{argument<T>(known[I])...};
  void* addresses[] = {&std::get<I>(values)..., nullptr};
  if (is_cooperative)
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), grid, block, addresses);
  else
    cudaLaunchKernel(reinterpret_cast<void*>(kernel), grid, block, addresses);
  if (cudaDeviceSynchronize() != cudaSuccess) cudaDeviceReset();  // the next launch begins anew
}

template <class... T>
void launch(void (*kernel)(T...), dim3 grid, dim3 block, bool is_cooperative, std::initializer_list<Known> known) {
  launch_with(kernel, grid, block, is_cooperative, known.begin(), std::index_sequence_for<T...>());
}
