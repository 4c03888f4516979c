// What engines and the driver tell their listeners: the one vocabulary of events, as data. docs/events.md is the
// contract: what is told, in which order, and what nobody may rely on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "machine/counters.hpp"
#include "machine/kernel.hpp"

namespace ordito::machine {

struct Allocation;
struct GpuDescription;

/// MatrixLoad, MatrixStore: ldmatrix and stmatrix. Reduction: an atomic operation that returns nothing (red, or an atom
/// whose result the program does not read, of which a GPU's compiler makes one). Copy: from global to shared memory
/// (cp.async), one event that knows both sides. Mbarrier: by the unit that keeps mbarriers, which a GPU's profiler
/// counts no access of.
enum class AccessKind : uint8_t { Load, Store, MatrixLoad, MatrixStore, Atomic, Reduction, Copy, Mbarrier };

/// Where an access leads. An instruction may leave it open (Generic); what its lanes touch is never generic.
enum class AccessSpace : uint8_t { Generic, Global, Shared, Local, Constant, Parameter, Texture, Surface };

/// A kernel's launch, told when it has ended, with what its blocks have told on the way: the events of instructions,
/// branches, barriers and accesses, counted by site.
struct LaunchEvent {
  const char *kernel, *mangled;
  const char* launcher;  // the kernel that launched it; empty: the host did
  Dim3 grid, block;
  uint32_t staticShared = 0, dynamicShared = 0, registers = 0;
  uint64_t wallNs = 0, compileNs = 0;
  const SiteCounters& sites;
  const uint64_t* counters;  // their sums
  const ptx::Module& module;
  const ptx::Function& function;
  const GpuDescription& gpu;
};

/// An operation of a stream: told when it has ended.
struct StreamEvent {
  enum class Kind : uint8_t { Other, Kernel, Copy, Fill, HostFunction, Graph };
  Kind kind = Kind::Other;
  const char* name = "";  // of a kernel
  uint64_t to = 0, from = 0, bytes = 0;
  uint64_t stream = 0, correlation = 0;  // numbers count from 1 in each stream
  uint64_t beginNs = 0, endNs = 0;       // of the host's steady clock
};

}  // namespace ordito::machine
