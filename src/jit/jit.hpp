// The compiling engine: PTX -> IR -> one LLVM function per kernel and block shape, which runs a whole thread block with
// warps as SIMD vectors.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "machine/kernel.hpp"
#include "simt/facts.hpp"

namespace ordito::jit {

/// Code that is made in a hurry, and slow.
enum class BaselineCode {
  Never,
  First,  // for large kernels, until their optimised code is there
  Only,   // for all kernels, and nothing better: for tests
};

/// What to compile for. Empty names mean the host. "x86-64-v3" and "x86-64-v4" let tests ask for less than the host
/// has.
struct Options {
  std::string cpu = {};
  /// How many warps advance together, by region in turn; empty: as many as are best.
  std::vector<unsigned> coarsening = {};
  simt::ByThread byThread = simt::ByThread::Cheaper;  // what is run thread by thread
  bool races = false;                      // where estimates are close, variants are timed on launches (race.hpp)
  uint64_t racePatience = 150'000'000;     // ticks that a kernel must have run for it
  bool caches = false;                     // look for compiled kernels on disk, and leave them there (code_cache.hpp)
  std::filesystem::path cacheFolder = {};  // empty: ordito/ in $XDG_CACHE_HOME or ~/.cache
  BaselineCode baseline = BaselineCode::Never;
  size_t largeKernel = 10000;  // instructions of LLVM's from which a kernel is large
  /// Phis that SSA form can have, from which a kernel keeps its baseline code: LLVM would take gigabytes and minutes.
  uint64_t mostPhis = 40'000'000;
  std::chrono::milliseconds delay{0};  // that each kernel takes longer to compile: for tests
  bool times = false;                  // print how long LLVM's passes take
  bool dumpIr = false;                 // print our IR and LLVM's before and after optimisation to stderr
};

/// `options` with what the environment variables say instead (base/environment.def); a program or test that wants them
/// to count asks for this.
Options optionsFromEnvironment(Options options = {});

std::unique_ptr<machine::Engine> makeJit(Options options = {});

/// May compiled code and the host's C library differ in the last bit of what the function of this name gives?
bool approximates(const std::string& name);

}  // namespace ordito::jit
