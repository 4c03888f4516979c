// What the CUDA contenders have in common: calls that are checked, and arrays on the device.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "contender.hpp"

namespace ordito::bench {

/// The cases whose accesses nobody knows beforehand; null for the others.
std::unique_ptr<Contender> makeCudaIrregular(const Problem& problem);

inline void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

inline void finishLaunch() {
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

template <class T>
class DeviceArray {
 public:
  DeviceArray(const void* source, std::size_t count) : count_(count) {
    check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()));
    if (source != nullptr) check(cudaMemcpy(data_, source, bytes(), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  void copyTo(void* host) const { check(cudaMemcpy(host, data_, bytes(), cudaMemcpyDeviceToHost)); }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

}  // namespace ordito::bench
