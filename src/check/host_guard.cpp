// See host_guard.hpp.
#include "check/host_guard.hpp"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>

namespace ordito::check {

namespace {

using Ranges = std::vector<HostGuard::Range>;

/// What the handler looks at. A thread may have met a page that was there again an instant later, so the last but one
/// counts too; older ones go when no handler runs.
struct Published {
  std::atomic<const Ranges*> now = nullptr, before = nullptr;
  std::atomic<int> readers = 0;
  std::vector<std::unique_ptr<const Ranges>> all;
};

/// What the handler leaves. A fault that finds no free one is not told.
struct Slot {
  enum State : int { kFree, kWritten, kReady };
  std::atomic<int> state = kFree;
  uint64_t address = 0;
  bool isWrite = false;
  std::array<void*, 24> stack = {};
  size_t depth = 0;
};

Published published;
std::array<Slot, 64> slots;
struct sigaction previousAction;

bool holds(const Ranges* ranges, uint64_t address) {
  if (!ranges) return false;
  const auto behind =
      std::ranges::upper_bound(*ranges, address, {}, [](const HostGuard::Range& range) { return range.begin; });
  return behind != ranges->begin() && address < std::prev(behind)->end;
}

/// The frames from the one that was interrupted on; the handler's own are above it.
void keepStack(Slot& slot, void* interrupted) {
  std::array<void*, 32> frames = {};
  const auto depth = static_cast<size_t>(backtrace(frames.data(), static_cast<int>(frames.size())));
  const std::span<void*> known(frames.data(), depth);
  auto at = std::ranges::find(known, interrupted);
  slot.stack[0] = static_cast<char*>(interrupted) + 1;  // as if it were a return address
  slot.depth = 1;
  if (at == known.end()) return;
  for (++at; at != known.end() && slot.depth < slot.stack.size(); ++at) slot.stack[slot.depth++] = *at;
}

void writeDown(uint64_t address, const ucontext_t& machine) {
  constexpr greg_t kWriteBit = 2;  // of the page fault's error code
  for (Slot& slot : slots) {
    int expected = Slot::kFree;
    if (!slot.state.compare_exchange_strong(expected, Slot::kWritten)) continue;
    slot.address = address;
    slot.isWrite = machine.uc_mcontext.gregs[REG_ERR] & kWriteBit;
    keepStack(slot, reinterpret_cast<void*>(machine.uc_mcontext.gregs[REG_RIP]));
    slot.state = Slot::kReady;
    return;
  }
}

void passOn(int signal, siginfo_t* info, void* context) {
  if (previousAction.sa_flags & SA_SIGINFO) return previousAction.sa_sigaction(signal, info, context);
  if (previousAction.sa_handler != SIG_DFL && previousAction.sa_handler != SIG_IGN)
    return previousAction.sa_handler(signal);
  // The instruction runs again after we return and meets the default action.
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
}

void onFault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uint64_t>(info->si_addr);
  const uint64_t page = address / HostGuard::kPage * HostGuard::kPage;
  ++published.readers;
  const bool isKept = holds(published.now, address), isOurs = isKept || holds(published.before, address);
  --published.readers;
  const bool isBack = isOurs && info->si_code == SEGV_ACCERR &&
                      mprotect(reinterpret_cast<void*>(page), HostGuard::kPage, PROT_READ | PROT_WRITE) == 0;
  if (!isBack) return passOn(signal, info, context);
  if (isKept) writeDown(address, *static_cast<const ucontext_t*>(context));
}

void install() {
  static std::once_flag once;
  std::call_once(once, [] {
    void* frame = nullptr;
    backtrace(&frame, 1);  // the first call loads a library, which the handler must not do
    struct sigaction action = {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previousAction);
  });
}

void publish(const Ranges& ranges) {
  auto made = std::make_unique<const Ranges>(ranges);
  published.before = published.now.load();
  published.now = made.get();
  published.all.push_back(std::move(made));
  const auto isOld = [](const auto& known) {
    return known.get() != published.now.load() && known.get() != published.before.load();
  };
  if (published.readers == 0) std::erase_if(published.all, isOld);
}

void protect(const Ranges& ranges, bool isKept) {
  for (const HostGuard::Range& r : ranges) {
    const int kept = r.mayRead ? PROT_READ : PROT_NONE;
    mprotect(reinterpret_cast<void*>(r.begin), r.end - r.begin, isKept ? kept : PROT_READ | PROT_WRITE);
  }
}

}  // namespace

void HostGuard::keep(std::vector<Range> ranges) {
  if (ranges == ranges_) return;
  install();
  if (!isLifted_) protect(ranges_, false);
  ranges_ = std::move(ranges);
  publish(ranges_);
  if (!isLifted_) protect(ranges_, true);
}

void HostGuard::lift() {
  if (!isLifted_) protect(ranges_, false);
  isLifted_ = true;
}

void HostGuard::restore() {
  if (isLifted_) protect(ranges_, true);
  isLifted_ = false;
}

std::vector<HostGuard::Touch> HostGuard::touches() {
  std::vector<Touch> all;
  for (Slot& slot : slots) {
    if (slot.state != Slot::kReady) continue;
    // A call site is what lies below frames of ours; the touch itself has none.
    std::vector<void*> stack{reinterpret_cast<void*>(&onFault)};
    stack.insert(stack.end(), slot.stack.begin(), slot.stack.begin() + static_cast<ptrdiff_t>(slot.depth));
    all.push_back({slot.address, slot.isWrite, callSiteOf(stack)});
    if (all.back().call) all.back().call->call.clear();
    slot.state = Slot::kFree;
  }
  return all;
}

}  // namespace ordito::check
