// What an engine and the rest of the machine agree on: how a kernel is compiled, and what one running thread block
// sees.
//
// An engine turns one kernel of a module into an Executable for one block shape; the block scheduler then calls
// runBlock for each block of the grid, from several host threads at once. A block runs on one host thread from start to
// end, but if it can only wait for other blocks, it says so, and that thread runs others before it goes on with it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/digest.hpp"
#include "base/error.hpp"
#include "machine/counters.hpp"
#include "ptx/module.hpp"

namespace ordito::machine {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

inline constexpr unsigned kWarpSize = 32;

class DeviceBlock;
struct CombiningView;

/// The state of one block while it runs. Compiled code reads it by offset: the order of the first members is part of
/// the engine's ABI.
struct BlockFrame {
  const std::byte* parameters;  // the launch's parameter block, laid out as ptx::Parameter::offset says
  std::byte* shared;            // start of the block's shared window; static variables first, dynamic memory after them
  std::byte* scratch;  // Executable::scratchBytes() bytes of engine-private memory, 64-byte aligned, not initialised
  std::byte*
      local;  // Executable::localBytes() bytes for .local memory of the whole block, 64-byte aligned, not initialised
  std::byte* const* globals;       // address of each variable of the module, by its index in ptx::Module::variables
  const ptx::Function* functions;  // the module's: to a program, a function's address is that of its entry here
  uint64_t* counters;  // Executable::counterWords() numbers to add to, or null when compiled without counters
  uint32_t ctaid[3];
  uint32_t nctaid[3];
  uint32_t ntid[3];
  uint32_t dynamicSharedBytes;
  uint32_t totalSharedBytes;
  uint32_t nonTemporal;  // the grid writes more than the caches hold: stores of whole cache lines may go round them
  uint32_t resumes;      // how often the block has been suspended
  uint32_t smid;         // number of the host worker
  uint32_t nsmid;
  uint64_t gridid;
  const char* kernelName;    // for messages
  std::byte* gridWorkspace;  // of a cooperative launch: zeroed memory that nvcc's grid.sync() finds by %envreg1 and 2
  uint64_t localBytes;       // at `local`
  DeviceBlock* device;       // the block's streams, events and errors; null when the module does not use them
  CombiningView* combining;  // the host thread's buffer of atomics (combining_buffer.hpp)
  mutable uint32_t
      waitsAt;  // set by the engine when the block is suspended: the PTX line where a thread waits; 0 = unknown
  void* trial;  // what code works with that was compiled for a trial (rt/trial.hpp)
  mutable uint64_t phaseSteps;  // counts what may let somebody go on who waits for an mbarrier, and who has gone on
  // What the lane scheduler knows of time: no part of what the block computes with, and so not in its scratch memory.
  mutable uint64_t seenPhaseSteps;  // phaseSteps, when nobody could go on first
  mutable int64_t stuckSince;       // in nanoseconds
  const std::atomic<bool>* stop;    // set when the launch is to be stopped; may be null

  /// The block's number: blockIdx in order, x fastest.
  uint64_t block() const { return ctaid[0] + uint64_t{nctaid[0]} * (ctaid[1] + uint64_t{nctaid[1]} * ctaid[2]); }
  void place(uint64_t block) {
    ctaid[0] = static_cast<uint32_t>(block % nctaid[0]);
    ctaid[1] = static_cast<uint32_t>(block / nctaid[0] % nctaid[1]);
    ctaid[2] = static_cast<uint32_t>(block / nctaid[0] / nctaid[1]);
  }
  /// On to the next block.
  void step() { place(block() + 1); }
};

/// What an Executable may rely on.
struct Specialisation {
  Dim3 block;             // exact block shape of every launch
  bool counters = false;  // count into BlockFrame::counters
  bool accesses = false;  // tell listeners of each access, synchronisation and block
  /// With `accesses`: of the accesses at these lines of the PTX, and of nothing else; empty: of all. An engine may tell
  /// more than was asked for.
  std::vector<uint32_t> lines = {};
  bool values = true;  // with `accesses`: what is made of unwritten memory is told where a listener wants it
  bool trial = false;  // with `accesses`: tells nobody, but asks BlockFrame::trial whether all is well; compiled only
  bool operator==(const Specialisation&) const = default;
};

/// How a block leaves its host thread.
enum class BlockStatus : uint32_t {
  Ended,
  Suspended,  // it waits for what other blocks do, and goes on when it is called again with the same frame and memory
};

/// A kernel ready to run for one Specialisation. Immutable and safe to call from many threads.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual BlockStatus runBlock(const BlockFrame& frame) const = 0;
  /// Runs the frame's block and those behind it, `count` in all, in the order of blockIdx, x fastest. `frame` names the
  /// block that runs, and the last one in the end: one that is suspended is the last.
  virtual BlockStatus runBlocks(BlockFrame& frame, uint32_t count) const {
    for (;; frame.step()) {
      const BlockStatus status = runBlock(frame);
      if (status == BlockStatus::Suspended || --count == 0) return status;
    }
  }
  /// Are blocks that wait for others suspended? Else each needs a host thread of its own.
  virtual bool canSuspend() const { return false; }
  virtual size_t scratchBytes() const = 0;
  virtual size_t localBytes() const = 0;
  /// Bytes that a thread writes, at least, with stores that could go round the caches.
  virtual size_t nonTemporalBytes() const { return 0; }
  /// Numbers that its blocks add to at BlockFrame::counters; how they are laid out is the engine's affair.
  virtual size_t counterWords() const { return 0; }
  /// Adds what they say to the sites.
  virtual void addCounters(const uint64_t* /*words*/, SiteCounters& /*sites*/) const {}
  /// What a block that starts now runs on, from its start to its end: this, or better code that has been made since. It
  /// lives as long as this.
  virtual const Executable& latest() const { return *this; }
  /// All that the suspended block of `frame` goes on with but the memory that kernels share: while it is the same, so
  /// is what the block does. Nothing if that cannot be told.
  virtual std::optional<Digest> suspendedState(const BlockFrame&) const { return std::nullopt; }
  /// The launch has been stopped, and the suspended block of `frame` will not go on.
  virtual void abandon(const BlockFrame&) const {}
};

using ModulePtr = std::shared_ptr<const ptx::Module>;

/// JIT or interpreter.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Compiles `kernel` (an entry of `module` with a body). Who runs the Executable keeps the module. An instruction
  /// that this engine lacks is an Error that names it, the kernel and the PTX line. May be called from several threads.
  virtual Expected<std::shared_ptr<const Executable>> compile(const ModulePtr& module, const ptx::Function& kernel,
                                                              const Specialisation& specialisation) = 0;
  /// The kernel as one that only watches: it leaves memory as it is and says which thread a fault comes from (see
  /// replay.hpp). Null if this engine has none.
  virtual std::shared_ptr<const Executable> replay(const ptx::Module&, const ptx::Function&, const Specialisation&) {
    return nullptr;
  }
};

}  // namespace ordito::machine
