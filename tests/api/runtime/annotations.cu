// What a program says of itself by NVTX; annotations_test.py looks at the timeline of it. Built without a library of
// NVTX's, and with one, whose calls it then makes by name (-DBY_NAME).
#ifdef BY_NAME
#include <stdint.h>
extern "C" {
int nvtxRangePushA(const char*);
int nvtxRangePop(void);
void nvtxMarkA(const char*);
uint64_t nvtxRangeStartA(const char*);
void nvtxRangeEnd(uint64_t);
}
#define TESTED_BY_NAME 1
#else
#include <nvToolsExtSync.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include <nvtx3/nvtx3.hpp>
#define TESTED_BY_NAME 0
#endif
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include "expect.hpp"

__global__ void kernel() {}

#if !TESTED_BY_NAME
void inADomain() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
  nvtxDomainNameCategoryA(domain, 3, "phase");
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = 3;
  attributes.colorType = NVTX_COLOR_ARGB;
  attributes.color = 0xff102030;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = -5;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  const int depth = nvtxDomainRangePushEx(domain, &attributes);
  attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  attributes.message.unicode = L"wide \u00e4";
  nvtxDomainMarkEx(domain, &attributes);
  const bool isListened = std::getenv("ORDITO_TIMELINE") != nullptr;
  EXPECT(depth == (isListened ? 0 : NVTX_NO_PUSH_POP_TRACKING));
  EXPECT(nvtxDomainRangePop(domain) == (isListened ? 0 : NVTX_NO_PUSH_POP_TRACKING));
  EXPECT(!isListened || nvtxDomainRangePop(domain) < 0);  // more than were pushed
  EXPECT(!isListened || nvtxDomainRegisterStringA(domain, "registered") == attributes.message.registered ||
         attributes.messageType == NVTX_MESSAGE_TYPE_UNICODE);
  const nvtxSyncUser_t lock = nvtxDomainSyncUserCreate(domain, nullptr);
  nvtxDomainSyncUserAcquireStart(lock);
  nvtxDomainDestroy(domain);
}

struct Tools {
  static constexpr char const* name{"tools"};
};
struct Phase {
  static constexpr char const* name{"phase of tools"};
  static constexpr uint32_t id{7};
};

void inClasses(bool isTold) {
  NVTX3_FUNC_RANGE_IF_IN(Tools, isTold);
  const auto& phase = nvtx3::named_category_in<Tools>::get<Phase>();
  nvtx3::scoped_range_in<Tools> range{"scope", nvtx3::rgb{1, 2, 3}, nvtx3::payload{2.5}, phase, nvtx3::color{0u}};
  const std::string text = isTold ? "marked" : "marked in silence";
  nvtx3::mark_in<Tools>(text, nvtx3::payload{-4});
  nvtx3::unique_range unique{isTold ? L"unique" : L"unique in silence"};
  nvtx3::unique_range owner = std::move(unique);
}
#endif

int main() {
  nvtxRangePushA("outer");
  nvtxRangePushA("inner");
  kernel<<<1, 1>>>();
  EXPECT(cudaDeviceSynchronize() == cudaSuccess);
  nvtxRangePop();
  nvtxMarkA("mark");
  const uint64_t crossing = nvtxRangeStartA("crossing");
  nvtxRangePop();
  std::thread([&] { nvtxRangeEnd(crossing); }).join();
#if !TESTED_BY_NAME
  nvtxNameOsThreadA(static_cast<uint32_t>(getpid()), "main thread");
  cudaStream_t stream;
  EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
  nvtxNameCudaStreamA(stream, "copies");
  EXPECT(cudaMemsetAsync(nullptr, 0, 0, stream) == cudaSuccess);
  kernel<<<1, 1, 0, stream>>>();
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  inADomain();
  inClasses(true);
  inClasses(false);
#endif
  return finish();
}
