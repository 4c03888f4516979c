// See call_site.hpp. Ours are the libraries whose file names begin with libcuda or libcu and the like: what lies
// between the program and the innermost frame. The last of their entry points on the way out is the call that the
// program made.
#include "check/call_site.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <string_view>

#include "base/kernel_name.hpp"

namespace ordito::check {

namespace {

bool isOurs(std::string_view module) {
  const std::string_view name = module.substr(module.rfind('/') + 1);
  return name.starts_with("libcu") || name.starts_with("libnv");
}

constexpr size_t kFrames = 4;  // that are of interest

}  // namespace

std::optional<CallSite> callSiteOf(std::span<void* const> stack) {
  CallSite site;
  bool wasOurs = false;
  for (void* const address : stack) {
    Dl_info info{};
    // A return address may be the first of the next line.
    const auto at = reinterpret_cast<uint64_t>(address) - 1;
    if (!dladdr(reinterpret_cast<void*>(at), &info) || !info.dli_fname) continue;
    if (site.frames.empty() && isOurs(info.dli_fname)) {
      wasOurs = true;
      if (info.dli_sname && std::string_view(info.dli_sname).starts_with("cu")) site.call = info.dli_sname;
      continue;
    }
    if (!wasOurs) continue;
    site.frames.push_back({info.dli_fname, info.dli_sname ? kernelName(info.dli_sname) : "",
                           at - reinterpret_cast<uint64_t>(info.dli_fbase)});
    if (site.frames.size() == kFrames) break;
  }
  if (site.frames.empty()) return std::nullopt;
  return site;
}

std::optional<CallSite> callSiteHere() {
  constexpr int kDeepest = 64;
  void* frames[kDeepest];
  return callSiteOf({frames, static_cast<size_t>(backtrace(frames, kDeepest))});
}

}  // namespace ordito::check
