// See compile.hpp. LLVM reads the text and the bitcode of older releases, typed pointers included, and upgrades both.
//
// LLVM keeps three switches of its back end for all the process, and ends the process at input that it cannot lower. So
// one compilation is under way at a time, and such an end is caught.
#include "libs/nvvm/compile.hpp"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Scalar/InferAddressSpaces.h>

#include <csetjmp>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/link_code.hpp"
#include "jit/llvm_analyses.hpp"
#include "libs/nvvm/inlined_lines.hpp"
#include "libs/nvvm/line_tables.hpp"
#include "libs/nvvm/old_intrinsics.hpp"

// In LLVM's shared library, whose header of targets lists more than we use.
extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace ordito::nvvm {
namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";

/// What LLVM says while it works on a context.
class Diagnostics {
 public:
  explicit Diagnostics(llvm::LLVMContext& context) {
    context.setDiagnosticHandlerCallBack(
        [](const llvm::DiagnosticInfo* info, void* self) { static_cast<Diagnostics*>(self)->hear(*info); }, this);
  }
  const std::string& errors() const { return errors_; }

 private:
  void hear(const llvm::DiagnosticInfo& info) {
    if (info.getSeverity() != llvm::DS_Error) return;
    llvm::raw_string_ostream out(errors_);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    out << '\n';
  }

  std::string errors_;
};

using ModulePointer = std::unique_ptr<llvm::Module>;

Expected<ModulePointer> parse(const Source& source, llvm::LLVMContext& context) {
  llvm::SMDiagnostic problem;
  const auto buffer = llvm::MemoryBuffer::getMemBufferCopy(source.bytes, source.name);
  ModulePointer module = llvm::parseIR(*buffer, problem, context);
  if (!module)  // in libNVVM's form
    return fail("{} ({}, {}): parse {}", source.name, problem.getLineNo(), problem.getColumnNo(),
                problem.getMessage().str());
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto replaced = replaceOldIntrinsics(*module); !replaced)
    return fail("{}: {}", source.name, replaced.error().message);
  if (llvm::verifyModule(*module, &out)) return fail("{}: {}", source.name, text);
  return module;
}

/// PTX for an older GPU runs on younger ones; LLVM 19 knows none after 90.
constexpr unsigned kYoungest = 90;

std::string knownArchitecture(const Options& options) {
  if (options.capability > kYoungest) return std::to_string(kYoungest);
  return std::to_string(options.capability) + (options.capability == kYoungest && options.suffix == "a" ? "a" : "");
}

std::unique_ptr<llvm::TargetMachine> targetMachine(const Options& options) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target) return nullptr;
  llvm::TargetOptions llvmOptions;
  llvmOptions.AllowFPOpFusion = options.fuses() ? llvm::FPOpFusion::Fast : llvm::FPOpFusion::Standard;
  const auto level = options.optimises ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::None;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      kTriple, "sm_" + knownArchitecture(options), "+ptx83", llvmOptions, llvm::Reloc::PIC_, std::nullopt, level));
}

// --- linking

std::set<std::string> definedIn(const llvm::Module& module) {
  std::set<std::string> names;
  for (const llvm::GlobalValue& value : module.global_values())
    if (!value.isDeclaration()) names.insert(value.getName().str());
  return names;
}

void makePrivate(llvm::Module& module, const std::set<std::string>& names) {
  for (const std::string& name : names)
    if (llvm::GlobalValue* value = module.getNamedValue(name); value && !value->isDeclaration())
      value->setLinkage(llvm::GlobalValue::InternalLinkage);
}

/// The modules as one, with the layout of the target. NVVM's own leaves out what LLVM says.
Expected<ModulePointer> link(const std::vector<Source>& sources, llvm::LLVMContext& context,
                             const llvm::TargetMachine& machine, const Diagnostics& diagnostics) {
  auto whole = std::make_unique<llvm::Module>("ordito", context);
  const auto prepare = [&](llvm::Module& module) {
    module.setTargetTriple(kTriple);
    module.setDataLayout(machine.createDataLayout());
  };
  prepare(*whole);
  for (const bool lazy : {false, true})
    for (const Source& source : sources) {
      if (source.isLazy != lazy) continue;
      auto module = parse(source, context);
      if (!module) return module;
      prepare(**module);
      const std::set<std::string> own = lazy ? definedIn(**module) : std::set<std::string>{};
      const std::set<std::string> earlier = definedIn(*whole);
      const unsigned how = lazy ? llvm::Linker::LinkOnlyNeeded : llvm::Linker::None;
      if (llvm::Linker::linkModules(*whole, std::move(*module), how)) return fail("{}", diagnostics.errors());
      std::set<std::string> brought;
      for (const std::string& name : own)
        if (!earlier.contains(name)) brought.insert(name);
      makePrivate(*whole, brought);
    }
  return whole;
}

