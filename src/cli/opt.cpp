// `ordito opt`: the IR of a file's kernels, behind any of the passes, what the analyses find in it, and what the
// compiler plans for it. It is how a pass is looked at, and tested, alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "ir/contraction.hpp"
#include "ir/describe.hpp"
#include "ir/parse.hpp"
#include "ir/passes.hpp"
#include "ir/print.hpp"
#include "ir/sync_points.hpp"
#include "machine/layout.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"
#include "ptx/verifier.hpp"
#include "rt/lane_scheduler.hpp"
#include "simt/coarsening.hpp"
#include "simt/code_passes.hpp"
#include "simt/parse_code.hpp"
#include "simt/print.hpp"

namespace ordito::cli {
namespace {

struct OptOptions {
  std::string file, kernel, cpu = "x86-64-v3";
  std::vector<std::string> passes, print;
  std::vector<uint32_t> block;
  std::vector<unsigned> together;  // by region in turn; empty: as the plan chooses
  bool contracts = false, counters = false, accesses = false, baseline = false, times = false, byThread = false,
       contrary = false, trial = false;
};

[[noreturn]] void refuse(const std::string& message) {
  fmt::print(stderr, "ordito opt: {}\n", message);
  std::exit(2);
}

std::string contents(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) refuse(fmt::format("{}: no such file", path));
  return {std::istreambuf_iterator<char>(stream), {}};
}

template <class T>
T orRefuse(Expected<T> result) {
  if (!result) refuse(result.error().message);
  return std::move(*result);
}

/// Of PTX, each kernel in SSA form.
ir::Document fromPtx(const std::string& text, const std::string& path, const OptOptions& o) {
  ir::Document document;
  ptx::Module module = orRefuse(ptx::parse(text, path));
  if (auto ok = ptx::verify(module); !ok) refuse(path + ": " + ok.error().message);
  if (o.contracts) ir::contractProducts(module);
  document.module = std::make_unique<const ptx::Module>(std::move(module));
  for (const ptx::Function& f : document.module->functions) {
    if (!f.isEntry || !f.hasBody) continue;
    document.functions.push_back(orRefuse(ir::buildCfg(*document.module, f, {}, false, o.accesses || o.trial)));
    ir::buildSsa(document.functions.back());
  }
  return document;
}

/// SIMT code in a file: that of one kernel.
struct CodeText {
  std::string text;
  uint32_t line = 0;  // of the file, where it begins
};

/// What was read: kernels, and in a file of SIMT code the code of each.
struct Input {
  ir::Document document;
  std::vector<CodeText> code;
};

/// Separates the kernels' IR from the code behind each of them, which a comment with a pass's name begins: "//
/// build-code". Lines keep their numbers.
Input fromCode(const std::string& text, const std::string& path) {
  Input input;
  std::string kernels;
  std::istringstream lines(text);
  bool inCode = false;
  uint32_t number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    const bool begins = line.starts_with("// ") && simt::findCodePass(std::string_view(line).substr(3));
    if (begins) input.code.push_back({{}, number});
    inCode = begins || (inCode && !line.starts_with(".visible") && !line.starts_with(".entry"));
    if (inCode) input.code.back().text += line + "\n";
    kernels += (inCode ? "" : line) + "\n";
  }
  input.document = orRefuse(ir::parse(kernels, path));
  if (input.code.size() != input.document.functions.size())
    refuse(fmt::format("{}: {} kernels, but SIMT code of {} (a line such as '// build-code' begins each)", path,
                       input.document.functions.size(), input.code.size()));
  return input;
}

Input read(const OptOptions& o) {
  const std::string& path = o.file;
  const std::string text = contents(path);
  if (path.ends_with(".ptx")) return {fromPtx(text, path, o), {}};
  if (path.ends_with(".ir")) return {orRefuse(ir::parse(text, path)), {}};
  if (path.ends_with(".simt")) return fromCode(text, path);
  refuse(fmt::format("{}: expected a file whose name ends in .ptx, .ir or .simt", path));
}

template <class T>
std::string names(std::span<const T> list) {
  std::string text;
  for (const T& t : list) text += fmt::format("{}{}", text.empty() ? "" : ", ", t.name);
  return text;
}

