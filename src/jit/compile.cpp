// The pass list is short on purpose: the emitter already knows the loops, shapes and masks, so LLVM only has to form
// SSA, clean up, hoist and select instructions (half the compile time of O2 for the same code, evidence in
// docs/engine.md).
#include "jit/compile.hpp"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/PassTimingInfo.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "jit/counter_flow.hpp"
#include "jit/half_conversions.hpp"
#include "jit/half_operations.hpp"
#include "jit/integer_masks.hpp"
#include "jit/lane_questions.hpp"
#include "jit/llvm_analyses.hpp"
#include "jit/loop_alignment.hpp"
#include "jit/machine_passes.hpp"
#include "jit/masked_logic.hpp"
#include "jit/merged_checks.hpp"
#include "jit/narrow_lanes.hpp"
#include "jit/sign_masks.hpp"
#include "machine/fault.hpp"
#include "rt/helpers.hpp"

extern "C" {
// Conversions that LLVM calls by name and that live in the compiler's support library, not in a shared object.
float __extendhfsf2(_Float16);
_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);
}

namespace ordito::jit {
namespace {

constexpr const char* kPipeline =
    "function(sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,lane-questions,loop-alignment,"
    "simplifycfg<hoist-common-insts>,"
    "loop-mssa(loop-rotate,licm<allowspeculation>,simple-loop-unswitch<no-nontrivial;trivial>),"
    "gvn<no-memdep>,simplifycfg<hoist-common-insts;sink-common-insts>,loop-mssa(licm<allowspeculation>),adce,dse)";

// SSA form and good registers take more than linear time in the number of masked blocks (a value gets a phi at each of
// them): 5.3 s of 8.7 for a debug build's kernel with 32 calls of a hash map's functions, one third of that for half as
// many. So baseline code keeps its values in memory, as the emitter leaves them.
constexpr const char* kBaselinePipeline = "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg)";

/// From an offset into the code of a kernel to its line of PTX.
struct LineEntry {
  uint64_t offset;
  uint32_t line;
};

/// The line table of the object, as offsets from `symbol`, in order.
std::vector<LineEntry> readLines(llvm::MemoryBufferRef buffer, llvm::StringRef symbol) {
  auto object = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!object) {
    llvm::consumeError(object.takeError());
    return {};
  }
  uint64_t start = 0;
  for (const auto& s : (*object)->symbols()) {
    auto name = s.getName();
    auto address = s.getAddress();
    if (name && address && *name == symbol) start = *address;
    if (!name) llvm::consumeError(name.takeError());
    if (!address) llvm::consumeError(address.takeError());
  }
  std::vector<LineEntry> lines;
  auto dwarf = llvm::DWARFContext::create(**object);
  for (const auto& unit : dwarf->compile_units())
    if (const auto* table = dwarf->getLineTableForUnit(unit.get()))
      for (const auto& row : table->Rows)
        if (row.Address.Address >= start)
          lines.push_back({row.Address.Address - start, row.EndSequence ? 0 : row.Line});
  std::sort(lines.begin(), lines.end(), [](const LineEntry& a, const LineEntry& b) { return a.offset < b.offset; });
  return lines;
}

void registerLines(std::vector<LineEntry> lines, uintptr_t begin) {
  if (lines.empty()) return;
  const uintptr_t end = begin + lines.back().offset;
  machine::registerCodeRange(begin, end, [lines = std::move(lines), begin](uintptr_t pc) -> uint32_t {
    auto after = std::upper_bound(lines.begin(), lines.end(), pc - begin,
                                  [](uint64_t offset, const LineEntry& e) { return offset < e.offset; });
    while (after != lines.begin())
      if ((--after)->line) return after->line;  // line 0: code that LLVM made up
    return 0;
  });
}

std::string describe(llvm::Error error) {
  std::string text;
  llvm::raw_string_ostream(text) << error;
  return text;
}

/// LLVM met something in a kernel that it does not know how to go on with. It would end the process.
struct GivesUp {
  std::string reason;
};

[[noreturn]] void giveUp(void*, const char* reason, bool) { throw GivesUp{reason}; }

void prepareLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();  // of assembly in kernels (strided.cpp)
    llvm::install_fatal_error_handler(giveUp);
    // Scheduling takes quadratic time in the long blocks that kernels have. After register allocation out-of-order
    // hosts gain nothing by it; before, a shorter memory of the accesses that may conflict is enough. And there are
    // no variables to follow through the machine code, only lines, but the default way to follow them looks anyway.
    // Accesses on different paths do not become one at the paths' end: it would have no line, and could fault.
    const char* arguments[] = {"ordito",
                               "-post-RA-scheduler=false",
                               "-dag-maps-huge-region=100",
                               "-dag-maps-reduction-size=50",
                               "-experimental-debug-variable-locations=false",
                               "-enable-tail-merge=false"};
    llvm::cl::ParseCommandLineOptions(std::size(arguments), arguments);
  });
}

