// What CUPTI can say without counting anything: its version and the names of its results.
#include "cupti.h"

namespace {

const char* nameOf(CUptiResult result) {
  switch (result) {
#define VALUE(name) \
  case name: return #name;
#include "refused/CUptiResult.def"
  }
  return nullptr;
}

}  // namespace

CUptiResult cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr || nameOf(result) == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *text = nameOf(result);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** text) { return cuptiGetResultString(result, text); }
