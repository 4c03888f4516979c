// libFuzzer target: texts as plans of cuDNN's graphs, from plans that its tests made.
//
//   cmake --preset asan -DORDITO_FUZZ=ON && ninja -C build/asan cudnn_plan_fuzz
//   tests/fuzz/run.sh build/asan/tests/cudnn_plan_fuzz 60 /tmp/plans tests/fuzz/cudnn_plans
#include "libs/cudnn/graph/test_plans.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ordito::libs::cudnn::graph::tryPlan({reinterpret_cast<const char*>(data), size});
  return 0;
}
