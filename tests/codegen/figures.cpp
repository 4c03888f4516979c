// What the compiler makes of kernels, in figures: how many instructions go to LLVM and come back, and how many machine
// instructions of the kinds that cost most there are. An optimisation that no longer fires changes them, and no clock
// is needed to see it. Beside them, digests of what each step makes: equal digests say that a change changed nothing.
//
//   codegen_figures --cpu x86-64-v3 --block 256,1,1 [--block-of NAME=16,16,1 ...] [--digests] FILE.ptx ...
//
// prints a JSON object by kernel. NAME is a part of a kernel's name; the last one that fits decides.
#include <fmt/format.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrDesc.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/digest.hpp"
#include "ir/contraction.hpp"
#include "ir/print.hpp"
#include "jit/pipeline.hpp"
#include "ptx/parser.hpp"

namespace {

using namespace ordito;
using Json = nlohmann::ordered_json;

[[noreturn]] void stop(const std::string& message) {
  fmt::print(stderr, "codegen_figures: {}\n", message);
  std::exit(2);
}

template <class T>
T orStop(Expected<T> result) {
  if (!result) stop(result.error().message);
  return std::move(*result);
}

/// Reads machine code as LLVM's assembler wrote it.
class Disassembler {
 public:
  explicit Disassembler(const jit::Target& target) : machine_(target.machine()) {
    const llvm::Target& t = machine_->getTarget();
    context_ = std::make_unique<llvm::MCContext>(machine_->getTargetTriple(), machine_->getMCAsmInfo(),
                                                 machine_->getMCRegisterInfo(), machine_->getMCSubtargetInfo());
    decoder_.reset(t.createMCDisassembler(*machine_->getMCSubtargetInfo(), *context_));
    if (!decoder_) stop("LLVM has no disassembler for this host");
  }

  template <class F>
  void forEach(const std::string& object, F visit) const {
    auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(object, "kernel"));
    if (!file) stop("LLVM cannot read the object that it made");
    for (const llvm::object::SectionRef& section : (*file)->sections())
      if (section.isText()) decode(llvm::cantFail(section.getContents()), visit);
  }

  llvm::StringRef nameOf(const llvm::MCInst& i) const { return machine_->getMCInstrInfo()->getName(i.getOpcode()); }
  const llvm::MCInstrDesc& descriptionOf(const llvm::MCInst& i) const {
    return machine_->getMCInstrInfo()->get(i.getOpcode());
  }
  bool isOfStack(const llvm::MCInst& i) const {
    for (const llvm::MCOperand& o : i)
      if (o.isReg() && o.getReg()) {
        const llvm::StringRef name = machine_->getMCRegisterInfo()->getName(o.getReg());
        if (name == "RSP" || name == "RBP") return true;
      }
    return false;
  }

 private:
  template <class F>
  void decode(llvm::StringRef code, F visit) const {
    const llvm::ArrayRef<uint8_t> bytes(code.bytes_begin(), code.size());
    for (uint64_t at = 0, size = 1; at < bytes.size(); at += size) {
      llvm::MCInst instruction;
      if (decoder_->getInstruction(instruction, size, bytes.slice(at), at, llvm::nulls()) !=
          llvm::MCDisassembler::Success)
        stop(fmt::format("LLVM cannot read the instruction at {} that it made", at));
      visit(instruction);
    }
  }

  const std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> decoder_;
};

/// Of one kernel's machine code.
struct Counts {
  size_t instructions = 0, calls = 0, gathers = 0, scatters = 0, blends = 0, stackLoads = 0, stackStores = 0;
};

Counts countsOf(const std::string& object, const Disassembler& code) {
  Counts n;
  code.forEach(object, [&](const llvm::MCInst& i) {
    const llvm::StringRef name = code.nameOf(i);
    const llvm::MCInstrDesc& description = code.descriptionOf(i);
    if (name.starts_with("NOOP")) return;  // how far a loop is moved depends on what stands before it
    ++n.instructions;
    n.calls += description.isCall();
    n.gathers += name.contains("GATHER");
    n.scatters += name.contains("SCATTER");
    n.blends += name.contains("BLEND");
    const bool stack = (description.mayLoad() || description.mayStore()) && code.isOfStack(i);
    n.stackLoads += stack && description.mayLoad();
    n.stackStores += stack && description.mayStore();
  });
  return n;
}