/// LLVM's code generator for one target, which a thread keeps: the tables that its machine makes of a function's
/// features, and the list of its passes, would be made anew for each kernel.
struct CodeGenerator {
  std::unique_ptr<llvm::TargetMachine> machine;
  llvm::SmallVector<char, 0> object;  // what the passes wrote
  llvm::raw_svector_ostream out{object};
  std::unique_ptr<llvm::legacy::PassManager> passes;  // made before the first kernel
};

/// A thread's code generators of the last target, by effort.
struct KeptGenerators {
  std::string name;
  std::array<std::unique_ptr<CodeGenerator>, 2> generators;
};
thread_local KeptGenerators kept;

CodeGenerator& generatorFor(const Target& target, Effort effort) {
  const std::string name = target.cpu + target.features;
  if (kept.name != name) kept = {name, {}};
  auto& generator = kept.generators[effort == Effort::Baseline];
  if (!generator) {
    generator = std::make_unique<CodeGenerator>();
    generator->machine = target.machine();
    // Without any optimisation LLVM cannot select instructions for all vectors that kernels need.
    generator->machine->setOptLevel(effort == Effort::Baseline ? llvm::CodeGenOptLevel::Less
                                                               : llvm::CodeGenOptLevel::Default);
  }
  return *generator;
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine, const CompileOptions& options) {
  llvm::PassInstrumentationCallbacks callbacks;
  // Only when asked for: it makes a group of timers, and their lock is a global that LLVM makes with the first of them.
  std::optional<llvm::TimePassesHandler> times;
  if (options.times) times.emplace(true).registerCallbacks(callbacks);
  llvm::PassBuilder builder(&machine, llvm::PipelineTuningOptions(), {}, &callbacks);
  LlvmAnalyses analyses(builder);
  builder.registerPipelineParsingCallback([](llvm::StringRef name, llvm::FunctionPassManager& manager, auto) {
    if (name == LaneQuestions::kName)
      manager.addPass(LaneQuestions());
    else if (name == LoopAlignment::kName)
      manager.addPass(LoopAlignment());
    else
      return false;
    return true;
  });
  llvm::ModulePassManager passes;
  llvm::cantFail(
      builder.parsePassPipeline(passes, options.effort == Effort::Optimised ? kPipeline : kBaselinePipeline));
  passes.run(module, analyses.modules);
}

/// Adds the passes of the code generator. Baseline code has its registers allocated block by block; LLVM has only a
/// switch for the whole process that asks for that, and looks at it while the passes are added.
bool addPasses(CodeGenerator& generator, Effort effort) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  auto& allocatesWell =
      *static_cast<llvm::cl::opt<llvm::cl::boolOrDefault>*>(llvm::cl::getRegisteredOptions()["optimize-regalloc"]);
  allocatesWell = effort == Effort::Baseline ? llvm::cl::BOU_FALSE : llvm::cl::BOU_UNSET;
  llvm::MCContext* context = nullptr;
  MachinePasses filter(*generator.passes, effort == Effort::Baseline);
  return !generator.machine->addPassesToEmitMC(filter, context, generator.out);
}

/// Runs the passes, which leave nothing of a module behind when they are done.
bool writeObject(llvm::Module& module, CodeGenerator& generator, const CompileOptions& options) {
  if (!generator.passes) {
    generator.passes = std::make_unique<llvm::legacy::PassManager>();
    if (!addPasses(generator, options.effort)) return false;
  }
  generator.object.clear();
  if (options.times) llvm::TimePassesIsEnabled = true;  // of the whole process: others only read it
  generator.passes->run(module);
  if (options.times) llvm::reportAndResetTimings();
  return true;
}

/// More than this, of the 8 MB that a thread has, no kernel's frame may take: it would end the process.
constexpr uint64_t kMostStack = 1 << 20;

/// The largest frame of a module's functions, of those that are larger than kMostStack.
class LargestFrame {
 public:
  explicit LargestFrame(llvm::Module& module)
      : context_(module.getContext()), before_(context_.getDiagnosticHandler()) {
    for (llvm::Function& f : module)
      if (!f.isDeclaration()) f.addFnAttr("warn-stack-size", std::to_string(kMostStack));
    context_.setDiagnosticHandler(std::make_unique<Handler>(bytes_));
  }
  ~LargestFrame() { context_.setDiagnosticHandler(std::move(before_)); }
  LargestFrame(const LargestFrame&) = delete;
  LargestFrame& operator=(const LargestFrame&) = delete;
  uint64_t bytes() const { return bytes_; }

 private:
  struct Handler : llvm::DiagnosticHandler {
    explicit Handler(uint64_t& bytes) : bytes(bytes) {}
    bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
      const auto* frame = llvm::dyn_cast<llvm::DiagnosticInfoStackSize>(&info);
      if (frame != nullptr) bytes = std::max(bytes, frame->getStackSize());
      return frame != nullptr;
    }
    uint64_t& bytes;
  };
  llvm::LLVMContext& context_;
  std::unique_ptr<llvm::DiagnosticHandler> before_;
  uint64_t bytes_ = 0;
};

/// SSA form can have as many phis as the emitter has values in memory times blocks.
uint64_t mostPhis(const llvm::Module& module) {
  uint64_t most = 0;
  for (const llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    const auto values = std::count_if(f.getEntryBlock().begin(), f.getEntryBlock().end(),
                                      [](const llvm::Instruction& i) { return llvm::isa<llvm::AllocaInst>(i); });
    most = std::max(most, static_cast<uint64_t>(values) * f.size());
  }
  return most;
}

