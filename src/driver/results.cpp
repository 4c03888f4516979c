// See results.hpp.
#include "driver/results.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "base/environment.hpp"
#include "base/thread_state.hpp"

namespace ordito::driver {

namespace {

std::string& message() {
  struct LastMessage;
  return threadState<std::string, LastMessage>();
}

struct ResultInfo {
  CUresult result;
  const char* name;
  const char* text;
};

constexpr ResultInfo kResults[] = {
#define RESULT(name, text) {name, #name, text},
#include "driver/results.def"
#undef RESULT
};

const ResultInfo* find(CUresult result) {
  for (const ResultInfo& info : kResults)
    if (info.result == result) return &info;
  return nullptr;
}

}  // namespace

const char* resultName(CUresult result) {
  const ResultInfo* info = find(result);
  return info ? info->name : nullptr;
}

const char* resultText(CUresult result) {
  const ResultInfo* info = find(result);
  return info ? info->text : nullptr;
}

CUresult remember(CUresult result, std::string text) {
  message() = std::move(text);
  return result;
}

CUresult remember(const Error& error) {
  return remember(error.code ? static_cast<CUresult>(error.code) : CUDA_ERROR_UNKNOWN, error.message);
}

const std::string& lastMessage() { return message(); }

void tell(const std::string& text) {
  static const bool quiet = readEnvironment().quiet != 0;
  if (!quiet) fmt::print(stderr, "ordito: {}\n", text);
}

void tellOnce(const std::string& subject, const std::string& text) {
  static std::mutex mutex;
  static auto* told = new std::set<std::string>;
  std::lock_guard lock(mutex);
  if (told->insert(subject).second) tell(text);
}

void tellOnce(const std::string& text) { tellOnce(text, text); }

}  // namespace ordito::driver
