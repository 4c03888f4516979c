// Launches from kernels: the device runtime's own calls, and what `ordito nvcc` makes of `kernel<<<...>>>(...)` in
// device code. Included by ordito/device_functions.h.
#ifndef ORDITO_DEVICE_LAUNCH_H
#define ORDITO_DEVICE_LAUNCH_H

extern "C" {
__device__ void* cudaGetParameterBuffer(size_t alignment, size_t bytes);
__device__ void* cudaGetParameterBufferV2(void* kernel, dim3 grid, dim3 block, unsigned int shared_bytes);
__device__ cudaError_t cudaLaunchDevice(void* kernel, void* parameters, dim3 grid, dim3 block,
                                        unsigned int shared_bytes, cudaStream_t stream);
__device__ cudaError_t cudaLaunchDeviceV2(void* parameters, cudaStream_t stream);
}

/// A condition's handle is the address of its number. Programs for NVRTC declare it themselves, with these words.
extern "C" __device__ __cudart_builtin__ inline void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value) {
  *reinterpret_cast<volatile unsigned int*>(handle) = value;
}

/// A launch is split in two, because clang resolves and checks the name of a kernel only where no device function is
/// around: the configuration and the arguments are evaluated into an object, and a class derived from the object's
/// launches with what is in it. See src/frontend/device_launches.cpp.
namespace ordito_launch {

template <unsigned... Indices>
struct Numbers {};
template <unsigned N, unsigned... Indices>
struct Count : Count<N - 1, N - 1, Indices...> {};
template <unsigned... Indices>
struct Count<0, Indices...> {
  typedef Numbers<Indices...> type;
};

template <unsigned Index, class Type>
struct Argument {
  Type value;
};

template <unsigned Index, class Type>
__host__ __device__ inline const Type& get(const Argument<Index, Type>& argument) {
  return argument.value;
}

struct Configuration {
  dim3 __ordito_grid, __ordito_block;
  size_t __ordito_shared;
  cudaStream_t __ordito_stream;
};

template <class Indices, class... Types>
struct Data;
template <unsigned... Indices, class... Types>
struct Data<Numbers<Indices...>, Types...> : Configuration, Argument<Indices, Types>... {
  static constexpr unsigned __ordito_count = sizeof...(Types);
  __host__ __device__ Data(const Configuration& configuration, const Types&... values)
      : Configuration(configuration), Argument<Indices, Types>{values}... {}
};

struct Configured : Configuration {
  template <class... Types>
  __host__ __device__ Data<typename Count<sizeof...(Types)>::type, Types...> operator()(Types... values) const {
    return {*this, values...};
  }
};

__host__ __device__ inline Configured configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0) {
  Configured configured;
  configured.__ordito_grid = grid;
  configured.__ordito_block = block;
  configured.__ordito_shared = shared;
  configured.__ordito_stream = stream;
  return configured;
}

}  // namespace ordito_launch

#endif
