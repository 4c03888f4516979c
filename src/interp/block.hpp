// One running thread block: threads with their call stacks, warps, barriers, and the rule that decides which lanes move
// next.
//
// The rule: in a warp, the lanes at the deepest call level and there at the lowest pc go first, all lanes at that pc
// together. Compilers lay code out so that this makes diverged lanes meet again where their paths join. A group that
// keeps jumping backwards while other lanes could run loses its turn, soon if it looks at a lock or a flag, so that a
// lane may spin on what another lane of its warp will write: by turns to the lane that moved last, since who has just
// left a spin lock holds it, and to the one that has waited longest, so that nobody is forgotten.
//
// A block in which every warp only looks at what others may change, and nothing changes, is suspended, so that the
// blocks that it waits for get the host thread (machine/worker.hpp).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interp/program.hpp"
#include "machine/events.hpp"
#include "machine/fault.hpp"

namespace ordito::interp {

inline constexpr uint32_t kAllLanes = ~0u;
inline constexpr uint64_t kAllocaBytes = 64 * 1024;  // of a thread's stack for alloca

/// The value of a register: up to 128 bits, unused upper bits are zero.
struct Slot {
  uint64_t lo = 0, hi = 0;
};

/// What is undefined of a register: made of memory that nobody has written.
struct Undefined {
  Slot bits;                // a 1 for each such bit
  uint32_t origin = 0;      // the load: an index into Block::origins
  bool isComputed = false;  // not only moved
};

/// A load that has found undefined bytes, with its first instance.
struct UndefinedOrigin {
  const ptx::Function* function;
  uint32_t line, bytes;
  machine::AccessSpace space;
  uint64_t address;
};

struct FreeAligned {
  void operator()(std::byte* memory) const;
};

/// Zeroed.
std::unique_ptr<std::byte[], FreeAligned> alignedMemory(size_t bytes);

/// A function that a thread is in.
struct Activation {
  const FunctionPlan* plan = nullptr;
  uint32_t pc = 0;
  std::vector<Slot> registers;
  std::vector<Undefined> undefined;                  // by register; empty: all are defined
  std::unique_ptr<std::byte[], FreeAligned> memory;  // laid out as the plan says
  uint64_t stackTop = 0;  // of the thread's alloca memory when the function first took some; 0 if it took none

  explicit Activation(const FunctionPlan& plan);
};

struct Thread {
  enum class State : uint8_t { Ready, AtBarrier, AtWarpOperation, Exited };

  uint32_t tid[3] = {};
  uint32_t index = 0;  // in the block
  uint32_t lane = 0;
  State state = State::Ready;
  bool carry = false;           // the condition code register CC.CF
  uint64_t lastStep = 0;        // when it last moved, in the warp's steps
  uint32_t memberMask = 0;      // AtWarpOperation: the lanes that must meet
  uint32_t barrier = 0;         // AtBarrier: which
  uint32_t barrierThreads = 0;  // AtBarrier: how many threads take part; 0 = all
  bool barrierByWarp = false;   // AtBarrier: the instruction is .aligned, so the warp arrives as a whole
  bool barrierValue = false;    // AtBarrier with a reduction: this thread's contribution
  std::vector<Activation> stack;
  std::unique_ptr<std::byte[], FreeAligned> allocated;  // for alloca, once there is one
  uint64_t allocatedTop = 0;                            // host address; in use from there to the end

  Activation& top() { return stack.back(); }
  const Activation& top() const { return stack.back(); }
  /// The instruction that it stands at, or null at the end of a body.
  const ptx::Instruction* instruction() const;
};

struct Warp {
  uint32_t index = 0;
  std::vector<Thread> threads;  // at most 32; the last warp of a block may have fewer
  uint64_t steps = 0;
  uint32_t backwardBranches = 0;  // taken by the leading group while others could run
  int focus = -1;                 // the lane that has its turn regardless of its pc
  uint32_t focusSteps = 0;
  bool favoursRecent = true;  // who gets the next focus
  bool looks = false;         // since the last backward branch it has looked at what others may change
  bool looked = false;        // the same of its last turn
  uint32_t forPhase = 0;      // lanes that have looked at nothing else since they tested an mbarrier

  uint32_t lanesIn(Thread::State state) const;
  uint32_t live() const { return ~lanesIn(Thread::State::Exited) & present(); }
  uint32_t present() const { return threads.size() == 32 ? kAllLanes : (1u << threads.size()) - 1; }
};

class Block {
 public:
  Block(const Program& program, const machine::BlockFrame& frame);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Runs until every thread has exited, or all wait for what other blocks do.
  machine::BlockStatus run();

  /// Of a suspended block: see machine::Executable::suspendedState.
  Digest state() const;

  [[noreturn]] void fault(machine::FaultKind kind, const Thread* thread, uint32_t line, uint64_t address,
                          std::string detail) const;
  /// Of a replay that would have to do more than look, or that has looked for long enough.
  [[noreturn]] void giveUp() const;

  const Program& program;
  const machine::BlockFrame& frame;
  std::vector<Warp> warps;
  /// Where compiled code will be, if the block may be begun again on it: see machine/restart.hpp.
  const std::atomic<const machine::Executable*>* betterCode = nullptr;
  const bool isHeard;       // listeners want to know what its threads do (events.cpp)
  bool hasActed = false;    // something outside of the block may have become another value
  bool hasChanged = false;  // in this round something in memory has become another value, or may have
  /// From then on the last warp goes first, as in compiled code: see simt/warp_order.hpp.
  bool isBehindBarrier = false;
  uint64_t phaseSteps = 0;                                          // of the frame, a round ago
  std::optional<std::chrono::steady_clock::time_point> stuckSince;  // all wait for phases that nobody can end
  /// Loads of undefined bytes.
  std::vector<UndefinedOrigin> origins;
  /// By barrier: threads that arrived without waiting (bar.arrive), since it was last complete.
  std::array<uint32_t, 17> arrivals{};  // the last is a cluster's

 private:
  bool leavesForBetterCode() const;
  bool runWarp(Warp& warp);
  bool onlyWaits() const;
  bool onlyTestsPhases();
  bool isStuck(std::chrono::steady_clock::time_point now);
  void notePlace() const;
  uint32_t selectGroup(Warp& warp) const;
  void noteProgress(Warp& warp, uint32_t group, bool wentBackwards) const;
  bool releaseBarriers();
  bool isComplete(uint32_t barrier) const;
  void release(uint32_t barrier);
  void raise(machine::BlockEvent::Kind kind) const;
  void undefineMemory() const;
  void raiseBarrierDone(uint32_t barrier) const;
  std::string waitingPlaces() const;
  [[noreturn]] void reportDeadlock() const;
};

/// Of a function that begins, or has ended: nobody has written its variables in local memory; no longer.
void undefineVariables(const Activation& activation);
void forgetVariables(const Activation& activation);

/// The members of a lane mask in ascending order.
class Lanes {
 public:
  explicit Lanes(uint32_t mask) : mask_(mask) {}
  struct Iterator {
    uint32_t rest;
    uint32_t operator*() const { return uint32_t(__builtin_ctz(rest)); }
    Iterator& operator++() {
      rest &= rest - 1;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return rest != other.rest; }
  };
  Iterator begin() const { return {mask_}; }
  Iterator end() const { return {0}; }

 private:
  uint32_t mask_;
};

}  // namespace ordito::interp