std::string digestOf(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream, nullptr);
  return Digest().add(text).hex().substr(0, 16);
}

struct Settings {
  std::string cpu = "x86-64-v3";
  std::vector<uint32_t> block = {256, 1, 1};
  std::vector<std::string> blockOf, files;
  bool digests = false, unoptimised = false, counters = false;

  machine::Dim3 blockFor(const std::string& kernel) const {
    machine::Dim3 chosen{block[0], block[1], block[2]};
    for (const std::string& rule : blockOf) {
      const size_t equals = rule.find('=');
      machine::Dim3 b;
      if (equals == std::string::npos || std::sscanf(rule.c_str() + equals, "=%u,%u,%u", &b.x, &b.y, &b.z) != 3)
        stop(fmt::format("--block-of {}: expected NAME=X,Y,Z", rule));
      if (kernel.find(rule.substr(0, equals)) != std::string::npos) chosen = b;
    }
    return chosen;
  }
};

Json figures(const ptx::Module& module, const ptx::Function& kernel, const Settings& s, const jit::Target& target,
             const Disassembler& code) {
  const jit::Analysed analysed =
      orStop(jit::analyse(module, kernel, {s.blockFor(kernel.name), s.counters}, /*dump=*/false));
  jit::Emission emission = orStop(jit::emit(analysed, {}, target, "kernel", jit::Effort::Optimised));
  Json row;
  if (s.digests || s.unoptimised)
    row = {{"ir", Digest().add(ir::print(analysed.function)).hex().substr(0, 16)}, {"llvm", digestOf(*emission.code)}};
  if (s.unoptimised) return row;
  const size_t in = emission.code->getInstructionCount();
  const std::string object = orStop(jit::compileToObject(emission, target, {}));
  if (s.digests) {
    row["object"] = Digest().add(object).hex().substr(0, 16);
    return row;
  }
  const Counts n = countsOf(object, code);
  return {{"ptx", jit::instructionCount(analysed.function)},
          {"llvm_in", in},
          {"llvm_out", emission.code->getInstructionCount()},
          {"machine", n.instructions},
          {"gathers", n.gathers},
          {"scatters", n.scatters},
          {"blends", n.blends},
          {"stack_loads", n.stackLoads},
          {"stack_stores", n.stackStores},
          {"calls", n.calls}};
}

}  // namespace

int main(int argc, char** argv) {
  Settings s;
  CLI::App app{"What the compiler makes of kernels, in figures"};
  app.add_option("files", s.files, "PTX")->required()->check(CLI::ExistingFile);
  app.add_option("--cpu", s.cpu, "processor to compile for");
  app.add_option("--block", s.block, "threads in x, y and z")->delimiter(',')->expected(3);
  app.add_option("--block-of", s.blockOf, "NAME=X,Y,Z: of kernels with NAME in their name");
  app.add_flag("--digests", s.digests, "of our IR, LLVM's IR and the object, and no figures");
  app.add_flag("--unoptimised", s.unoptimised, "digests of our IR and of LLVM's before its passes, and nothing else");
  app.add_flag("--counters", s.counters, "with profiling compiled in");
  CLI11_PARSE(app, argc, argv);

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetDisassembler();
  jit::Target target = jit::Target::host(s.cpu);
  target.slowMaskedStores = false, target.cacheWays = 8;  // properties of the machine that runs the test
  const Disassembler code(target);
  Json all;
  for (const std::string& file : s.files) {
    std::ifstream stream(file);
    ptx::Module module = orStop(ptx::parse(std::string(std::istreambuf_iterator<char>(stream), {}), file));
    ir::contractProducts(module);
    for (const ptx::Function& kernel : module.functions)
      if (kernel.isEntry && kernel.hasBody) all[kernel.name] = figures(module, kernel, s, target, code);
  }
  fmt::print("{}\n", all.dump(1));
}
