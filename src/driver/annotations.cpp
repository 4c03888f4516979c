// See annotations.hpp.
#include "driver/annotations.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

#include "machine/listener.hpp"

namespace ordito::driver {

namespace {

uint64_t now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(time).count());
}

uint64_t thisThread() { return static_cast<uint64_t>(syscall(SYS_gettid)); }

/// Ranges that are known by identifier, of all domains.
struct Started {
  std::mutex mutex;
  std::map<uint64_t, machine::Annotation> open;
  uint64_t last = 0;
};

Started& started() {
  static auto* all = new Started;  // never destroyed: programs annotate until they end
  return *all;
}

void begin(machine::Annotation& annotation, const std::string& domain) {
  annotation.domain = domain;
  annotation.thread = thisThread();
  annotation.beginNs = annotation.endNs = now();
}

}  // namespace

void AnnotationDomain::nameCategory(uint32_t category, std::string name) {
  std::lock_guard lock(mutex_);
  categories_[category] = std::move(name);
}

std::string AnnotationDomain::category(uint32_t category) const {
  if (category == 0) return {};
  std::lock_guard lock(mutex_);
  const auto known = categories_.find(category);
  return known == categories_.end() ? std::to_string(category) : known->second;
}

const std::string* AnnotationDomain::registered(const std::string& text) {
  std::lock_guard lock(mutex_);
  auto& entry = strings_[text];
  if (!entry) entry = std::make_unique<const std::string>(text);
  return entry.get();
}

int AnnotationDomain::push(machine::Annotation annotation) {
  begin(annotation, name_);
  std::lock_guard lock(mutex_);
  auto& open = open_[annotation.thread];
  open.push_back(std::move(annotation));
  return static_cast<int>(open.size()) - 1;
}

int AnnotationDomain::pop() {
  machine::Annotation ended;
  int left = 0;
  {
    std::lock_guard lock(mutex_);
    auto& open = open_[thisThread()];
    if (open.empty()) return -1;
    ended = std::move(open.back());
    open.pop_back();
    left = static_cast<int>(open.size());
  }
  ended.endNs = now();
  machine::raise(ended);
  return left;
}

uint64_t AnnotationDomain::start(machine::Annotation annotation) {
  begin(annotation, name_);
  annotation.isOfThread = false;
  auto& all = started();
  std::lock_guard lock(all.mutex);
  all.open[++all.last] = std::move(annotation);
  return all.last;
}

void AnnotationDomain::mark(machine::Annotation annotation) {
  begin(annotation, name_);
  annotation.isMark = true;
  machine::raise(annotation);
}

void endAnnotation(uint64_t identifier) {
  auto& all = started();
  std::unique_lock lock(all.mutex);
  auto known = all.open.extract(identifier);
  lock.unlock();
  if (!known) return;
  known.mapped().endNs = now();
  machine::raise(known.mapped());
}

AnnotationDomain& annotationDomain(const std::string& name) {
  static std::mutex mutex;
  static auto* all = new std::map<std::string, AnnotationDomain*>;  // never destroyed, as above
  std::lock_guard lock(mutex);
  auto& domain = (*all)[name];
  if (!domain) domain = new AnnotationDomain(name);
  return *domain;
}

AnnotationDomain& defaultDomain() {
  static AnnotationDomain& domain = annotationDomain("");
  return domain;
}

}  // namespace ordito::driver