Expected<std::string> generate(llvm::Module& module, const Target& target, const CompileOptions& options) {
  CodeGenerator& generator = generatorFor(target, options.effort);
  llvm::TargetMachine& machine = *generator.machine;
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple().str());
  if (options.dump) module.print(llvm::errs(), nullptr);
  std::string problem;
  llvm::raw_string_ostream problems(problem);
  if (llvm::verifyModule(module, &problems))
    return failWith(kNotSupported, "kernel '{}': internal error: the emitter made invalid LLVM IR: {}",
                    module.getModuleIdentifier(), problem.substr(0, problem.find('\n')));
  if (options.effort == Effort::Optimised && mostPhis(module) > options.mostPhis)
    return failWith(kNotSupported, "kernel '{}': optimised code would take gigabytes of memory to make",
                    module.getModuleIdentifier());
  optimise(module, machine, options);
  for (llvm::Function& f : module) {
    if (f.isDeclaration()) continue;
    mergeMisalignmentChecks(f);
    placeCounters(f);
    widenHalfOperations(f);
    takeNarrowLanes(f);
    if (!target.f16c) convertHalvesByIntegers(f);
    if (target.avx512) keepLogicUnmasked(f), keepMasksFromIntegers(f);
  }
  if (target.avx2 && !target.avx512)
    for (llvm::Function& f : module)
      if (!f.isDeclaration()) keepMasksAsWords(f);
  if (options.dump) module.print(llvm::errs(), nullptr);
  const LargestFrame frame(module);
  if (!writeObject(module, generator, options)) return fail("internal error: LLVM cannot emit code for this host");
  if (frame.bytes() != 0)
    return failWith(kNotSupported,
                    "kernel '{}': its code for this host takes {:.1f} MB of stack, more than a thread has",
                    module.getModuleIdentifier(), static_cast<double>(frame.bytes()) / (1 << 20));
  return std::string(generator.object.begin(), generator.object.end());
}

}  // namespace

Expected<std::string> compileToObject(OwnedModule& module, const Target& target, const CompileOptions& options) {
  prepareLlvm();
  const std::string name = module.code->getModuleIdentifier();
  try {
    return generate(*module.code, target, options);
  } catch (const GivesUp& failure) {
    // What stopped in the middle of its work is in no state to be destroyed.
    [[maybe_unused]] const std::tuple lost{module.code.release(), module.context.release(),
                                           kept.generators[options.effort == Effort::Baseline].release()};
    const std::string reason = failure.reason.substr(0, failure.reason.find('\n'));
    return failWith(kNotSupported,
                    "kernel '{}': LLVM cannot compile it for this host ({}); run with ORDITO_ENGINE=interp", name,
                    reason);
  }
}

class Linker {
 public:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::mutex mutex;
};

CodeStore::CodeStore() : linker_(std::make_unique<Linker>()) {}
CodeStore::~CodeStore() = default;

Expected<void*> CodeStore::link(std::string object, const std::string& symbol) {
  std::lock_guard lock(linker_->mutex);
  if (!linker_->jit) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto jit = llvm::orc::LLJITBuilder().create();
    if (!jit) return fail("internal error: {}", describe(jit.takeError()));
    linker_->jit = std::move(*jit);
    auto& library = linker_->jit->getMainJITDylib();
    llvm::orc::SymbolMap symbols;
    auto define = [&](std::string_view name, void* address) {
      symbols[linker_->jit->mangleAndIntern(llvm::StringRef(name.data(), name.size()))] = {
          llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    };
    for (auto [name, address] : rt::helperTable()) define(name, address);
    define("__extendhfsf2", reinterpret_cast<void*>(&__extendhfsf2));
    define("__truncsfhf2", reinterpret_cast<void*>(&__truncsfhf2));
    define("__truncdfhf2", reinterpret_cast<void*>(&__truncdfhf2));
    llvm::cantFail(library.define(llvm::orc::absoluteSymbols(std::move(symbols))));
    const char prefix = linker_->jit->getDataLayout().getGlobalPrefix();
    auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix);
    if (process)
      library.addGenerator(std::move(*process));
    else
      llvm::consumeError(process.takeError());
    for (const char* name : {"libsleef.so.3", "libm.so.6"}) {
      auto generator = llvm::orc::DynamicLibrarySearchGenerator::Load(name, prefix);
      if (generator)
        library.addGenerator(std::move(*generator));
      else
        llvm::consumeError(generator.takeError());
    }
  }
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), symbol);
  if (auto error = linker_->jit->addObjectFile(std::move(buffer)))
    return fail("internal error: {}", describe(std::move(error)));
  auto address = linker_->jit->lookup(symbol);
  if (!address) return fail("internal error: {}", describe(address.takeError()));
  registerLines(readLines({llvm::StringRef(object.data(), object.size()), symbol}, symbol), address->getValue());
  return address->toPtr<void*>();
}

}  // namespace ordito::jit