// --- options

/// Inline PTX may ask which lanes are active, and a function that is not here may wait for others: neither may be moved
/// to where other lanes come, as one copy for two branches, say. LLVM takes it back where a body shows otherwise.
void keepInPlace(llvm::Function& function) {
  if (!function.isIntrinsic()) function.addFnAttr(llvm::Attribute::Convergent);
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      if (const auto* text = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()); text && text->hasSideEffects())
        call->setConvergent();
}

/// What the options mean for each function. Attributes that name a GPU would keep libdevice from being inlined.
void setAttributes(llvm::Module& module, const Options& options) {
  for (llvm::Function& function : module) {
    keepInPlace(function);
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
    if (options.flushesDenormals) function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
  }
  module.setModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", options.flushesDenormals ? 1u : 0u);
}

/// -prec-sqrt=0. LLVM's switch for it is heard by its own intrinsic only.
void approximateSquareRoots(llvm::Module& module, bool flushesDenormals) {
  llvm::Function* precise = module.getFunction("llvm.sqrt.f32");
  if (!precise) return;
  const auto kind = flushesDenormals ? llvm::Intrinsic::nvvm_sqrt_approx_ftz_f : llvm::Intrinsic::nvvm_sqrt_approx_f;
  precise->replaceAllUsesWith(llvm::Intrinsic::getDeclaration(&module, kind));
}

/// One of LLVM's own switches, as on its command line.
void setSwitch(const char* name, const char* value) {
  auto& all = llvm::cl::getRegisteredOptions();
  const auto found = all.find(name);
  if (found == all.end()) return;
  found->second->reset();
  found->second->addOccurrence(1, name, value);
}

/// -prec-div=0 is div.full, which errs by 2 units in the last place at most.
void setSwitches(const Options& options) {
  setSwitch("nvptx-prec-divf32", options.preciseDivision ? "2" : "1");
  setSwitch("nvptx-prec-sqrtf32", options.preciseSquareRoot ? "true" : "false");
  setSwitch("nvptx-fma-level", options.fuses() ? "2" : "0");
}

/// The NVVM IR Specification's names of a kernel's properties ("Global Property Annotation") that LLVM has others for.
void renameProperties(llvm::Module& module) {
  llvm::NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (!annotations) return;
  llvm::LLVMContext& context = module.getContext();
  for (unsigned at = 0; at < annotations->getNumOperands(); ++at) {
    const llvm::MDNode* node = annotations->getOperand(at);
    llvm::SmallVector<llvm::Metadata*> operands(node->op_begin(), node->op_end());
    for (llvm::Metadata*& operand : operands)
      if (const auto* name = llvm::dyn_cast_or_null<llvm::MDString>(operand);
          name && name->getString() == "cluster_max_blocks")
        operand = llvm::MDString::get(context, "maxclusterrank");
    annotations->setOperand(at, llvm::MDNode::get(context, operands));
  }
}

/// Nothing calls a kernel of the IR, so there is nothing that noinline could forbid.
std::string overrideNoinline(llvm::Module& module) {
  std::string warnings;
  const llvm::NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (!annotations) return warnings;
  for (const llvm::MDNode* node : annotations->operands()) {
    auto* kernel =
        node->getNumOperands() > 1 ? llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0)) : nullptr;
    const auto* name = kernel ? llvm::dyn_cast_or_null<llvm::MDString>(node->getOperand(1)) : nullptr;
    if (!name || name->getString() != "kernel" || !kernel->hasFnAttribute(llvm::Attribute::NoInline)) continue;
    warnings += fmt::format("warning: overriding noinline attribute of kernel {}\n", kernel->getName().str());
    if (!kernel->hasFnAttribute(llvm::Attribute::OptimizeNone)) kernel->removeFnAttr(llvm::Attribute::NoInline);
  }
  return warnings;
}

// --- the back end

void optimise(llvm::Module& module, llvm::TargetMachine& machine, const Options& options) {
  llvm::PassBuilder builder(&machine);
  // The back end infers spaces, too, but too late for what profits from them: alignments, and accesses side by side.
  builder.registerScalarOptimizerLateEPCallback([](llvm::FunctionPassManager& late, llvm::OptimizationLevel level) {
    if (level != llvm::OptimizationLevel::O0) late.addPass(llvm::InferAddressSpacesPass());
  });
  jit::LlvmAnalyses analyses(builder);
  llvm::ModulePassManager passes = options.optimises
                                       ? builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
                                       : builder.buildO0DefaultPipeline(llvm::OptimizationLevel::O0);
  passes.run(module, analyses.modules);
}

