// What engines and the driver tell their listeners: the one vocabulary of events, as data. docs/events.md is the
// contract: what is told, in which order, and what nobody may rely on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "machine/counters.hpp"
#include "machine/fault.hpp"
#include "machine/kernel.hpp"

namespace ordito::machine {

struct Allocation;
struct BlockFrame;
struct GpuDescription;

/// MatrixLoad, MatrixStore: ldmatrix and stmatrix. Reduction: an atomic operation that returns nothing (red, or an atom
/// whose result the program does not read, of which a GPU's compiler makes one). Copy: from global to shared memory
/// (cp.async), one event that knows both sides. Mbarrier: by the unit that keeps mbarriers, which a GPU's profiler
/// counts no access of.
enum class AccessKind : uint8_t { Load, Store, MatrixLoad, MatrixStore, Atomic, Reduction, Copy, Mbarrier };

/// Where an access leads. An instruction may leave it open (Generic); what its lanes touch is never generic.
enum class AccessSpace : uint8_t { Generic, Global, Shared, Local, Constant, Parameter, Texture, Surface };

/// What an instruction promises about the order of memory accesses (PTX ISA, "Memory Consistency Model").
enum class MemoryOrder : uint8_t { Weak, Volatile, Relaxed, Acquire, Release, AcquireRelease, Sequential };

/// Among whom it promises that.
enum class MemoryScope : uint8_t { Block, Cluster, Gpu, System };

/// Who does something, and where in the program: `lanes` of a warp of the block that `frame` belongs to, at a line of
/// PTX. The block's number is frame.ctaid, its launch's frame.gridid.
struct WarpSite {
  const BlockFrame& frame;
  const ptx::Function& function;
  uint32_t line, warp, lanes;
};

/// Why an access has no address: coordinates that lead out of a surface.
struct AccessProblem {
  FaultKind kind{};  // that it is if nobody refuses the access
  std::string says;
};

/// The lanes of one warp touch memory with one instruction. Addresses in shared memory are offsets into the block's
/// window, all others are addresses of the process.
struct AccessEvent {
  WarpSite at;
  AccessKind kind;
  AccessSpace space;
  MemoryOrder order = MemoryOrder::Weak;
  MemoryScope scope = MemoryScope::System;
  uint32_t bytes = 0;                   // of each lane
  const uint64_t* addresses = nullptr;  // by lane, valid for those in at.lanes; null: base + lane × stride
  uint64_t base = 0;
  int64_t stride = 0;
  // The other side of a copy: where it writes what it has read. Of each lane's bytes only the first `copied` are read,
  // the rest are zeros.
  AccessSpace toSpace = AccessSpace::Generic;
  const uint64_t* targets = nullptr;
  const uint32_t* copied = nullptr;
  bool isBulk = false;    // a copy by cp.async.bulk, of one lane
  uint64_t mbarrier = 0;  // that such a copy completes, if one into shared memory does
  // Of a store, by lane, what it has stored: the bytes as a number, of more than 8 a digest.
  const uint64_t* stored = nullptr;
  // Of local memory, when listeners are asked: the variable that the address was made from, or, where that is not
  // known, the one that it lies in or next to. No bytes: there is none. Of a texture of one level objectBegin says
  // where its memory begins.
  uint64_t objectBegin = 0, objectBytes = 0;
  const ptx::Variable* object = nullptr;  // if it has a name
  // When listeners are asked of a lane's access that cannot be made: `base` is where the surface's memory begins.
  const AccessProblem* problem = nullptr;

