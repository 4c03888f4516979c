// See ending_signals.hpp. The handler only wakes a thread, which may do what a handler may not.
#include "machine/ending_signals.hpp"

#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "machine/grid_watch.hpp"
#include "machine/listener.hpp"

namespace ordito::machine {

namespace {

using std::chrono::milliseconds;

sem_t arrived;
std::atomic<int> received{0};
std::atomic<time_t> receivedAt{0};

time_t secondsNow() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

void dieOf(int signal) {
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(signal, &standard, nullptr);
  kill(getpid(), signal);
}

/// A terminal and whoever has started the process may both send the one signal that is meant.
void onSignal(int signal) {
  int none = 0;
  if (received.compare_exchange_strong(none, signal)) {
    receivedAt = secondsNow();
    sem_post(&arrived);
  } else if (secondsNow() > receivedAt + 1) {
    dieOf(signal);
  }
}

/// Launches tell their ends when their grids have left the threads.
void awaitLaunchEnds(milliseconds patience) {
  const auto start = std::chrono::steady_clock::now();
  while (areLaunchesOpen() && std::chrono::steady_clock::now() < start + patience)
    std::this_thread::sleep_for(milliseconds(5));
}

void endProcess() {
  while (sem_wait(&arrived) != 0) {
  }
  const int signal = received;
  endGrids(std::string("was stopped by SIG") + sigabbrev_np(signal), milliseconds(3000));
  awaitLaunchEnds(milliseconds(3000));
  flushListenersAtEnd();
  dieOf(signal);
}

}  // namespace

void reportOnEndingSignals() {
  watchGrids();
  sem_init(&arrived, 0, 0);
  std::thread(endProcess).detach();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old = {}, action = {};
    if (sigaction(signal, nullptr, &old) != 0 || old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL) continue;
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace ordito::machine
