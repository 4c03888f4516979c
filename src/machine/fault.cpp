// Faults: from a signal or from raiseFault to a value that the launch returns.
//
// The jump buffer is set without the signal mask (saving it would cost a system call per block); the handlers run with
// SA_NODEFER instead, so that nothing is blocked after the jump. The handler itself only stores numbers and jumps: the
// message is made afterwards, outside signal context.
#include "machine/fault.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "machine/memory.hpp"
#include "machine/shared_window.hpp"

namespace ordito::machine {

namespace {

/// What the handler or raiseFault leaves for runGuarded. Plain data: it is written in signal context.
struct Pending {
  static constexpr size_t kWords = 2048;
  FaultKind kind;
  int signal;  // 0: raiseFault
  uint64_t address;
  uintptr_t programCounter;
  uint32_t ptxLine;
  bool hasAddress;
  char detail[512];
  size_t words;             // of `stack`
  uintptr_t stack[kWords];  // what lay above the stack pointer: return addresses among it
};

struct Guard {
  sigjmp_buf jump;
  const BlockFrame* frame;
  Pending pending;
};

#define ORDITO_FAST_TLS thread_local __attribute__((tls_model("initial-exec")))
ORDITO_FAST_TLS Guard* currentGuard = nullptr;
ORDITO_FAST_TLS FaultHint currentHint;

/// Interrupts blocks; programs rarely have a use for the real-time signals, and nobody for the last ones.
const int kInterruption = SIGRTMAX - 3;
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
std::array<struct sigaction, 64> previousActions;

struct CodeRange {
  uintptr_t end;
  std::shared_ptr<const LineLookup> lookup;
};
std::shared_mutex codeMutex;
std::map<uintptr_t, CodeRange>& codeRanges() {
  static auto* ranges = new std::map<uintptr_t, CodeRange>;
  return *ranges;
}

/// The line of the innermost call in generated code. A helper that it called (printf with a bad format, a math function
/// with a bad pointer) faults outside of it; its return address lies above the stack pointer.
uint32_t callingLine(const Pending& pending) {
  for (size_t k = 0; k < pending.words; ++k)
    if (const uint32_t line = lineOf(pending.stack[k] - 1)) return line;
  return 0;
}

/// Keeps what lies between a stack pointer and runGuarded's own frame, other functions' frames among it, which the
/// sanitizers would mind. Runs in signal context.
__attribute__((no_sanitize("address", "thread"))) void keepStack(Guard& guard, uintptr_t stackPointer) {
  const auto end = reinterpret_cast<uintptr_t>(&guard);
  guard.pending.words = 0;
  const auto* word = reinterpret_cast<const uintptr_t*>((stackPointer + 7) & ~uintptr_t{7});
  while (guard.pending.words < Pending::kWords && reinterpret_cast<uintptr_t>(word) < end)
    guard.pending.stack[guard.pending.words++] = *word++;
}

/// An access a little below the stack pointer is a stack that ran out.
bool nearStack(uint64_t address, uint64_t stackPointer) {
  constexpr uint64_t kReach = 256 * 1024;
  return address + kReach > stackPointer && address < stackPointer + 4096;
}

FaultKind kindOf(int signal, int code, uint64_t address, uint64_t stackPointer) {
  switch (signal) {
    case SIGBUS: return code == BUS_ADRALN ? FaultKind::MisalignedAddress : FaultKind::IllegalAddress;
    case SIGILL: return FaultKind::IllegalInstruction;
    case SIGFPE: return FaultKind::Trap;
    default: return nearStack(address, stackPointer) ? FaultKind::StackOverflow : FaultKind::IllegalAddress;
  }
}

void passOn(int signal, siginfo_t* info, void* context) {
  struct sigaction& old = previousActions[static_cast<size_t>(signal)];
  if (old.sa_flags & SA_SIGINFO) {
    old.sa_sigaction(signal, info, context);
  } else if (old.sa_handler == SIG_DFL || old.sa_handler == SIG_IGN) {
    // The instruction runs again after we return and meets the default action.
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
  } else {
    old.sa_handler(signal);
  }
}

void onSignal(int signal, siginfo_t* info, void* context) {
  Guard* guard = currentGuard;
  if (!guard) return passOn(signal, info, context);
  const auto* machine = static_cast<const ucontext_t*>(context);
  auto stackPointer = static_cast<uint64_t>(machine->uc_mcontext.gregs[REG_RSP]);
  Pending& pending = guard->pending;
  pending.signal = signal;
  // A non-canonical address raises a general protection fault, which carries no address (SI_KERNEL).
  pending.hasAddress = info->si_code != SI_KERNEL;
  pending.address = pending.hasAddress ? reinterpret_cast<uint64_t>(info->si_addr) : 0;
  pending.programCounter = static_cast<uintptr_t>(machine->uc_mcontext.gregs[REG_RIP]);
  pending.kind =
      pending.hasAddress ? kindOf(signal, info->si_code, pending.address, stackPointer) : FaultKind::IllegalAddress;
  pending.ptxLine = 0;
  pending.detail[0] = 0;
  keepStack(*guard, stackPointer);
  siglongjmp(guard->jump, 1);
}

/// Is the address in code that an engine has generated? No where that cannot be told now.
bool isGenerated(uintptr_t programCounter) {
  const std::shared_lock lock(codeMutex, std::try_to_lock);
  if (!lock) return false;
  const auto after = codeRanges().upper_bound(programCounter);
  return after != codeRanges().begin() && programCounter < std::prev(after)->second.end;
}

void onInterruption(int, siginfo_t*, void* context) {
  Guard* guard = currentGuard;
  if (!guard || !guard->frame->stop || !guard->frame->stop->load(std::memory_order_relaxed)) return;
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  const auto programCounter = static_cast<uintptr_t>(registers[REG_RIP]);
  if (!isGenerated(programCounter)) return;
  Pending& pending = guard->pending;
  pending.kind = FaultKind::Timeout;
  pending.signal = kInterruption;
  pending.programCounter = programCounter;
  pending.hasAddress = false;
  pending.address = pending.words = pending.ptxLine = 0;
  pending.detail[0] = 0;
  siglongjmp(guard->jump, 1);
}

void installInterruption() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = onInterruption;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(kInterruption, &action, nullptr);
  });
}

void installHandlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (int signal : kSignals) {
      struct sigaction action = {};
      action.sa_sigaction = onSignal;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
      sigemptyset(&action.sa_mask);
      sigaction(signal, &action, &previousActions[static_cast<size_t>(signal)]);
    }
  });
}

/// A stack for the handlers, so that a kernel that has used up the thread's own can still be reported. A thread that
/// has one keeps it.
class AlternateStack {
 public:
  AlternateStack() {
    stack_t old = {};
    if (sigaltstack(nullptr, &old) == 0 && !(old.ss_flags & SS_DISABLE)) return;
    memory_ = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) return;
    stack_t own = {};
    own.ss_sp = memory_;
    own.ss_size = kBytes;
    sigaltstack(&own, nullptr);
  }
  ~AlternateStack() {
    if (memory_ == MAP_FAILED) return;
    stack_t off = {};
    off.ss_flags = SS_DISABLE;
    sigaltstack(&off, nullptr);
    munmap(memory_, kBytes);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  static constexpr size_t kBytes = 64 * 1024;
  void* memory_ = MAP_FAILED;
};

void prepareThread() {
  installHandlers();
  static thread_local AlternateStack stack;
  (void)stack;
}

const char* title(FaultKind kind) {
  switch (kind) {
    case FaultKind::IllegalAddress: return "an illegal memory access";
    case FaultKind::MisalignedAddress: return "a misaligned memory access";
    case FaultKind::IllegalInstruction: return "an illegal instruction";
    case FaultKind::Assert: return "a failed assertion";
    case FaultKind::Trap: return "a trap";
    case FaultKind::StackOverflow: return "a stack overflow (recursion too deep?)";
    case FaultKind::AddressWrap: return "an address computation that wraps around inside a warp";
    case FaultKind::BarrierDeadlock:
      return "a deadlock: every thread of the block waits at a barrier that the others never reach";
    case FaultKind::Unsupported: return "something unsupported";
    case FaultKind::Timeout: return "a launch that was stopped";
  }
  return "a fault";
}

/// Where a bad address is, seen from the block: its shared window first, since its neighbourhood belongs to it.
std::string place(const BlockFrame& frame, uint64_t address) {
  auto start = reinterpret_cast<uint64_t>(frame.shared);
  if (SharedWindow::near(start, address)) {
    if (address < start) return fmt::format("{} bytes before the block's shared memory", start - address);
    return fmt::format("byte {} of the block's {} bytes of shared memory", address - start, frame.totalSharedBytes);
  }
  return describeAddress(address);
}