void check(const ir::Function& f, std::string_view when) {
  if (auto ok = ir::verify(f); !ok) refuse(fmt::format("{}: {}", when, ok.error().message));
}

bool isPrinted(std::string_view name) { return ir::findAnalysis(name) || simt::findPart(name); }

/// What the plan of a kernel is made from, as the compiler would have it.
simt::Facts factsOf(const OptOptions& o, const ir::Analyses& analyses, const ir::SyncPoints& syncPoints,
                    const ir::LaunchShape& launch) {
  const ir::Function& f = analyses.function();
  simt::Facts facts;
  facts.launch = launch;
  facts.processor = *simt::processorNamed(o.cpu);
  facts.counters = o.counters;
  facts.accesses = o.accesses || o.trial;
  facts.trial = o.trial;
  facts.baseline = o.baseline;
  if (o.byThread) facts.byThread = simt::ByThread::Possible;
  if (o.contrary) facts.byThread = simt::ByThread::Contrary;
  facts.staticSharedBytes = machine::layoutKernel(*f.module, *f.kernel).staticSharedBytes;
  facts.schedulerBytes = rt::LaneScheduler::bytes(launch.warps());
  facts.coarsening = o.together.empty()
                         ? simt::factorsOf(simt::chooseCoarsening(analyses, syncPoints, facts))
                         : simt::CoarseningFactors::inTurn(o.together, syncPoints.resumePoints.size(), launch.warps());
  return facts;
}

/// The analyses and the parts of the plan that were asked for.
void describe(const OptOptions& o, const ir::Function& f, const ir::LaunchShape& launch) {
  const bool plans = std::ranges::any_of(o.print, [](const auto& name) { return simt::findPart(name) != nullptr; });
  const ir::Analyses analyses(f);
  const ir::SyncPoints syncPoints = plans ? ir::findSyncPoints(analyses, launch) : ir::SyncPoints();
  const auto kernel =
      plans ? std::make_unique<simt::Kernel>(analyses, syncPoints, factsOf(o, analyses, syncPoints, launch)) : nullptr;
  const auto plan = plans ? std::make_unique<simt::Plan>(simt::makePlan(*kernel)) : nullptr;
  for (const std::string& name : o.print) {
    const simt::Part* part = simt::findPart(name);
    fmt::print("// {}\n{}", name, part ? part->print(*plan) : ir::findAnalysis(name)->describe(f, launch));
  }
}

/// How long the compiler's passes take over the kernel, before LLVM's.
void showTimes(const OptOptions& o, const ir::Function& ssa, const ir::LaunchShape& launch) {
  PassTimes times;
  ir::Function f = ssa;
  for (const ir::Pass& pass : ir::passes()) times.time(pass.name, [&] { ir::runPass(pass, f, launch); });
  const ir::Analyses analyses(f);
  const auto syncPoints = times.time("sync-points", [&] { return ir::findSyncPoints(analyses, launch); });
  const auto facts = times.time("coarsening", [&] { return factsOf(o, analyses, syncPoints, launch); });
  const auto kernel = times.time("shapes", [&] { return simt::Kernel(analyses, syncPoints, facts); });
  makePlan(kernel, &times);
  fmt::print("// times of {}\n{}", f.kernel->name, times.print());
}

void show(const OptOptions& o, ir::Function& f, const ir::LaunchShape& launch) {
  check(f, o.file);
  if (o.times) return showTimes(o, f, launch);
  for (const std::string& name : o.passes) {
    ir::findPass(name)->run(f, launch);
    check(f, "internal error: behind " + name);
  }
  fmt::print("{}", ir::print(f));
  describe(o, f, launch);
}

/// The SIMT code that was read, as it is and behind each pass.
void showCode(const OptOptions& o, const ir::Function& f, const CodeText& text, const ir::LaunchShape& launch) {
  const ir::Analyses analyses(f);
  const ir::SyncPoints syncPoints = ir::findSyncPoints(analyses, launch);
  const simt::Kernel kernel(analyses, syncPoints, factsOf(o, analyses, syncPoints, launch));
  const simt::Plan plan = simt::makePlan(kernel);
  const simt::CodeInputs inputs = simt::codeInputsOf(plan);
  simt::Code code = orRefuse(simt::parseCode(text.text, o.file, text.line, inputs));
  fmt::print("{}", ir::print(f));
  if (o.print.empty()) fmt::print("{}\n{}", text.text.substr(0, text.text.find('\n')), print(code, plan.regions));
  for (const std::string& name : o.print) {
    const simt::CodePass* pass = simt::findCodePass(name);
    if (!pass) refuse(fmt::format("'{}' does not work on SIMT code; there are {}", name, names(simt::codePasses())));
    pass->run(code, inputs);
    fmt::print("// {}\n{}", name, print(code, plan.regions));
  }
}

