// Tensors of graphs as packed copies, and the order in which operations run.
#include "libs/cudnn/graph/graph.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "cuda_fp8.h"

namespace ordito::libs::cudnn::graph {
namespace {

/// Numbers of a type as they lie in memory. Whole ones are rounded to the nearest and saturated.
template <class E>
struct Stored {
  template <class T>
  static T get(const void* from, int64_t at) {
    return static_cast<T>(static_cast<const E*>(from)[at]);
  }
  template <class T>
  static E make(T value) {
    if constexpr (std::is_integral_v<E>) {
      if (std::isnan(value)) return 0;
      using Limits = std::numeric_limits<E>;
      const double nearest = std::nearbyint(static_cast<double>(value));
      if (nearest <= static_cast<double>(Limits::min())) return Limits::min();
      return nearest >= static_cast<double>(Limits::max()) ? Limits::max() : static_cast<E>(nearest);
    } else {
      return static_cast<E>(value);
    }
  }
  template <class T>
  static void put(void* to, int64_t at, T value) {
    static_cast<E*>(to)[at] = make(value);
  }
};

/// Small floating-point numbers, which convert by way of float.
template <class E>
struct Small {
  template <class T>
  static T get(const void* from, int64_t at) {
    return static_cast<T>(static_cast<float>(static_cast<const E*>(from)[at]));
  }
  template <class T>
  static E make(T value) {
    return E(static_cast<float>(value));
  }
  template <class T>
  static void put(void* to, int64_t at, T value) {
    static_cast<E*>(to)[at] = make(value);
  }
};

/// Eight in a byte.
struct Bits {
  template <class T>
  static T get(const void* from, int64_t at) {
    return static_cast<T>(static_cast<const unsigned char*>(from)[at / 8] >> at % 8 & 1);
  }
  template <class T>
  static void put(void* to, int64_t at, T value) {
    unsigned char& byte = static_cast<unsigned char*>(to)[at / 8];
    const auto bit = static_cast<unsigned char>(1U << at % 8);
    byte = static_cast<unsigned char>(value != T(0) ? byte | bit : byte & ~bit);
  }
};

/// body(how the numbers of the type are stored).
template <class Body>
auto withStored(cudnnDataType_t type, const Body& body) {
  switch (type) {
    case CUDNN_DATA_DOUBLE: return body(Stored<double>());
    case CUDNN_DATA_HALF: return body(Small<__half>());
    case CUDNN_DATA_BFLOAT16: return body(Small<__nv_bfloat16>());
    case CUDNN_DATA_FP8_E4M3: return body(Small<__nv_fp8_e4m3>());
    case CUDNN_DATA_FP8_E5M2: return body(Small<__nv_fp8_e5m2>());
    case CUDNN_DATA_INT8: return body(Stored<int8_t>());
    case CUDNN_DATA_UINT8: return body(Stored<uint8_t>());
    case CUDNN_DATA_INT32: return body(Stored<int32_t>());
    case CUDNN_DATA_INT64: return body(Stored<int64_t>());
    case CUDNN_DATA_BOOLEAN: return body(Bits());
    default: return body(Stored<float>());
  }
}

bool isWide(cudnnDataType_t type) {
  return type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_INT32 || type == CUDNN_DATA_INT64;
}

}  // namespace

int64_t Tensor::count() const {
  int64_t all = 1;
  for (const int64_t n : size) all *= n;
  return all;
}

int64_t Tensor::extent() const {
  int64_t last = 0;
  for (size_t i = 0; i < size.size(); ++i) last += (size[i] - 1) * step[i];
  return last + 1;
}

std::vector<int64_t> packedSteps(const std::vector<int64_t>& size) {
  std::vector<int64_t> steps(size.size());
  int64_t next = 1;
  for (size_t i = size.size(); i-- > 0; next *= size[i]) steps[i] = next;
  return steps;
}

std::vector<int64_t> spreadSteps(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  const std::vector<int64_t> own = packedSteps(from);
  std::vector<int64_t> steps(to.size());
  for (size_t i = 0; i < from.size() && i < to.size(); ++i)
    if (from[from.size() - 1 - i] != 1) steps[to.size() - 1 - i] = own[from.size() - 1 - i];
  return steps;
}

bool spreads(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  for (size_t i = 0; i < from.size(); ++i) {
    const int64_t size = from[from.size() - 1 - i];
    if (size != 1 && (i >= to.size() || size != to[to.size() - 1 - i])) return false;
  }
  return true;
}
bool spreads(const Tensor& from, const Tensor& to) {
  return from.size.size() == to.size.size() && spreads(from.size, to.size);
}

Inner::Inner(const Tensor& x, const Tensor& y) : size(y.size), offsets{0} {
  const std::vector<int64_t> packed = packedSteps(x.size);
  steps = packed;
  for (size_t d = x.size.size(); d-- > 0;) {
    if (y.size[d] == x.size[d]) continue;
    std::vector<int64_t> more;
    for (int64_t at = 0; at < x.size[d]; ++at)
      for (const int64_t offset : offsets) more.push_back(at * packed[d] + offset);
    offsets = std::move(more);
  }
}

int64_t Inner::base(int64_t index) const {
  int64_t place = 0;
  for (size_t d = size.size(); d-- > 0; index /= size[d]) place += index % size[d] * steps[d];
  return place;
}

template <class T>
std::vector<T> load(const Tensor& tensor, const void* from) {
  std::vector<T> values(static_cast<size_t>(tensor.count()));
  withStored(tensor.type, [&](auto stored) {
    forRows<1>(tensor.size, {tensor.step}, [&](int64_t first, const std::array<int64_t, 1>& place) {
      for (int64_t i = 0; i < tensor.size.back(); ++i)
        values[static_cast<size_t>(first + i)] = stored.template get<T>(from, place[0] + i * tensor.step.back());
    });
  });
  return values;
}

template <class T>
void store(const Tensor& tensor, const std::vector<T>& values, void* to) {
  if (tensor.type == CUDNN_DATA_BOOLEAN) {  // neighbours share a byte, so one thread does all
    const std::vector<int64_t> packed = packedSteps(tensor.size);
    for (int64_t i = 0; i < tensor.count(); ++i) {
      int64_t place = 0;
      for (size_t d = 0; d < packed.size(); ++d) place += i / packed[d] % tensor.size[d] * tensor.step[d];
      Bits::put(to, place, values[static_cast<size_t>(i)]);
    }
    return;
  }
  withStored(tensor.type, [&](auto stored) {
    forRows<1>(tensor.size, {tensor.step}, [&](int64_t first, const std::array<int64_t, 1>& place) {
      for (int64_t i = 0; i < tensor.size.back(); ++i)
        stored.put(to, place[0] + i * tensor.step.back(), values[static_cast<size_t>(first + i)]);
    });
  });
}

template <class T>
void round(const Tensor& tensor, std::vector<T>& values) {
  if (tensor.type == CUDNN_DATA_FLOAT && std::is_same_v<T, float>) return;
  withStored(tensor.type, [&](auto stored) {
    forAll(static_cast<int64_t>(values.size()), [&](int64_t i) {
      T& value = values[static_cast<size_t>(i)];
      if constexpr (std::is_same_v<decltype(stored), Bits>) {
        value = static_cast<T>(value != T(0));
      } else {
        const auto one = stored.make(value);
        value = stored.template get<T>(&one, 0);
      }
    });
  });
}

template <class T>
std::vector<T> Arrays<T>::moved(const Tensor& from, const std::vector<T>& values, const Tensor& to) {
  std::vector<T> memory(static_cast<size_t>(std::max(from.extent(), to.extent())));
  forRows<1>(from.size, {from.step}, [&](int64_t first, const std::array<int64_t, 1>& place) {
    for (int64_t i = 0; i < from.size.back(); ++i)
      memory[static_cast<size_t>(place[0] + i * from.step.back())] = values[static_cast<size_t>(first + i)];
  });
  std::vector<T> result(static_cast<size_t>(to.count()));
  forRows<1>(to.size, {to.step}, [&](int64_t first, const std::array<int64_t, 1>& place) {
    for (int64_t i = 0; i < to.size.back(); ++i)
      result[static_cast<size_t>(first + i)] = memory[static_cast<size_t>(place[0] + i * to.step.back())];
  });
  return result;
}

#define INSTANTIATE(T)                                              \
  template std::vector<T> load(const Tensor&, const void*);         \
  template void store(const Tensor&, const std::vector<T>&, void*); \
  template void round(const Tensor&, std::vector<T>&);              \
  template class Arrays<T>;
INSTANTIATE(float)
INSTANTIATE(double)

std::shared_ptr<const Graph> Graph::make(std::vector<std::shared_ptr<const Operation>> operations) {
  auto graph = std::make_shared<Graph>();
  std::set<int64_t> made, known;
  std::map<int64_t, const Operation*> makers;
  std::map<int64_t, Tensor> tensors;
  for (const auto& operation : operations) {
    for (const auto* list : {&operation->reads, &operation->writes})
      for (const Tensor& tensor : *list) {
        const Tensor& first = tensors.try_emplace(tensor.uid, tensor).first->second;
        if (first.size != tensor.size || first.isVirtual != tensor.isVirtual) return nullptr;  // one name, two tensors
        graph->isWide_ |= isWide(tensor.type);
        if (!tensor.isVirtual && known.insert(tensor.uid).second) graph->outside_.push_back(tensor);
      }
    for (const Tensor& tensor : operation->writes) makers[tensor.uid] = operation.get();
  }
  const auto isThere = [&](const Operation* reader, const Tensor& tensor) {
    const auto maker = makers.find(tensor.uid);
    if (maker == makers.end()) return !tensor.isVirtual;
    return maker->second == reader ? !tensor.isVirtual : made.count(tensor.uid) > 0;
  };
  // Of those that are left, the first one that can run.
  while (!operations.empty()) {
    const auto next = std::find_if(operations.begin(), operations.end(), [&](const auto& operation) {
      return std::all_of(operation->reads.begin(), operation->reads.end(),
                         [&](const Tensor& tensor) { return isThere(operation.get(), tensor); });
    });
    if (next == operations.end()) return nullptr;
    for (const Tensor& tensor : (*next)->writes) made.insert(tensor.uid);
    graph->operations_.push_back(*next);
    operations.erase(next);
  }
  return graph;
}

namespace {

template <class T>
void runAll(const std::vector<std::shared_ptr<const Operation>>& operations, const std::map<int64_t, void*>& places) {
  Arrays<T> arrays(places);
  std::set<int64_t> made;
  // First of all what comes from outside: a result may lie in the same memory.
  for (const auto& operation : operations) {
    for (const Tensor& tensor : operation->reads)
      if (!tensor.isVirtual && made.count(tensor.uid) == 0 && !arrays.has(tensor)) arrays.fetch(tensor);
    for (const Tensor& tensor : operation->writes) made.insert(tensor.uid);
  }
  for (const auto& operation : operations) operation->run(arrays);
}

}  // namespace

void Graph::run(const std::map<int64_t, void*>& places) const {
  isWide_ ? runAll<double>(operations_, places) : runAll<float>(operations_, places);
}

Work Graph::work() const {
  Work work;
  for (const auto& operation : operations_) work.operations += operation->operations();
  for (const Tensor& tensor : outside_)
    work.bytes += static_cast<double>(tensor.count()) * static_cast<double>(cudnn::sizeOf(tensor.type));
  return work;
}

}  // namespace ordito::libs::cudnn::graph