  uint64_t addressOf(uint32_t lane) const {
    return addresses ? addresses[lane] : base + static_cast<uint64_t>(static_cast<int64_t>(lane) * stride);
  }
};

/// A guard of what blocks have in common (ir/block_forms.hpp) is about to be executed: its operands by lane, as the
/// instruction reads them.
struct OperandsEvent {
  WarpSite at;
  const int64_t *a, *b;
};

/// Lanes are about to give memory back that malloc() gave to kernels; null pointers do nothing.
struct HeapFreeEvent {
  WarpSite at;
  const uint64_t* addresses;  // by lane
};

/// Threads of a block meet or order what they do.
struct SyncEvent {
  enum class Kind : uint8_t {
    BarrierArrive,  // bar.arrive: counted, go on
    BarrierWait,    // bar.sync, bar.red: come and wait
    BarrierDone,    // the barrier is complete; `met` are those that waited and now go on
    WarpSync,       // lanes have met at a warp operation (bar.warp.sync, shfl, vote …); `mask` is what they named
    Fence,          // with order and scope; `number`: of which memory it orders proxies, too
    CopyCommit,     // cp.async.commit_group
    CopyWait,       // cp.async.wait_group: all but the last `number` groups of the thread have arrived
    CopyWaitAll,    // cp.async.wait_all
    MbarrierInit,   // for `number` arrivals. Mbarriers: one lane, `address` in shared memory
    MbarrierInvalidate,
    MbarrierArrive,  // `number` arrivals
    MbarrierCopies,  // the thread's copies so far are an arrival (cp.async.mbarrier.arrive)
    MbarrierPassed,  // a test or a wait finds its phase over
    BulkCommit,      // cp.async.bulk.commit_group
    BulkWait,        // cp.async.bulk.wait_group: all but the last `number` groups of the thread have arrived
    BulkWaitRead,    // with .read: they have read what they copy
    MbarrierBulk,    // the thread's bulk copy before is part of what ends the phase
  };
  WarpSite at;  // of BarrierDone the last that came; of WarpSync all that met
  Kind kind;
  MemoryOrder order = MemoryOrder::Weak;
  MemoryScope scope = MemoryScope::Block;
  static constexpr uint32_t kGlobalProxy = 1, kSharedProxy = 2;
  uint32_t number = 0;   // of the barrier, or as the kind says
  uint32_t threads = 0;  // that a barrier waits for; 0: all
  uint32_t mask = 0;
  bool ordersMemory = false;           // of WarpSync: bar.warp.sync
  uint64_t address = 0;                // of the mbarrier
  std::span<const uint32_t> met = {};  // lanes, by warp
};

/// A lane uses a value that was made of bytes nobody has written, so that what it does depends on them. Moving such a
/// value is no use of it: memory keeps what was written with it apart (machine/undefined.hpp).
struct UndefinedEvent {
  enum class Use : uint8_t {
    Branch,   // it decides which instructions are executed
    Address,  // it is, or makes, an address
    Result,   // what was computed from it is stored in global memory
    Atomic,   // an atomic operation takes it, or finds it in memory
  };
  WarpSite at;
  Use use;
  // The load that it came from.
  const ptx::Function* readIn;
  uint32_t readLine, readBytes;
  AccessSpace space;
  uint64_t address;  // in shared memory an offset into the window
};

/// A copy of `depth` slices of `height` rows of `width` bytes, or a fill of them, is about to be made; of a fill there
/// is no source.
struct RowsEvent {
  struct Side {
    uint64_t base = 0, pitch = 0, slice = 0;
  };
  Side to, from;
  uint64_t width = 0, height = 1, depth = 1;
};

/// A block starts, or ends (each of its threads has exited).
struct BlockEvent {
  enum class Kind : uint8_t { Begin, End };
  Kind kind;
  const BlockFrame& frame;
  const ptx::Function& kernel;
};

/// A kernel's launch, told when it begins (then all numbers are 0 as yet) and when it has ended, with what its blocks
/// have told on the way: the events of instructions, branches, barriers and accesses, counted by site.
struct LaunchEvent {
  const char *kernel, *mangled;
  const char* launcher;  // the kernel that launched it; empty: the host did
  Dim3 grid, block;
  uint64_t launch = 0;                    // its number, that of BlockFrame::gridid
  const std::byte* parameters = nullptr;  // its parameter block
  const char* failure = nullptr;          // the message of the fault that stopped it
  uint32_t staticShared = 0, dynamicShared = 0, registers = 0;
  uint64_t wallNs = 0, compileNs = 0;
  const SiteCounters& sites;
  const uint64_t* counters;  // their sums
  const ptx::Module& module;
  const ptx::Function& function;
  const GpuDescription& gpu;
  std::span<void* const> stack = {};  // return addresses of the host's call, the innermost first, where known
};

/// A thread of a kernel has launched another kernel, which begins as `stream` says: behind the whole grid (Tail),
/// whenever there is room (FireAndForget), or behind what else the block put into that stream.
struct ChildLaunchEvent {
  enum class Stream : uint8_t { Ordered, Tail, FireAndForget };
  const BlockFrame& frame;
  uint32_t thread;  // within the block
  uint64_t launch;  // the number of the new one
  Stream stream;
};

/// A call of the program that has failed. Told only to listeners that want every access.
struct FailedCallEvent {
  int error;
  const char *name, *message;  // of the error; why, may be empty
  std::span<void* const> stack;
};

/// Operation `number` of a stream.
struct StreamPoint {
  uint64_t stream = 0, number = 0;
};

/// An operation of a stream: told when it is submitted, when it begins and when it has ended.
struct StreamEvent {
  /// Value: waits for values in memory and writes of them. Allocation: from a pool, in the order of the stream; told
  /// only to listeners that want every access, and only when it is submitted.
  enum class Kind : uint8_t {
    Value,
    Kernel,
    Copy,
    Fill,
    HostFunction,
    Graph,
    Free,
    EventRecord,
    EventWait,
    Allocation
  };
  Kind kind = Kind::Value;
  const char* name = "";  // of a kernel, or of a library's call (a HostFunction)
  uint64_t to = 0, from = 0, bytes = 0;
  uint64_t stream = 0, correlation = 0;  // numbers count from 1 in each stream
  uint64_t context = 0;                  // the stream number of its legacy default stream
  bool isBlocking = false;               // is the stream in order with that one? It is with itself.
  uint64_t beginNs = 0, endNs = 0;       // of the host's steady clock
};

/// A node of a graph, whose launch the calling thread's operation is, is about to do its work. Nodes have numbers in
/// their launch; all in `after` come before it, by the graph's edges.
struct GraphNodeEvent {
  uint32_t number;
  std::span<const uint32_t> after;
  bool isHostFunction = false;
};

}  // namespace ordito::machine