std::string messageFor(const BlockFrame& frame, const Pending& pending, uint32_t line) {
  std::string text = fmt::format("kernel '{}', block ({},{},{})", frame.kernelName ? frame.kernelName : "?",
                                 frame.ctaid[0], frame.ctaid[1], frame.ctaid[2]);
  const FaultHint& hint = currentHint;
  if (hint.hasThread) text += fmt::format(", thread ({},{},{})", hint.thread[0], hint.thread[1], hint.thread[2]);
  if (line) text += fmt::format(", PTX line {}", line);
  text += fmt::format(": {}", title(pending.kind));
  bool memory = pending.kind == FaultKind::IllegalAddress || pending.kind == FaultKind::MisalignedAddress;
  if (memory && pending.hasAddress)
    text += fmt::format(" at address {:#x}: {}", pending.address, place(frame, pending.address));
  else if (memory && pending.signal)
    text += " at an address outside the 48-bit address space (an uninitialised pointer?)";
  if (pending.detail[0]) text += fmt::format(": {}", pending.detail);
  return text;
}

Fault makeFault(const BlockFrame& frame, const Pending& pending) {
  Fault fault;
  fault.kind = pending.kind;
  fault.address = pending.address;
  fault.ptxLine = pending.ptxLine;
  if (!fault.ptxLine && pending.signal) fault.ptxLine = lineOf(pending.programCounter);
  if (!fault.ptxLine) fault.ptxLine = currentHint.ptxLine;
  if (!fault.ptxLine) fault.ptxLine = callingLine(pending);
  fault.namesThread = currentHint.hasThread;
  std::copy(frame.ctaid, frame.ctaid + 3, fault.block);
  fault.kernel = frame.kernelName ? frame.kernelName : "";
  fault.message = messageFor(frame, pending, fault.ptxLine);
  return fault;
}

}  // namespace

std::optional<Fault> runGuarded(const Executable& executable, BlockFrame& frame, uint32_t count, BlockStatus* status) {
  static thread_local bool prepared = (prepareThread(), true);
  (void)prepared;
  Guard guard;
  Guard* const outer = currentGuard;  // of a library's call, which has brought in this thread to run its loop
  guard.frame = &frame;
  guard.pending.detail[0] = 0;
  currentHint = {};
  if (sigsetjmp(guard.jump, 0) == 0) {
    currentGuard = &guard;
    const BlockStatus left = executable.runBlocks(frame, count);
    currentGuard = outer;
    if (status) *status = left;
    return std::nullopt;
  }
  currentGuard = outer;
  return makeFault(frame, guard.pending);
}

void raiseFault(const BlockFrame&, FaultKind kind, uint32_t ptxLine, uint64_t address, const char* detail) {
  Guard* guard = currentGuard;
  if (!guard) {
    fmt::print(stderr, "ordito: internal error: a fault was raised outside a block: {}\n",
               detail ? detail : title(kind));
    abort();
  }
  Pending& pending = guard->pending;
  pending.kind = kind;
  pending.signal = 0;
  pending.address = address;
  pending.hasAddress = address != 0;
  pending.programCounter = 0;
  pending.ptxLine = ptxLine;
  keepStack(*guard, reinterpret_cast<uintptr_t>(__builtin_frame_address(0)));
  auto end = fmt::format_to_n(pending.detail, sizeof pending.detail - 1, "{}", detail ? detail : "").out;
  *end = 0;
  siglongjmp(guard->jump, 1);
}

void interruptBlock(pthread_t thread) {
  installInterruption();
  pthread_kill(thread, kInterruption);
}

uint32_t lineOf(uintptr_t programCounter) {
  std::shared_ptr<const LineLookup> lookup;
  {
    std::shared_lock lock(codeMutex);
    auto it = codeRanges().upper_bound(programCounter);
    if (it == codeRanges().begin()) return 0;
    --it;
    if (programCounter >= it->second.end) return 0;
    lookup = it->second.lookup;
  }
  return *lookup ? (*lookup)(programCounter) : 0;
}

void registerCodeRange(uintptr_t begin, uintptr_t end, LineLookup lookup) {
  std::unique_lock lock(codeMutex);
  codeRanges()[begin] = {end, std::make_shared<const LineLookup>(std::move(lookup))};
}

void unregisterCodeRange(uintptr_t begin) {
  std::unique_lock lock(codeMutex);
  codeRanges().erase(begin);
}

FaultHint& faultHint() { return currentHint; }

int cudaResult(FaultKind kind) {
  switch (kind) {
    case FaultKind::IllegalAddress: return 700;
    case FaultKind::MisalignedAddress: return 716;
    case FaultKind::IllegalInstruction: return 715;
    case FaultKind::Assert: return 710;
    case FaultKind::Unsupported: return 801;
    case FaultKind::Timeout: return 702;
    case FaultKind::Trap:
    case FaultKind::StackOverflow:
    case FaultKind::AddressWrap:
    case FaultKind::BarrierDeadlock: return 719;
  }
  return 719;
}

}  // namespace ordito::machine
