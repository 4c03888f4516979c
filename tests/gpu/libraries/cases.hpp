// Calls with bad and borderline arguments and what a library answers, one line each: what each of the programs here is
// made of. A line "begin NAME" comes before a call, "NAME\tSTATUS VALUES" after it; so whoever runs a program knows
// which call ended it (record.py), and goes on behind that call with the number of cases to leave out.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

/// Device memory that holds these values; nobody frees it.
template <class T>
T* on(std::initializer_list<T> values) {
  void* memory = nullptr;
  cudaMalloc(&memory, values.size() * sizeof(T));
  cudaMemcpy(memory, values.begin(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return static_cast<T*>(memory);
}

template <class T>
T* zeros(size_t count) {
  void* memory = nullptr;
  cudaMalloc(&memory, count * sizeof(T));
  cudaMemset(memory, 0, count * sizeof(T));
  return static_cast<T*>(memory);
}

inline std::string joined(const std::string& before, const std::string& after) {
  return before.empty() || after.empty() ? before + after : before + " " + after;
}

/// The bits of `count` numbers of the host or the device, in hexadecimal digits.
template <class T>
std::string shown(const T* numbers, size_t count) {
  std::vector<T> copy(count);
  if (cudaMemcpy(copy.data(), numbers, count * sizeof(T), cudaMemcpyDefault) != cudaSuccess) return "unreadable";
  std::string text;
  for (const T& number : copy) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&number);
    std::string digits;
    for (size_t i = sizeof(T); i-- > 0;) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", bytes[i]);
      digits += two;
    }
    text = joined(text, digits);
  }
  return text;
}

template <class T>
std::string shown(const T& number) {
  return shown(&number, 1);
}

/// A status and then values, which braces put into order: the call comes before what it wrote is read.
struct Answer {
  template <class Status, class... Values>
  explicit Answer(Status status, Values... values) : text(std::to_string(static_cast<long long>(status))) {
    (void)std::initializer_list<int>{0, (text = joined(text, values), 0)...};
  }
  std::string text;
};

class Cases {
 public:
  Cases(int count, char** arguments) : from_(count > 1 ? std::atoi(arguments[1]) : 0) {}

  template <class Call>
  void operator()(const char* name, Call&& call) {
    if (number_++ < from_) return;
    std::printf("begin %s\n", name);
    std::fflush(stdout);
    const std::string text = call().text;
    const cudaError_t fault = cudaDeviceSynchronize();
    std::printf("%s\t%s%s\n", name, text.c_str(), fault == cudaSuccess ? "" : " and the device fails");
    std::fflush(stdout);
    if (fault != cudaSuccess) std::_Exit(1);  // the process can do no more with the device
    cudaGetLastError();
  }

 private:
  int from_, number_ = 0;
};

#define CASE(name, ...) cases(name, [&] { return Answer{__VA_ARGS__}; })
