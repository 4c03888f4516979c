// What judges an exercise: the student's file is included by the exercise's judge.cu (-DEXERCISE='"FILE"'), which calls
// its function at awkward sizes and compares with a sequential loop. `--size N` makes one call, for counters and the
// checker. Status 0: all right; 1: a wrong result, which one line tells.
#pragma once

#include "../common/lab.hpp"

namespace exercise {

/// Room of the device with a guard behind it, so that writing too far is seen without a checker, too.
template <class T>
class Array {
 public:
  explicit Array(std::size_t length) : length_(length), memory_(length + kGuard) { memory_.fillBytes(kGuardByte); }
  explicit Array(const std::vector<T>& values) : Array(values.size()) { memory_.upload(values.data(), values.size()); }
  T* get() const { return memory_.get(); }
  std::vector<T> values() const {
    std::vector<T> all(length_);
    memory_.download(all.data(), length_);
    return all;
  }
  bool isGuardWhole() const {
    std::vector<T> all(length_ + kGuard);
    memory_.download(all.data(), all.size());
    const auto* bytes = reinterpret_cast<const unsigned char*>(all.data() + length_);
    return std::all_of(bytes, bytes + kGuard * sizeof(T), [](unsigned char byte) { return byte == kGuardByte; });
  }

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr int kGuardByte = 0x5a;
  std::size_t length_;
  lab::DeviceArray<T> memory_;
};

/// Numbers that a loop can check: small, whole, and the same in each run.
template <class T>
std::vector<T> numbers(std::size_t count, unsigned seed, unsigned below) {
  std::vector<T> all(count);
  for (T& number : all) {
    seed = seed * 1664525u + 1013904223u;
    number = static_cast<T>((seed >> 16) % below);
  }
  return all;
}

/// What is wrong, in words; nothing if all is right.
template <class T>
std::string difference(const std::vector<T>& found, const std::vector<T>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (found[i] == expected[i]) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(found[i]) + ", not " + std::to_string(expected[i]);
  }
  return "";
}

/// The same for what a kernel wrote, and whether it wrote behind it.
template <class T>
std::string difference(const Array<T>& found, const std::vector<T>& expected) {
  LAB_CHECK(cudaDeviceSynchronize());
  const std::string words = difference(found.values(), expected);
  if (!words.empty() || found.isGuardWhole()) return words;
  return "something was written behind the last element";
}

/// Calls `judge(size)`, which says what is wrong, for every size, or for the one that --size names.
template <class Judge>
int judgeSizes(int argc, char** argv, const std::vector<std::size_t>& sizes, Judge judge) {
  const bool isOne = argc == 3 && std::strcmp(argv[1], "--size") == 0;
  if (argc != 1 && !isOne) lab::usageError("usage: judge [--size N]");
  for (const std::size_t size : isOne ? std::vector<std::size_t>{lab::parseNumber("--size", argv[2])} : sizes) {
    const std::string wrong = judge(size);
    const cudaError_t status = cudaGetLastError();
    if (wrong.empty() && status == cudaSuccess) continue;
    std::printf("wrong at size %zu: %s\n", size, wrong.empty() ? cudaGetErrorString(status) : wrong.c_str());
    return 1;
  }
  return 0;
}

/// Nothing, one, about a warp, primes, and several blocks.
inline std::vector<std::size_t> awkwardSizes() { return {0, 1, 31, 32, 33, 257, 1009, 65536, 100003}; }

}  // namespace exercise