std::string bitcodeOfModule(const llvm::Module& module) {
  std::string bitcode;
  llvm::raw_string_ostream out(bitcode);
  llvm::WriteBitcodeToFile(module, out);
  return bitcode;
}

Expected<std::string> emit(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream out(ptx);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return fail("LLVM {} has no back end for NVIDIA's GPUs", LLVM_VERSION_STRING);
  passes.run(module);
  return std::string(ptx);
}

/// PTX ISA, "PTX Module Directives: .target": the first version that has the architecture; of those after LLVM's.
const char* firstVersion(const Options& options) {
  const unsigned sm = options.capability;
  if (sm == 110) return "9.0";
  if (options.suffix == "f" || sm == 103 || sm > 120) return "8.8";
  return sm == 120 ? "8.7" : "8.6";
}

/// Programs know PTX of libNVVM by the words in quotes.
constexpr const char* kHeader =
    "// Made by Ordito's libNVVM, whose readers may look for \"Generated by NVIDIA NVVM Compiler\" here.\n";

/// Says which architecture was asked for where LLVM compiled for an older one, with a version of PTX that has it.
std::string withTarget(std::string ptx, const Options& options) {
  const std::string known = knownArchitecture(options), asked = std::to_string(options.capability) + options.suffix;
  if (known == asked) return ptx;
  const std::string version = ".version 8.3", target = ".target sm_" + known;
  if (const size_t at = ptx.find(target); at != std::string::npos)
    ptx.replace(at, target.size(), ".target sm_" + asked);
  if (const size_t at = ptx.find(version); at != std::string::npos && options.capability > kYoungest)
    ptx.replace(at, version.size(), std::string(".version ") + firstVersion(options));
  return ptx;
}

/// LLVM's way to end at what it cannot lower, led back here, as its CrashRecoveryContext does. What was under way is
/// lost, and only its memory with it.
struct FatalError {
  std::jmp_buf place;
  std::string message;

  FatalError() {
    llvm::install_fatal_error_handler(
        [](void* self, const char* reason, bool) {
          static_cast<FatalError*>(self)->message = reason;
          std::longjmp(static_cast<FatalError*>(self)->place, 1);
        },
        this);
  }
  ~FatalError() { llvm::remove_fatal_error_handler(); }
};

Expected<Product> compileUnguarded(const std::vector<Source>& sources, const Options& options) {
  llvm::LLVMContext context;
  const Diagnostics diagnostics(context);
  const auto machine = targetMachine(options);
  if (!machine) return fail("LLVM {} was built without NVIDIA's GPUs", LLVM_VERSION_STRING);
  auto module = link(sources, context, *machine, diagnostics);
  if (!module) return tl::unexpected(module.error());
  if (!options.isDebug) keepLines(**module, options.hasLines);
  renameProperties(**module);
  const std::string warnings = overrideNoinline(**module);
  setAttributes(**module, options);
  if (!options.preciseSquareRoot) approximateSquareRoots(**module, options.flushesDenormals);
  setSwitches(options);
  optimise(**module, *machine, options);
  const std::string bitcode = options.isForLto ? bitcodeOfModule(**module) : std::string();
  const std::optional<InlinedLines> inlined =
      options.isDebug ? std::nullopt : std::optional<InlinedLines>(std::in_place, **module);
  auto ptx = emit(**module, *machine);
  if (!ptx) return tl::unexpected(ptx.error());
  if (inlined) ptx = inlined->written(*ptx);
  if (!diagnostics.errors().empty()) return fail("{}", diagnostics.errors());
  std::string made = kHeader + withTarget(std::move(*ptx), options);
  return Product{options.isForLto ? asLinkCode(made, bitcode) : std::move(made), warnings};
}

std::mutex& compilerMutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

Expected<> verify(const std::vector<Source>& sources) {
  const std::scoped_lock lock(compilerMutex());
  llvm::LLVMContext context;
  const Diagnostics diagnostics(context);
  for (const Source& source : sources) {
    auto module = parse(source, context);
    if (!module) return tl::unexpected(module.error());
    const std::string& triple = (*module)->getTargetTriple();
    if (!llvm::Triple(triple).isNVPTX())
      return fail("{}: Invalid target triple: it is '{}', and must begin with nvptx64", source.name, triple);
  }
  return {};
}

Expected<Product> compile(const std::vector<Source>& sources, const Options& options) {
  const std::scoped_lock lock(compilerMutex());
  auto fatal = std::make_unique<FatalError>();
  if (setjmp(fatal->place) != 0) return fail("LLVM cannot compile this: {}", fatal->message);
  return compileUnguarded(sources, options);
}

}  // namespace ordito::nvvm
