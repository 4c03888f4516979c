// See halting.hpp. A signal interrupts the thread; its handler looks where the thread was, and there it stays.
#include "machine/halting.hpp"

#include <link.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "machine/background.hpp"

namespace ordito::machine {

namespace {

/// Ignored by default, so that one too many does no harm; used only while the process ends.
constexpr int kSignal = SIGURG;

struct Range {
  uintptr_t begin = 0, end = 0;
};

// What the handler reads. Initial-exec: a signal handler cannot allocate thread-local memory.
#define ORDITO_FAST_TLS thread_local __attribute__((tls_model("initial-exec")))
ORDITO_FAST_TLS Range haltableCode;
ORDITO_FAST_TLS std::atomic<bool>* haltedFlag = nullptr;

void onSignal(int, siginfo_t*, void* context) {
  const auto pc = static_cast<uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  if (!haltedFlag || pc < haltableCode.begin || pc >= haltableCode.end) return;
  haltedFlag->store(true);
  for (;;) pause();
}

void installHandler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = onSignal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigfillset(&action.sa_mask);
    sigaction(kSignal, &action, nullptr);
  });
}

/// The executable part of the loaded object that `symbol` is in, if that is a library.
Range codeAround(const void* symbol) {
  struct Search {
    uintptr_t address;
    Range found;
  } search{reinterpret_cast<uintptr_t>(symbol), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        if (!object->dlpi_name || !*object->dlpi_name) return 0;  // the program itself may have the C library inside
        for (int k = 0; k < object->dlpi_phnum; ++k) {
          const auto& header = object->dlpi_phdr[k];
          const uintptr_t begin = object->dlpi_addr + header.p_vaddr;
          if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || wanted.address - begin >= header.p_memsz)
            continue;
          wanted.found = {begin, begin + header.p_memsz};
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

}  // namespace

void tryToHalt(pthread_t thread) {
  installHandler();
  pthread_kill(thread, kSignal);
}

void announceHalts(std::atomic<bool>* halted) {
  haltedFlag = halted;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, kSignal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);  // whoever made this thread may have blocked it
}

Haltable::Haltable(const void* symbol) { haltableCode = codeAround(symbol); }
Haltable::~Haltable() { haltableCode = {}; }

}  // namespace ordito::machine
