// What is known about a kernel before it runs: where each function's variables lie in an activation, and that every
// instruction has a meaning here.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "interp/externals.hpp"
#include "interp/lane_order.hpp"
#include "machine/device_runtime.hpp"
#include "machine/kernel.hpp"
#include "machine/layout.hpp"
#include "ptx/module.hpp"

namespace ordito::interp {

/// One function's memory while it is active: its .param block, its return values, then its own .param and .local
/// variables.
struct FunctionPlan {
  const ptx::Function* source = nullptr;
  const External* external = nullptr;                      // what stands in for a function without a body
  const machine::DeviceFunction* deviceRuntime = nullptr;  // the same if it belongs to the device runtime
  uint32_t returnBase = 0;                                 // the parameters lie at 0
  std::vector<uint32_t> variableOffset;                    // by index in Function::variables
  uint32_t memoryBytes = 0;
  std::vector<uint32_t> objects;  // by instruction, if accesses are told: ptx::localObjects
  uint32_t firstSite = 0;         // of its instructions, among those of the module
  std::vector<char> isRead;       // by register
  std::vector<char> endsKernel;   // by instruction: only ends the thread, maybe after some jumps
  LaneOrder order;
  /// Where lanes that stand at an instruction come among those of their warp.
  uint32_t placeOf(uint32_t pc) const { return pc < order.place.size() ? order.place[pc] : pc; }
  uint32_t loopEnd(uint32_t pc) const { return pc < order.loopEnd.size() ? order.loopEnd[pc] : 0; }
};

struct Program {
  const ptx::Module* module = nullptr;
  uint32_t kernel = 0;  // index in Module::functions
  machine::KernelLayout layout;
  machine::Specialisation specialisation;
  bool isReplay = false;                // runs only to see where a fault comes from: see machine/replay.hpp
  std::vector<FunctionPlan> functions;  // by index in Module::functions
  size_t sites = 0;                     // instructions of the module
  bool prints = false;                  // the kernel may call printf

  /// The function whose address (that of its ptx::Function, the convention for function pointers) is `address`, or
  /// null.
  const FunctionPlan* functionAt(uint64_t address) const;
};

Expected<Program> prepare(const ptx::Module& module, const ptx::Function& kernel,
                          const machine::Specialisation& specialisation);

/// Why no body here can execute `instruction`, or an empty string. The verifier has accepted it already; this is about
/// meaning, not grammar.
std::string unsupported(const ptx::Instruction& instruction);

}  // namespace ordito::interp
