// From a kernel to code in this process: analysed, emitted, compiled, kept on disk and linked. Of one kernel there may
// be several copies, each under its own name: made in a hurry, optimised, and another way to do the same
// (racing_kernel.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "jit/compile.hpp"
#include "jit/compiled_kernel.hpp"
#include "jit/jit.hpp"
#include "jit/pipeline.hpp"

namespace ordito::jit {

enum class Copy {
  Baseline,
  Optimised,  // by the plan's choices
  Contender,  // by the other choice wherever the plan's estimates were close
};

/// A kernel to compile, and what its code is called.
struct Request {
  const ptx::Module* module;
  std::weak_ptr<const ptx::Module> owner;
  const ptx::Function* kernel;
  machine::Specialisation specialisation;
  Digest key;
  bool caches;  // the disk keeps its code

  size_t threads() const { return threadsOf(specialisation.block); }
  std::optional<size_t> heard() const;
  Digest keyFor(Copy copy) const;
  std::string symbolFor(Copy copy) const;
};

/// A kernel's code in this process.
struct Linked {
  BlockFunction function;
  Needs needs;
  Choice choice;
};

/// All that turns a kernel into code; jobs in the background keep it alive.
class CodeMaker {
 public:
  CodeMaker(Target target, CodeCache cache, const Options& options)
      : target_(std::move(target)), cache_(std::move(cache)), options_(options) {}
  const Target& target() const { return target_; }
  const CodeCache& cache() const { return cache_; }
  const Options& options() const { return options_; }

  Expected<Analysed> analyse(const Request& r) const;
  Expected<Emission> emit(const Request& r, const Analysed& kernel, Copy copy) const;
  Expected<Linked> make(const Request& r, Emission kernel, Copy copy);
  Expected<Linked> make(const Request& r, const Analysed& kernel, Copy copy);
  Expected<Linked> makeAnew(const Request& r, Copy copy);
  /// What the disk has kept; nothing if it has not.
  std::optional<Expected<Linked>> find(const Request& r, Copy copy);
  /// The disk keeps the copy that has turned out to be faster, and what a block takes of a processor.
  void settle(const Request& r, Copy winner, double nanosecondsPerBlock) const;

 private:
  Expected<std::string> generate(Emission& kernel, Copy copy) const;
  Expected<Linked> link(const Request& r, CompiledObject code, Copy copy);
  void delay() const;

  const Target target_;
  const CodeCache cache_;
  const Options options_;
  CodeStore store_;
};

}  // namespace ordito::jit
