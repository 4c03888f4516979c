// gpu_record: asks a real GPU, through NVIDIA's driver and its PTX compiler, what each instruction of the table gives,
// and writes the answers. On a machine without a GPU it can write the kernels instead, to look at or to try on ptxas.
//
//   gpu_record --answers FOLDER [--jobs N] [ROW]...      all rows, or those named
//   gpu_record --ptx FOLDER [ROW]...
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

#include "answers.hpp"
#include "forms.hpp"
#include "gpu_case.hpp"

namespace ordito::gpu {
namespace {

/// The lines (from 1) of a module that NVIDIA's compiler complains about: "…, line 45; error : …".
std::set<size_t> refusedLines(const std::string& log) {
  std::set<size_t> lines;
  for (size_t at = 0; (at = log.find(", line ", at)) != std::string::npos; ++at)
    lines.insert(std::strtoul(log.c_str() + at + 7, nullptr, 10));
  return lines;
}

/// Takes the items out of an experiment's text that have a refused line; false if none has.
bool dropRefused(Experiment& e, const std::string& log, std::vector<std::string>& refused) {
  const std::set<size_t> lines = refusedLines(log);
  bool found = false;
  std::string& text = e.test.text;
  std::set<std::string> dropped;
  for (Item& i : e.items) {
    const size_t at = text.find(i.code);
    if (at == std::string::npos) continue;
    const size_t first = 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
    const size_t last = first + static_cast<size_t>(std::count(i.code.begin(), i.code.end(), '\n'));
    const auto line = lines.lower_bound(first);
    if (line != lines.end() && *line < last) dropped.insert(i.key);
  }
  for (Item& i : e.items) {
    if (!dropped.contains(i.key)) continue;
    if (const size_t at = text.find(i.code); at != std::string::npos) text.erase(at, i.code.size());
    refused.push_back(i.key);
    found = true;
  }
  return found;
}

/// Runs one experiment and files the answers; refused instructions are taken out and get an empty answer.
bool ask(Experiment e, Answers& answers) {
  std::vector<std::string> refused;
  test::Outcome o = test::outcomeOnGpu(e.test, e.launch);
  while (!o.error.empty() && dropRefused(e, o.error, refused)) o = test::outcomeOnGpu(e.test, e.launch);
  if (!o.error.empty()) {
    std::printf("FAIL %s: %s\n", e.name.c_str(), o.error.c_str());
    return false;
  }
  const std::vector<uint8_t> bytes = outputBytes(o.buffers.back());
  for (const Item& i : e.items) {
    Answer& a = answers.byKey[i.key];
    a.fingerprint = fingerprintOf(e, i);
    const bool isRefused = std::find(refused.begin(), refused.end(), i.key) != refused.end();
    const auto begin = bytes.begin() + static_cast<long>(i.begin());
    if (!isRefused) a.bytes.assign(begin, begin + static_cast<long>(i.bytes()));
    if (isRefused) std::printf("refused: %s\n", i.key.c_str());
  }
  return true;
}

bool record(isa::Op op, const std::string& folder) {
  const std::vector<Experiment> experiments = experimentsOf(op, Spread::PerLane);
  if (experiments.empty()) return true;
  if (!test::gpuAvailable()) return std::puts("no NVIDIA GPU here"), false;
  Answers answers;
  answers.device = test::gpuName();
  bool good = true;
  for (const Experiment& e : experiments) good &= ask(e, answers);
  auto written = writeAnswers(fmt::format("{}/{}.answers", folder, isa::info(op).name), answers, experiments);
  if (!written) std::printf("FAIL %s\n", written.error().message.c_str());
  std::printf("%s: %zu instructions\n", std::string(isa::info(op).name).c_str(), answers.byKey.size());
  std::fflush(stdout);
  return good && written;
}

bool writePtx(isa::Op op, const std::string& folder) {
  std::filesystem::create_directories(folder);
  for (const Experiment& e : experimentsOf(op, Spread::PerLane))
    std::ofstream(fmt::format("{}/{}.ptx", folder, e.name)) << e.test.text;
  return true;
}

/// Rows dealt out to processes, since each has a driver and a compiler of its own.
int run(const std::vector<isa::Op>& ops, unsigned jobs, const std::function<bool(isa::Op)>& work) {
  void* memory = mmap(nullptr, sizeof(std::atomic<size_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto* next = new (memory) std::atomic<size_t>{0};
  for (unsigned j = 0; j < jobs; ++j) {
    if (fork()) continue;
    bool good = true;
    for (size_t k; (k = (*next)++) < ops.size();) good &= work(ops[k]);
    std::fflush(stdout);
    _exit(good ? 0 : 1);
  }
  int failed = 0;
  for (int status = 0; wait(&status) > 0;) failed += status != 0;
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace ordito::gpu

int main(int argc, char** argv) {
  using namespace ordito;
  std::string answers, ptx;
  std::vector<std::string> rows;
  unsigned jobs = 1;
  CLI::App app{"Records what a GPU answers to each instruction"};
  app.add_option("--answers", answers, "the folder to write answers to");
  app.add_option("--ptx", ptx, "the folder to write kernels to");
  app.add_option("--jobs", jobs, "processes");
  app.add_option("rows", rows, "names of rows; all without");
  CLI11_PARSE(app, argc, argv);
  std::vector<isa::Op> ops;
  for (uint16_t k = 0; k < static_cast<uint16_t>(isa::Op::Count); ++k)
    if (!gpu::isForH200(static_cast<isa::Op>(k)))
      continue;
    else if (rows.empty() || std::find(rows.begin(), rows.end(), isa::kOps[k].name) != rows.end())
      ops.push_back(static_cast<isa::Op>(k));
  if (!ptx.empty()) return gpu::run(ops, jobs, [&](isa::Op op) { return gpu::writePtx(op, ptx); });
  return gpu::run(ops, jobs, [&](isa::Op op) { return gpu::record(op, answers); });
}
