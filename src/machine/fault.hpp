// How a running block stops the launch: a bad address, a trap, a failed assertion, an unsupported thing met at run
// time.
//
// Compiled code cannot throw C++ exceptions through its frames, so a fault leaves the block by siglongjmp to runGuarded
// on the same thread; no frame in between may own anything. Hardware faults (SIGSEGV, SIGBUS, SIGFPE) inside runGuarded
// become Faults as well; outside it they keep their old handlers.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "machine/kernel.hpp"

namespace ordito::machine {

enum class FaultKind : uint32_t {
  IllegalAddress,      // CUDA_ERROR_ILLEGAL_ADDRESS 700
  MisalignedAddress,   // 716
  IllegalInstruction,  // 715
  Assert,              // 710
  Trap,                // CUDA_ERROR_LAUNCH_FAILED 719 (trap gives 719 "unspecified launch failure")
  StackOverflow,       // 719
  AddressWrap,  // an index wrapped around inside a warp in a way that fast code does not cover: 719 with an explanation
  BarrierDeadlock,  // all threads of the block wait and none can go on: 719 (a GPU would hang)
  Unsupported,      // 801
  Timeout,          // CUDA_ERROR_LAUNCH_TIMEOUT 702: stopped from outside (grid_watch.hpp)
};

struct Fault {
  FaultKind kind{};
  std::string message;   // complete sentence for the user: kernel, block, thread (where known), PTX line, address
  uint64_t address = 0;  // for address faults
  uint32_t ptxLine = 0;  // 0 = unknown
  uint32_t block[3] = {};
  std::string kernel;
  bool namesThread = false;  // the message says which thread it was
};

/// Runs `count` blocks (Executable::runBlocks); returns the fault that stopped them, if one did. Must be called on a
/// worker thread (installs the signal handlers once per process and an alternate stack once per thread).
/// `status`, where given, gets how the last block left without a fault.
std::optional<Fault> runGuarded(const Executable& executable, BlockFrame& frame, uint32_t count = 1,
                                BlockStatus* status = nullptr);

/// Leaves the block that runs on this thread with a fault. `detail` may be null. Only valid inside runGuarded.
[[noreturn]] void raiseFault(const BlockFrame& frame, FaultKind kind, uint32_t ptxLine, uint64_t address,
                             const char* detail);

/// Where this thread is, for engines that know it only while they interpret: a hardware fault outside any registered
/// code reports this. Reset before each block.
struct FaultHint {
  uint32_t ptxLine = 0;
  bool hasThread = false;
  uint32_t thread[3] = {};
};
FaultHint& faultHint();

/// Has the block that runs on `thread` leave with FaultKind::Timeout if its frame's `stop` is set: at once if the
/// thread is in generated code, which owns nothing; else nothing happens, so ask again until it has left.
void interruptBlock(pthread_t thread);

/// For an engine that interprets: is the block to leave with FaultKind::Timeout?
inline bool isStopped(const BlockFrame& frame) { return frame.stop && frame.stop->load(std::memory_order_relaxed); }

/// Which line of PTX the machine code at a program counter comes from; 0 = unknown.
using LineLookup = std::function<uint32_t(uintptr_t programCounter)>;

/// Makes hardware faults inside [begin, end) name their PTX line. An engine calls this for code that it has generated
/// and the second before it frees that code.
void registerCodeRange(uintptr_t begin, uintptr_t end, LineLookup lookup);
void unregisterCodeRange(uintptr_t begin);

/// The line of PTX behind an address in generated code of any engine; 0 = unknown. For a listener that takes samples.
uint32_t lineOf(uintptr_t programCounter);

/// The CUDA result (CUresult numbering) of a fault.
int cudaResult(FaultKind kind);

}  // namespace ordito::machine
