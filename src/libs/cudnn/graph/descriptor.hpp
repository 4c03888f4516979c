// What a program says to a descriptor of cuDNN's graphs: attributes by their names, kept as they are said. When it is
// finalised its kind reads them (kinds.hpp) and makes of them what runs.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libs/cudnn/graph/graph.hpp"

namespace ordito::libs::cudnn::graph {

class Descriptor;
using Said = std::shared_ptr<const Descriptor>;

/// An attribute's values: numbers and the like as bytes, or other descriptors.
struct Values {
  cudnnBackendAttributeType_t type{};
  int64_t count = 0;
  std::vector<std::byte> bytes;
  std::vector<Said> descriptors;
};

/// How many bytes a value of a type has; 0: there is no such type.
size_t sizeOf(cudnnBackendAttributeType_t type);

class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) : type_(type) {}

  cudnnBackendDescriptorType_t type() const { return type_; }
  bool isFinal() const { return isFinal_; }
  cudnnStatus_t set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                    const void* values);
  /// Copies as many as were asked for and tells how many there are; descriptors are written into the caller's.
  cudnnStatus_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t wanted, int64_t* count,
                    void* values) const;
  cudnnStatus_t finalize();

  bool has(cudnnBackendAttributeName_t name) const { return values_.count(name) > 0; }
  template <class T>
  std::vector<T> all(cudnnBackendAttributeName_t name) const {
    const auto found = values_.find(name);
    if (found == values_.end() || sizeof(T) != sizeOf(found->second.type)) return {};
    std::vector<T> result(static_cast<size_t>(found->second.count));
    if (!result.empty()) std::memcpy(result.data(), found->second.bytes.data(), result.size() * sizeof(T));
    return result;
  }
  template <class T>
  T one(cudnnBackendAttributeName_t name, T otherwise) const {
    const auto found = values_.find(name);
    if (found != values_.end() && found->second.bytes.size() >= sizeof(T) && sizeof(T) == sizeOf(found->second.type))
      std::memcpy(&otherwise, found->second.bytes.data(), sizeof(T));
    return otherwise;
  }
  /// Said as float or as double.
  double number(cudnnBackendAttributeName_t name, double otherwise) const;
  Said descriptor(cudnnBackendAttributeName_t name) const;
  std::vector<Said> descriptors(cudnnBackendAttributeName_t name) const;

  const std::map<cudnnBackendAttributeName_t, Values>& values() const { return values_; }

  // What finalising tells of itself.
  void tell(cudnnBackendAttributeName_t name, int64_t value);
  void tellNone(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type);
  void tell(cudnnBackendAttributeName_t name, Said descriptor);
  void tell(cudnnBackendAttributeName_t name, const std::string& text);

  std::shared_ptr<const Operation> operation;  // of an operation
  std::shared_ptr<const Graph> graph;          // of a graph, and of what is made of one

 private:
  cudnnBackendDescriptorType_t type_;
  bool isFinal_ = false;
  std::map<cudnnBackendAttributeName_t, Values> values_;
};

/// What the program's pointer points to.
struct Place {
  std::shared_ptr<Descriptor> descriptor;
};

}  // namespace ordito::libs::cudnn::graph
