// Lays out activations and refuses, before anything runs, what no body could execute.
#include "interp/program.hpp"

#include <set>

#include "ptx/local_objects.hpp"
#include "ptx/reads.hpp"

namespace ordito::interp {

using isa::Op;
using ptx::Operand;
using ptx::Symbol;

const FunctionPlan* Program::functionAt(uint64_t address) const {
  for (const FunctionPlan& plan : functions)
    if (reinterpret_cast<uint64_t>(plan.source) == address) return &plan;
  return nullptr;
}

namespace {

uint32_t alignUp(uint32_t offset, uint32_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

uint32_t bytesOf(const std::vector<ptx::Parameter>& parameters) {
  uint32_t end = 0;
  for (const ptx::Parameter& p : parameters) end = std::max(end, p.offset + p.size);
  return end;
}

void findKernelEnds(FunctionPlan& plan) {
  const ptx::Function& f = *plan.source;
  const uint32_t count = uint32_t(f.instructions.size());
  plan.endsKernel.assign(count + 1, f.isEntry);
  auto endsAt = [&](uint32_t at) {
    for (uint32_t steps = 0; steps <= count && at < count; ++steps) {
      const ptx::Instruction& i = f.instructions[at];
      if (i.guard || i.op != Op::Bra) return !i.guard && (i.op == Op::Exit || (i.op == Op::Ret && f.isEntry));
      at = f.labels[i.operands[0].label].instruction;
    }
    return at >= count && f.isEntry;
  };
  for (uint32_t at = 0; at < count; ++at) plan.endsKernel[at] = endsAt(at);
}

/// `isHeard`: of each access to memory.
FunctionPlan planFunction(const ptx::Function& function, bool isHeard) {
  constexpr uint32_t kBlockAlignment = 16;
  FunctionPlan plan;
  plan.source = &function;
  plan.returnBase = alignUp(bytesOf(function.parameters), kBlockAlignment);
  ptx::LocalPlaces places{.end = alignUp(plan.returnBase + bytesOf(function.returns), kBlockAlignment),
                          .hasZones = isHeard};
  for (const ptx::Variable& variable : function.variables) {
    const bool isPrivate = variable.space == ptx::Space::Param || variable.space == ptx::Space::Local;
    plan.variableOffset.push_back(isPrivate ? static_cast<uint32_t>(places.place(variable)) : 0);
  }
  plan.memoryBytes = static_cast<uint32_t>(places.bytes());
  if (isHeard) plan.objects = ptx::localObjects(function);
  plan.isRead = ptx::readRegisters(function);
  plan.order = laneOrder(function);
  findKernelEnds(plan);
  return plan;
}

/// Walks from the kernel through its calls and checks every instruction on the way.
class Checker {
 public:
  explicit Checker(Program& program) : program_(program) {}

  Expected<> check(uint32_t index) {
    if (!seen_.insert(index).second) return {};
    const ptx::Function& function = program_.module->functions[index];
    if (!function.hasBody) return checkExternal(index);
    for (const ptx::Instruction& instruction : function.instructions) {
      if (std::string why = unsupported(instruction); !why.empty())
        return fail("kernel {}: {} (PTX line {}): {}", kernelName(), function.name, instruction.line, why);
      caller_ = &function, line_ = instruction.line;
      for (const Operand& operand : instruction.operands)
        if (auto ok = checkOperand(instruction, operand); !ok) return ok;
      if (instruction.op == Op::Call && instruction.operands[1].is(Operand::Kind::Register))
        if (auto ok = checkAll(); !ok) return ok;
    }
    return {};
  }

 private:
  const std::string& kernelName() const { return program_.module->functions[program_.kernel].name; }

  Expected<> checkOperand(const ptx::Instruction& instruction, const Operand& operand) {
    if (operand.symbol.kind != Symbol::Kind::Function) return {};
    const ptx::Function& function = program_.module->functions[operand.symbol.index];
    if (!function.isEntry) return check(operand.symbol.index);
    if (instruction.op != Op::Call) return {};  // a kernel to launch: checked when it is compiled
    return fail("kernel {}: {} calls the kernel {} as a function (PTX line {})", kernelName(), caller_->name,
                function.name, line_);
  }

  /// An indirect call may reach every function that has a body; externals are checked where they are named.
  Expected<> checkAll() {
    for (uint32_t i = 0; i < program_.module->functions.size(); ++i)
      if (program_.module->functions[i].hasBody && !program_.module->functions[i].isEntry)
        if (auto ok = check(i); !ok) return ok;
    return {};
  }

  Expected<> checkExternal(uint32_t index) {
    const ptx::Function& function = program_.module->functions[index];
    if (const char* why = machine::removedDeviceFunction(function.name))
      return fail("kernel {}: {} calls {} (PTX line {}): {}", kernelName(), caller_->name, function.name, line_, why);
    if (const auto* found = machine::findDeviceFunction(function.name)) {
      if (found->signature.size() - 1 != function.parameters.size())
        return fail("kernel {}: {} calls {} (PTX line {}) with {} parameters instead of {}", kernelName(),
                    caller_->name, function.name, line_, function.parameters.size(), found->signature.size() - 1);
      program_.functions[index].deviceRuntime = found;
      return {};
    }
    const External* external = findExternal(function.name);
    if (!external)
      return fail("kernel {}: {} calls {} (PTX line {}), which the module does not define and Ordito does not provide",
                  kernelName(), caller_->name, function.name, line_);
    if (external->arguments != function.parameters.size())
      return fail("kernel {}: {} calls {} (PTX line {}) with {} parameters instead of {}", kernelName(), caller_->name,
                  function.name, line_, function.parameters.size(), external->arguments);
    program_.functions[index].external = external;
    program_.prints |= external->name == "vprintf";
    return {};
  }

  Program& program_;
  std::set<uint32_t> seen_;
  const ptx::Function* caller_ = nullptr;
  uint32_t line_ = 0;
};

}  // namespace

Expected<Program> prepare(const ptx::Module& module, const ptx::Function& kernel,
                          const machine::Specialisation& specialisation) {
  Program program;
  program.module = &module;
  program.kernel = uint32_t(&kernel - module.functions.data());
  program.layout = machine::layoutKernel(module, kernel);
  program.specialisation = specialisation;
  for (const ptx::Function& function : module.functions) {
    program.functions.push_back(planFunction(function, specialisation.accesses));
    program.functions.back().firstSite = uint32_t(program.sites);
    program.sites += function.instructions.size();
  }
  if (auto ok = Checker(program).check(program.kernel); !ok) return tl::unexpected(ok.error());
  return program;
}

}  // namespace ordito::interp
