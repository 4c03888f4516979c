// See api_errors.hpp.
#include "check/api_errors.hpp"

#include <fmt/format.h>

#include <array>

#include "machine/events.hpp"

namespace ordito::check {

namespace {

constexpr size_t kMost = 10'000;  // failures of a thread that are remembered

/// Answers that are no mistake, and those of a context that a kernel has broken, which is a finding of its own: not
/// ready, no device, unloading; peers already enabled or not; memory already registered or not; 700 to 720 but those.
bool isOfNoInterest(int error) {
  constexpr std::array kAnswers = {4, 100, 600, 704, 705, 708, 712, 713};
  for (const int answer : kAnswers)
    if (error == answer) return true;
  constexpr std::array kBroken = {700, 702, 710, 714, 715, 716, 717, 718, 719};
  for (const int broken : kBroken)
    if (error == broken) return true;
  return false;
}

void add(const std::string& call, const std::string& error, const std::string& message,
         const std::optional<CallSite>& site, Rule rule, Findings& findings) {
  const uint64_t offset = site && !site->frames.empty() ? site->frames[0].offset : 0;
  findings.add({rule, call + " " + error, static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32)}, [&] {
    Finding f;
    f.rule = rule;
    f.message = fmt::format("{} answers {}", call.empty() ? "a call" : call, error);
    f.object = message;
    f.call = site;
    return f;
  });
}

}  // namespace

void ApiErrors::failed(const machine::FailedCallEvent& event, Findings& findings) {
  if (isOfNoInterest(event.error)) return;
  const CallSite site = callSiteOf(event.stack).value_or(CallSite{});
  const bool isFree = site.call.starts_with("cudaFree");
  if (isFree && event.error == 1) return add(site.call, event.name, event.message, site, Rule::Free, findings);
  std::vector<Failure>& unread = unread_[std::this_thread::get_id()];
  if (unread.size() < kMost) unread.push_back({event.name, event.message, site});
}

void ApiErrors::read() { unread_.erase(std::this_thread::get_id()); }

void ApiErrors::finish(Findings& findings) {
  for (const auto& [thread, failures] : unread_)
    for (const Failure& f : failures) add(f.site.call, f.error, f.message, f.site, Rule::ApiError, findings);
  unread_.clear();
}

}  // namespace ordito::check
