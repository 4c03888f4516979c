// What the courses' program deviceQuery prints of a device: every property, one in a line. What it must say of the
// courses' own GPUs is in device_query_test.py.
#include <cstdio>

#include "expect.hpp"

/// Not a property, so every such program has this table (CUDA C++ guide, "Compute Capabilities").
static int coresPerMultiprocessor(int major, int minor) {
  switch (major) {
    case 1: return 8;
    case 2: return minor == 0 ? 32 : 48;
    case 3: return 192;
    case 6: return minor == 0 ? 64 : 128;
    case 7: return 64;
    case 8: return minor == 0 ? 64 : 128;
    default: return 128;  // Maxwell, Hopper
  }
}

static const char* yes(bool is) { return is ? "Yes" : "No"; }

static void versions() {
  int driver = 0, runtime = 0;
  EXPECT_OK(cudaDriverGetVersion(&driver));
  EXPECT_OK(cudaRuntimeGetVersion(&runtime));
  std::printf("driver / runtime version: %d.%d / %d.%d\n", driver / 1000, driver % 100 / 10, runtime / 1000,
              runtime % 100 / 10);
}

static void processors(const cudaDeviceProp& p) {
  const int cores = coresPerMultiprocessor(p.major, p.minor);
  std::printf("name: %s\ncompute capability: %d.%d\n", p.name, p.major, p.minor);
  std::printf("multiprocessors: %d\ncores per multiprocessor: %d\nCUDA cores: %d\n", p.multiProcessorCount, cores,
              p.multiProcessorCount * cores);
  std::printf("warp size: %d\nmax threads per multiprocessor: %d\nmax threads per block: %d\n", p.warpSize,
              p.maxThreadsPerMultiProcessor, p.maxThreadsPerBlock);
  std::printf("max block dims: %d %d %d\nmax grid dims: %d %d %d\n", p.maxThreadsDim[0], p.maxThreadsDim[1],
              p.maxThreadsDim[2], p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
}

static void clocks(int device) {
  // No properties any more in CUDA 13, but attributes still.
  int clock = 0, memory = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, device));
  EXPECT_OK(cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, device));
  std::printf("GPU max clock: %d MHz\nmemory clock: %d MHz\n", clock / 1000, memory / 1000);
}

static void memory(const cudaDeviceProp& p) {
  std::printf("global memory: %d MB\nglobal memory bytes: %zu\n",
              static_cast<int>(static_cast<double>(p.totalGlobalMem) / 1048576 + 0.5), p.totalGlobalMem);
  std::printf("memory bus width: %d\nL2 cache size: %d\n", p.memoryBusWidth, p.l2CacheSize);
  std::printf("constant memory: %zu\nshared memory per block: %zu\nshared memory per multiprocessor: %zu\n",
              p.totalConstMem, p.sharedMemPerBlock, p.sharedMemPerMultiprocessor);
  std::printf("registers per block: %d\nmax memory pitch: %zu\n", p.regsPerBlock, p.memPitch);
}

static void textures(const cudaDeviceProp& p) {
  std::printf("max texture 1D: %d\nmax texture 2D: %d %d\nmax texture 3D: %d %d %d\n", p.maxTexture1D,
              p.maxTexture2D[0], p.maxTexture2D[1], p.maxTexture3D[0], p.maxTexture3D[1], p.maxTexture3D[2]);
  std::printf("max layered 1D texture: %d\nlayered 1D layers: %d\n", p.maxTexture1DLayered[0],
              p.maxTexture1DLayered[1]);
  std::printf("max layered 2D texture: %d %d\nlayered 2D layers: %d\n", p.maxTexture2DLayered[0],
              p.maxTexture2DLayered[1], p.maxTexture2DLayered[2]);
  std::printf("texture alignment: %zu\nsurface alignment requirement: %s\n", p.textureAlignment,
              yes(p.surfaceAlignment > 0));
}

static void abilities(const cudaDeviceProp& p, int device) {
  int overlap = 0, watchdog = 0, multiDevice = 0;
  EXPECT_OK(cudaDeviceGetAttribute(&overlap, cudaDevAttrGpuOverlap, device));
  EXPECT_OK(cudaDeviceGetAttribute(&watchdog, cudaDevAttrKernelExecTimeout, device));
  EXPECT_OK(cudaDeviceGetAttribute(&multiDevice, static_cast<cudaDeviceAttr>(96), device));  // gone from CUDA 13
  std::printf("concurrent copy and execution: %s\ncopy engines: %d\nmultiple kernels concurrently: %s\n", yes(overlap),
              p.asyncEngineCount, yes(p.concurrentKernels));
  std::printf("run time limit on kernels: %s\nintegrated: %s\nhost page-locked mapping: %s\nECC: %s\n", yes(watchdog),
              yes(p.integrated), yes(p.canMapHostMemory), p.ECCEnabled ? "Enabled" : "Disabled");
  std::printf("driver mode: %s\nunified addressing: %s\nmanaged memory: %s\n", p.tccDriver ? "TCC" : "WDDM",
              yes(p.unifiedAddressing), yes(p.managedMemory));
  std::printf("compute preemption: %s\ncooperative kernel launch: %s\nmulti-device cooperative launch: %s\n",
              yes(p.computePreemptionSupported), yes(p.cooperativeLaunch), yes(multiDevice));
  std::printf("PCI domain/bus/location: %d/%d/%d\n", p.pciDomainID, p.pciBusID, p.pciDeviceID);
}

int main() {
  int count = 0;
  EXPECT_OK(cudaGetDeviceCount(&count));
  std::printf("devices: %d\n", count);
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp p;
    EXPECT_OK(cudaGetDeviceProperties(&p, device));
    versions();
    processors(p);
    clocks(device);
    memory(p);
    textures(p);
    abilities(p, device);
  }
  cudaDeviceProp none;
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaGetDeviceProperties(&none, count));
  EXPECT_ERROR(cudaErrorInvalidDevice, cudaGetDeviceProperties(&none, -1));
  return finish();
}