/// Refuses names that nobody has; what only looks at the kernel is printed behind the passes, whichever option names
/// it.
void sortNames(OptOptions& o) {
  std::vector<std::string> printed;
  for (const std::string& name : o.passes) {
    if (isPrinted(name))
      printed.push_back(name);
    else if (!ir::findPass(name))
      refuse(fmt::format("no pass '{}'; there are {}; {}; {}", name, names(ir::passes()), names(ir::analyses()),
                         names(simt::parts())));
  }
  std::erase_if(o.passes, isPrinted);
  for (const std::string& name : o.print)
    if (!isPrinted(name))
      refuse(fmt::format("no analysis '{}'; there are {}; {}", name, names(ir::analyses()), names(simt::parts())));
  o.print.insert(o.print.begin(), printed.begin(), printed.end());
  if (!simt::processorNamed(o.cpu))
    refuse(fmt::format("no processor '{}'; plans are made for {}", o.cpu, simt::processorNames()));
}

void run(OptOptions o) {
  sortNames(o);
  ir::LaunchShape launch;
  for (size_t d = 0; d < o.block.size() && d < 3; ++d) launch.block[d] = o.block[d];
  auto [document, code] = read(o);
  fmt::print("{}", ptx::printDeclarations(*document.module));
  bool found = o.kernel.empty();
  for (size_t k = 0; k < document.functions.size(); ++k) {
    ir::Function& f = document.functions[k];
    if (!o.kernel.empty() && f.kernel->name != o.kernel) continue;
    found = true;
    code.empty() ? show(o, f, launch) : showCode(o, f, code[k], launch);
  }
  if (!found) refuse(fmt::format("{}: no kernel '{}'", o.file, o.kernel));
}

}  // namespace

void addOptCommand(CLI::App& app) {
  auto options = std::make_shared<OptOptions>();
  auto* opt = app.add_subcommand("opt", "Print the IR of kernels behind any of the compiler's passes");
  opt->add_option("file", options->file,
                  "kernels: PTX (.ptx), or as this command prints them, the IR (.ir) or SIMT code (.simt)")
      ->required();
  opt->add_option("--passes", options->passes,
                  "passes to run, in this order: " + names(ir::passes()) +
                      "; or parts of the plan to print: " + names(simt::parts()))
      ->delimiter(',');
  opt->add_flag("--contract", options->contracts, "of PTX: first fuse products into sums, as a GPU's compiler does");
  opt->add_option("--print", options->print, "analyses to print: " + names(ir::analyses()))->delimiter(',');
  opt->add_option("--block", options->block, "the block's shape, such as 16,16")->delimiter(',')->expected(1, 3);
  opt->add_option("--warps", options->together, "warps that advance together, by region in turn, such as 8,1")
      ->delimiter(',')
      ->check(CLI::Range(1, 32));
  opt->add_flag("--by-thread", options->byThread, "run thread by thread whatever can be");
  opt->add_flag("--contrary", options->contrary, "where estimates are close, choose the other way");
  opt->add_option("--cpu", options->cpu, "the processor to plan for: " + simt::processorNames());
  opt->add_flag("--counters", options->counters, "plan for code that counts what it does");
  opt->add_flag("--accesses", options->accesses,
                "for code that tells of each access, with room around local variables");
  opt->add_flag("--trial", options->trial, "for code that asks a trial of the launch about each access (ordito check)");
  opt->add_flag("--times", options->times,
                "print how long each of Ordito's passes takes instead (ORDITO_DUMP=times prints those of LLVM)");
  opt->add_flag("--baseline", options->baseline, "plan for as little code as possible");
  opt->add_option("--kernel", options->kernel, "this kernel only");
  opt->callback([options] { run(*options); });
}

}  // namespace ordito::cli
