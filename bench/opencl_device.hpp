// PoCL's device, buffers on it, and kernels. The platform is chosen by name: a machine may have others. The ICD loader
// is opened at run time, so that a machine without OpenCL can run the other contenders.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>

#include "contender.hpp"
#include "kernels_cl.hpp"

namespace ordito::bench {

/// The cases whose accesses nobody knows beforehand; null for the others.
std::unique_ptr<Contender> makeOpenClIrregular(const Problem& problem);

inline void check(cl_int status, const char* call) {
  if (status != CL_SUCCESS) throw std::runtime_error(fmt::format("OpenCL: {} failed with error {}", call, status));
}

/// The functions of the ICD loader that the benchmark calls, each with the type that CL/cl.h declares.
class Loader {
 public:
  static Loader& get() {
    static Loader loader;
    return loader;
  }

  template <class Function>
  Function* find(Function*, const char* name) const {
    void* symbol = dlsym(handle_, name);
    if (symbol == nullptr) throw std::runtime_error(fmt::format("libOpenCL.so.1 has no {}", name));
    return reinterpret_cast<Function*>(symbol);
  }

 private:
  Loader() : handle_(dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) throw std::runtime_error("no OpenCL loader (Debian: ocl-icd-libopencl1)");
  }

  void* handle_;
};

#define OPENCL(function) Loader::get().find(static_cast<decltype(&function)>(nullptr), #function)

inline cl_platform_id findPocl() {
  cl_uint count = 0;
  std::array<cl_platform_id, 16> platforms{};
  if (OPENCL(clGetPlatformIDs)(platforms.size(), platforms.data(), &count) != CL_SUCCESS) count = 0;
  for (cl_uint i = 0; i < std::min<cl_uint>(count, platforms.size()); ++i) {
    std::array<char, 256> name{};
    check(OPENCL(clGetPlatformInfo)(platforms[i], CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr),
          "clGetPlatformInfo");
    if (std::strcmp(name.data(), "Portable Computing Language") == 0) return platforms[i];
  }
  throw std::runtime_error("PoCL is not installed (Debian: pocl-opencl-icd)");
}

/// Device, context and queue, which all cases share.
class Device {
 public:
  static Device& get() {
    static Device device;
    return device;
  }

  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  std::string description;

 private:
  Device() {
    const cl_platform_id platform = findPocl();
    check(OPENCL(clGetDeviceIDs)(platform, CL_DEVICE_TYPE_CPU, 1, &id, nullptr), "clGetDeviceIDs");
    cl_int status = CL_SUCCESS;
    context = OPENCL(clCreateContext)(nullptr, 1, &id, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    queue = OPENCL(clCreateCommandQueue)(context, id, 0, &status);
    check(status, "clCreateCommandQueue");
    std::array<char, 256> version{};
    cl_uint units = 0;
    check(OPENCL(clGetPlatformInfo)(platform, CL_PLATFORM_VERSION, version.size() - 1, version.data(), nullptr),
          "clGetPlatformInfo");
    check(OPENCL(clGetDeviceInfo)(id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(units), &units, nullptr), "clGetDeviceInfo");
    description = fmt::format("{}, {} compute units", version.data(), units);
  }
};

class Buffer {
 public:
  Buffer(const void* source, std::size_t bytes) : bytes_(bytes) {
    cl_int status = CL_SUCCESS;
    memory_ = OPENCL(clCreateBuffer)(Device::get().context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    check(status, "clCreateBuffer");
    if (source != nullptr) write(source);
  }
  ~Buffer() { OPENCL(clReleaseMemObject)(memory_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const cl_mem& memory() const { return memory_; }
  void write(const void* source) {
    check(OPENCL(clEnqueueWriteBuffer)(Device::get().queue, memory_, CL_TRUE, 0, bytes_, source, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }
  void read(void* target) const {
    check(OPENCL(clEnqueueReadBuffer)(Device::get().queue, memory_, CL_TRUE, 0, bytes_, target, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

 private:
  cl_mem memory_ = nullptr;
  std::size_t bytes_;
};

/// One kernel of kernels.cl, built for its own case only.
class Function {
 public:
  Function(const char* name, int tile) {
    cl_int status = CL_SUCCESS;
    const char* source = kernelsCl;
    program_ = OPENCL(clCreateProgramWithSource)(Device::get().context, 1, &source, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    const std::string options = fmt::format(
        "-DTILE={} -DLIMIT={} -DLEFT={:.1f}f -DTOP={:.1f}f -DSOFTENING={} -DBOX={:.1f}f -DSIDE={} "
        "-DCELL_SOFTENING={:.1f}f -DCENTRE={}f -DBESIDE={}f",
        tile, mandelbrotLimit, mandelbrotLeft, mandelbrotTop, nbodySoftening, particleBox, int{cellsPerSide},
        cellForceSoftening, stencilCentre, stencilSide);
    check(OPENCL(clBuildProgram)(program_, 1, &Device::get().id, options.c_str(), nullptr, nullptr), "clBuildProgram");
    kernel_ = OPENCL(clCreateKernel)(program_, name, &status);
    check(status, "clCreateKernel");
  }
  ~Function() {
    OPENCL(clReleaseKernel)(kernel_);
    OPENCL(clReleaseProgram)(program_);
  }
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;

  template <class... Args>
  void setArguments(const Args&... args) {
    cl_uint index = 0;
    (check(OPENCL(clSetKernelArg)(kernel_, index++, sizeof(args), &args), "clSetKernelArg"), ...);
  }

  void enqueue(std::array<std::size_t, 2> global, std::array<std::size_t, 2> local) {
    check(OPENCL(clEnqueueNDRangeKernel)(Device::get().queue, kernel_, 2, nullptr, global.data(), local.data(), 0,
                                         nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }
  void run(std::array<std::size_t, 2> global, std::array<std::size_t, 2> local) {
    enqueue(global, local);
    finish();
  }
  static void finish() { check(OPENCL(clFinish)(Device::get().queue), "clFinish"); }

 private:
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
};

inline std::size_t roundUp(std::size_t n, std::size_t block) { return (n + block - 1) / block * block; }

}  // namespace ordito::bench
