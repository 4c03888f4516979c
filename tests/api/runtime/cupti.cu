// A tool that uses CUPTI links, learns the version, and is told what there is not.
#include <cupti.h>

#include <cstring>

#include "expect.hpp"

static void CUPTIAPI callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  const auto* call = static_cast<const CUpti_CallbackData*>(data);
  const auto* copy = static_cast<const cudaMemcpy_v3020_params*>(call->functionParams);
  (void)copy->count;
}

int main() {
  uint32_t version = 0;
  EXPECT(cuptiGetVersion(&version) == CUPTI_SUCCESS && version == CUPTI_API_VERSION);
  const char* text = nullptr;
  EXPECT(cuptiGetResultString(CUPTI_ERROR_NOT_SUPPORTED, &text) == CUPTI_SUCCESS);
  EXPECT(std::strcmp(text, "CUPTI_ERROR_NOT_SUPPORTED") == 0);
  CUpti_SubscriberHandle subscriber = nullptr;
  EXPECT(cuptiSubscribe(&subscriber, callback, nullptr) == CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_ERROR_NOT_SUPPORTED);
  return finish();
}
