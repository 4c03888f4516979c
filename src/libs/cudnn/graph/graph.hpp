// A graph of operations on tensors, as it runs: each tensor is a packed copy in single precision (in double if a tensor
// of the graph has numbers that single precision cannot hold), each operation reads and makes such copies, in order.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "libs/cudnn/call.hpp"

namespace ordito::libs::cudnn::graph {

struct Tensor {
  int64_t uid = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int64_t> size, step;
  bool isVirtual = false;  // lives in the graph only
  bool isByValue = false;  // a number of the host's

  int64_t count() const;
  /// Elements from the first to the last in memory, with what lies between.
  int64_t extent() const;
};

/// A tensor's numbers, the last dimension fastest.
template <class T>
struct Array {
  std::vector<int64_t> size;
  std::vector<T> data;
};

/// How far it is to the next element of each dimension.
std::vector<int64_t> packedSteps(const std::vector<int64_t>& size);
/// The steps of `from` for the places of `to`: 0 where its size is 1. Missing dimensions are the first ones.
std::vector<int64_t> spreadSteps(const std::vector<int64_t>& from, const std::vector<int64_t>& to);
/// Whether every size of `from` is 1 or that of `to`.
bool spreads(const std::vector<int64_t>& from, const std::vector<int64_t>& to);
/// The same, where none is missing.
bool spreads(const Tensor& from, const Tensor& to);

/// The elements of x that belong to one of y, whose other sizes are x's or 1: at base(number of y's element) + offset.
struct Inner {
  Inner(const Tensor& x, const Tensor& y);
  int64_t base(int64_t index) const;

  std::vector<int64_t> size, steps, offsets;
};

template <class T>
std::vector<T> load(const Tensor& tensor, const void* from);
template <class T>
void store(const Tensor& tensor, const std::vector<T>& values, void* to);
/// To numbers that the tensor's type has.
template <class T>
void round(const Tensor& tensor, std::vector<T>& values);

/// What tensors hold while a graph runs.
template <class T>
class Arrays {
 public:
  explicit Arrays(const std::map<int64_t, void*>& places) : places_(places) {}

  const Array<T>& operator[](const Tensor& tensor) const { return arrays_.at(tensor.uid); }
  bool has(const Tensor& tensor) const { return arrays_.count(tensor.uid) > 0; }
  void fetch(const Tensor& tensor) { arrays_[tensor.uid] = {tensor.size, load<T>(tensor, places_.at(tensor.uid))}; }
  void put(const Tensor& tensor, std::vector<T> values) {
    round(tensor, values);
    if (!tensor.isVirtual) store(tensor, values, places_.at(tensor.uid));
    arrays_[tensor.uid] = {tensor.size, std::move(values)};
  }
  /// `values` in memory with the steps of `from`, read with those of `to`.
  static std::vector<T> moved(const Tensor& from, const std::vector<T>& values, const Tensor& to);

 private:
  const std::map<int64_t, void*>& places_;
  std::map<int64_t, Array<T>> arrays_;
};

class Operation {
 public:
  virtual ~Operation() = default;
  virtual void run(Arrays<float>& arrays) const = 0;
  virtual void run(Arrays<double>& arrays) const = 0;
  virtual double operations() const { return 0; }

  std::vector<Tensor> reads, writes;
};

/// An operation of which `Kind` has compute(arrays) for numbers of any type.
template <class Kind>
class OperationOf : public Operation {
 public:
  void run(Arrays<float>& arrays) const final { static_cast<const Kind&>(*this).compute(arrays); }
  void run(Arrays<double>& arrays) const final { static_cast<const Kind&>(*this).compute(arrays); }

 private:
  OperationOf() = default;
  friend Kind;
};

class Graph {
 public:
  /// Puts operations behind those whose virtual tensors they read; null if they wait for each other or for nobody,
  /// or if tensors of the same name have other sizes.
  static std::shared_ptr<const Graph> make(std::vector<std::shared_ptr<const Operation>> operations);

  /// With the memory of each tensor that is not virtual.
  void run(const std::map<int64_t, void*>& places) const;
  Work work() const;
  /// Tensors that the program has to hand over.
  const std::vector<Tensor>& outside() const { return outside_; }

 private:
  std::vector<std::shared_ptr<const Operation>> operations_;
  std::vector<Tensor> outside_;
  bool isWide_ = false;
};

/// body(index of the first element, its places) for each row of a tensor of these sizes, rows side by side. A row is
/// the last dimension; `steps` are those of the places.
template <size_t N, class Body>
void forRows(const std::vector<int64_t>& size, const std::array<std::vector<int64_t>, N>& steps, const Body& body) {
  const int64_t length = size.empty() ? 1 : size.back();
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < size.size(); ++i) rows *= size[i];
  const int64_t perPart = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, length));
  parallelFor(static_cast<unsigned>((rows + perPart - 1) / perPart), [&](unsigned part) {
    for (int64_t row = part * perPart; row < std::min(rows, (part + 1) * perPart); ++row) {
      std::array<int64_t, N> places{};
      int64_t rest = row;
      for (size_t i = size.size(); i-- > 1;) {
        const int64_t at = rest % size[i - 1];
        rest /= size[i - 1];
        for (size_t k = 0; k < N; ++k) places[k] += at * steps[k][i - 1];
      }
      body(row * length, places);
    }
  });
}

}  // namespace ordito::libs::cudnn::graph
