// Ranges and marks of NVTX: what they are called, when they began and ended, and who may hear of it.
//
// By NVTX's documentation push and pop nest within one thread and one domain; start and end have an identifier instead
// and may cross each other and end on another thread. Categories and registered strings belong to a domain. Without a
// listener that wants annotations the driver gives nobody the addresses of these calls (annotation_calls.cpp).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "machine/annotation.hpp"

namespace ordito::driver {

class AnnotationDomain {
 public:
  explicit AnnotationDomain(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  void nameCategory(uint32_t category, std::string name);
  /// The category's name, or its number.
  std::string category(uint32_t category) const;
  /// Kept as long as the process lives; the same one for equal texts.
  const std::string* registered(const std::string& text);

  /// Begins a range of the calling thread's; how many were open before. Annotations come without times and thread.
  int push(machine::Annotation annotation);
  /// Ends the last one; how many stay open, or a negative number if there was none.
  int pop();
  uint64_t start(machine::Annotation annotation);
  void mark(machine::Annotation annotation);

 private:
  const std::string name_;
  mutable std::mutex mutex_;
  std::map<uint32_t, std::string> categories_;
  std::map<std::string, std::unique_ptr<const std::string>> strings_;
  std::map<uint64_t, std::vector<machine::Annotation>> open_;  // by thread, the innermost last
};

/// The one without a name, for calls that name none.
AnnotationDomain& defaultDomain();
/// A new domain of this name, or the one that there is.
AnnotationDomain& annotationDomain(const std::string& name);
/// Ends what AnnotationDomain::start began, in whichever domain; nothing if it has ended.
void endAnnotation(uint64_t identifier);

}  // namespace ordito::driver
