// What callers find who look for functions by name: versions of calls, calls that are refused, and the calls as such
// callers make them; the primary context over a reset; a process that was forked.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "driver/test_kernels.hpp"
#include "machine/test_sanitizer.hpp"

namespace ordito::driver {
namespace {

class Versions : public DriverTest {
 protected:
  static void* find(const char* name, int version) {
    void* entry = nullptr;
    CUdriverProcAddressQueryResult status{};
    EXPECT_EQ(cuGetProcAddress(name, &entry, version, 0, &status), CUDA_SUCCESS);
    EXPECT_EQ(entry != nullptr, status == CU_GET_PROC_ADDRESS_SUCCESS);
    return entry;
  }
};

TEST_F(Versions, ARefusedCallIsNotFoundButExported) {
  EXPECT_EQ(find("cuMemPoolExportToShareableHandle", 13000), nullptr);
  EXPECT_EQ(find("cuMulticastCreate", 13000), nullptr);
  EXPECT_EQ(find("cuTensorMapEncodeTiled", 12000), nullptr) << "Triton's tensor descriptors for sm_90";
  EXPECT_EQ(find("cuNonsense", 13000), nullptr);
  void* entry = &entry;
  EXPECT_EQ(cuGetProcAddress("cuGreenCtxCreate", &entry, 13000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(entry, nullptr);
  auto* exported = reinterpret_cast<CUresult (*)()>(dlsym(RTLD_DEFAULT, "cuMulticastCreate"));
  ASSERT_NE(exported, nullptr);
  EXPECT_EQ(exported(), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(Versions, TheFormIsThatOfTheVersionAskedFor) {
  EXPECT_EQ(find("cuMemAlloc", 12030), reinterpret_cast<void*>(&cuMemAlloc));
  EXPECT_EQ(find("cuGraphAddDependencies", 12020), reinterpret_cast<void*>(&cuGraphAddDependencies));
  EXPECT_EQ(find("cuGraphAddDependencies", 12030), reinterpret_cast<void*>(&cuGraphAddDependencies_v2));
  EXPECT_EQ(find("cuStreamGetCaptureInfo", 12030), reinterpret_cast<void*>(&cuStreamGetCaptureInfo_v3));
  EXPECT_EQ(find("cuCtxSynchronize", 12090), reinterpret_cast<void*>(&cuCtxSynchronize));
  EXPECT_EQ(find("cuCtxSynchronize", 13000), reinterpret_cast<void*>(&cuCtxSynchronize_v2));
  EXPECT_EQ(find("cuEventElapsedTime", 13000), reinterpret_cast<void*>(&cuEventElapsedTime_v2));
  EXPECT_EQ(find("cuCtxCreate", 11040), nullptr) << "with execution affinity: refused";
  EXPECT_EQ(find("cuCtxCreate", 12050), reinterpret_cast<void*>(&cuCtxCreate_v4));
}

TEST_F(Versions, NoContextMeansTheCurrentOne) {
  CUdevice device = -1;
  EXPECT_EQ(cuCtxGetDevice_v2(&device, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  device = -1;
  EXPECT_EQ(cuCtxGetDevice_v2(&device, reinterpret_cast<CUcontext>(&device)), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuCtxSynchronize_v2(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize_v2(reinterpret_cast<CUcontext>(&device)), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize_v2(context_), CUDA_SUCCESS);
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate(&other, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize_v2(context_), CUDA_SUCCESS);
  CUcontext current = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, other);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);
}

TEST_F(Versions, TimeBetweenEventsIsThatOfTheOlderCall) {
  CUevent start = nullptr, end = nullptr;
  float before = -1, now = -2;
  for (CUevent* event : {&start, &end}) {
    ASSERT_EQ(cuEventCreate(event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(*event, nullptr), CUDA_SUCCESS);
  }
  ASSERT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&before, start, end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime_v2(&now, start, end), CUDA_SUCCESS);
  EXPECT_EQ(before, now);
  for (CUevent event : {start, end}) EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime_v2(&now, start, end), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Versions, TablesOfFunctionsAreNotHandedOut) {
  CUuuid id{};
  const void* table = &id;
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(table, nullptr);
  EXPECT_EQ(cuGetExportTable(nullptr, &id), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetExportTable(&table, nullptr), CUDA_ERROR_INVALID_VALUE);
}

// By what NVIDIA's static runtime asks for it is known, and the program ends.
TEST(VersionsDeathTest, TheStaticRuntimeEndsWithAWayToBuildAgain) {
  const unsigned char asked[] = {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9};
  CUuuid id{};
  std::memcpy(id.bytes, asked, sizeof asked);
  const void* table = nullptr;
  EXPECT_EXIT(cuGetExportTable(&table, &id), testing::ExitedWithCode(1), "build it again with .*-cudart shared");
}

TEST_F(Versions, EdgesOfGraphsArePlain) {
  CUgraph graph = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  CUgraphNode a = nullptr, b = nullptr;
  ASSERT_EQ(cuGraphAddEmptyNode(&a, graph, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEmptyNode(&b, graph, nullptr, 0), CUDA_SUCCESS);
  CUgraphEdgeData edge{};
  edge.from_port = 1;
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &a, &b, &edge, 1), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuGraphAddDependencies_v2(graph, &a, &b, nullptr, 1), CUDA_SUCCESS);
  CUgraphNode from = nullptr, to = nullptr;
  size_t count = 1;
  EXPECT_EQ(cuGraphGetEdges_v2(graph, &from, &to, &edge, &count), CUDA_SUCCESS);
  EXPECT_TRUE(count == 1 && from == a && to == b && edge.from_port == 0);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(Versions, TheEdgesOfACaptureHaveAPlace) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(stream, [](void*) {}, nullptr), CUDA_SUCCESS);
  CUstreamCaptureStatus status;
  const CUgraphNode* nodes = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  size_t count = 0;
  ASSERT_EQ(cuStreamGetCaptureInfo_v3(stream, &status, nullptr, nullptr, &nodes, &edges, &count), CUDA_SUCCESS);
  ASSERT_EQ(count, 1u);
  ASSERT_NE(edges, nullptr);
  EXPECT_EQ(edges[0].from_port, 0);
  CUgraph graph = nullptr;
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
}

TEST_F(Versions, NoFunctionHasNoName) {
  const char* name = nullptr;
  EXPECT_EQ(cuFuncGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuKernelGetName(&name, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Versions, ClustersHaveOneBlock) {
  CUlaunchConfig config{};
  config.blockDimX = 256;
  config.blockDimY = config.blockDimZ = 1;
  int clusters = 0;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&clusters, kernel("iota"), &config), CUDA_SUCCESS);
  EXPECT_EQ(clusters, 6 * 82) << "blocks of an RTX 3090";
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {2, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_EQ(cuOccupancyMaxActiveClusters(&clusters, kernel("iota"), &config), CUDA_SUCCESS);
  EXPECT_EQ(clusters, 0);
}

TEST_F(Versions, AResetDoesNotReleaseThePrimaryContext) {
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  int active = -1;
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, nullptr, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS) << "who retained it may use it again";
  EXPECT_EQ(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE) << "what it held is gone";
  EXPECT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS) << "safe after a reset, says the manual";
}

TEST_F(Versions, AForkedProcessIsNotInitialised) {
  SKIP_UNDER_LEAK_SANITIZER();  // of the threads that the fork does not take along
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    CUdeviceptr memory = 0;
    const bool isTold = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
                        cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                        cuMemAlloc(&memory, 4) == CUDA_ERROR_NOT_INITIALIZED;
    std::exit(isTold ? 0 : 1);  // not _exit: what the driver has left to atexit must not hang
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  int count = 0;
  EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS) << "the parent goes on";
}

}  // namespace
}  // namespace ordito::driver
