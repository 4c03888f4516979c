// What the tests and the fuzzer of plans do with a text that may be one.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "libs/cudnn/graph/plans.hpp"

namespace ordito::libs::cudnn::graph {

/// Reads a plan. A good one tells itself in words that are read again as the same, and runs on memory of its tensors'
/// sizes, where they are small. Answers whether it is good; ends the process where it contradicts itself.
inline bool tryPlan(const std::string& text) {
  constexpr int64_t kMostElements = 1 << 12;
  const Said said = fromJson(text);
  if (!said) return false;
  const std::string told = toJson(said);
  const Said again = fromJson(told);
  if (!again || toJson(again) != told) {
    std::fprintf(stderr, "a plan does not read back:\n%s\n", told.c_str());
    std::abort();
  }
  if (said->graph->work().operations > 1e6) return true;
  for (const auto& [name, values] : said->values())
    for (const Said& operation : values.descriptors)
      if (operation->operation)
        for (const auto* list : {&operation->operation->reads, &operation->operation->writes})
          for (const Tensor& tensor : *list)
            if (tensor.count() > kMostElements || tensor.extent() > kMostElements) return true;
  std::vector<std::vector<std::byte>> memory;
  std::map<int64_t, void*> places;
  for (const Tensor& tensor : said->graph->outside()) {
    memory.emplace_back(static_cast<size_t>(tensor.extent()) * sizeof(double));
    places[tensor.uid] = memory.back().data();
  }
  said->graph->run(places);
  return true;
}

}  // namespace ordito::libs::cudnn::graph
