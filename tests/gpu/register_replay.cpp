// register_replay: are our estimates of a kernel's registers near what ptxas gives it?
//
//   register_replay RECORDED FOLDER     FOLDER has the PTX files that RECORDED names
//
// RECORDED: a line for each kernel, with its file, its name and what ptxas reported for each of five architectures ("-"
// where it refuses the kernel). The test fails where the median error is above the bound, or where an estimate makes a
// block impossible that ptxas's number allows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ptx/parser.hpp"
#include "registers/estimate.hpp"

namespace ordito {
namespace {

constexpr std::array<uint32_t, 5> kArchitectures = {75, 80, 90, 100, 120};
constexpr double kMostMedian = 0.10;
/// Recorded kernels that are gone or that changed their name: more, and the recording is too old to tell anything.
constexpr double kMostMissing = 0.05;

struct Record {
  std::string file, kernel;
  std::array<uint32_t, kArchitectures.size()> registers{};  // 0: not known
};

std::vector<Record> readRecords(const std::string& path) {
  std::vector<Record> records;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Record& r = records.emplace_back();
    words >> r.file >> r.kernel;
    for (uint32_t& n : r.registers) {
      std::string word;
      words >> word;
      n = word == "-" ? 0 : static_cast<uint32_t>(std::strtoul(word.c_str(), nullptr, 10));
    }
  }
  return records;
}

/// Errors of one group of kernels on one architecture, as parts of the true number.
class Errors {
 public:
  void add(double error) { all_.push_back(std::abs(error)); }
  size_t size() const { return all_.size(); }
  double quantile(double q) {
    if (all_.empty()) return 0;
    std::sort(all_.begin(), all_.end());
    return all_[static_cast<size_t>(q * static_cast<double>(all_.size() - 1))];
  }

 private:
  std::vector<double> all_;
};

uint32_t threadsOf(const ptx::Function& kernel) {
  auto product = [](const uint32_t(&d)[3]) { return d[0] * std::max(d[1], 1u) * std::max(d[2], 1u); };
  const uint32_t bound = std::max(product(kernel.maxntid), product(kernel.reqntid));
  return bound ? bound : 1024;
}

class Replay {
 public:
  explicit Replay(std::string folder) : folder_(std::move(folder)) {}

  int run(const std::vector<Record>& records) {
    for (const Record& r : records) compare(r);
    print();
    const double median = all_.quantile(0.5);
    if (median > kMostMedian) fmt::print("the median error is above {:.0f} %\n", 100 * kMostMedian);
    if (missing_ > kMostMissing * static_cast<double>(records.size())) {
      fmt::print("{} of {} recorded kernels are not there: record again\n", missing_, records.size());
      return 1;
    }
    return median > kMostMedian || impossible_;
  }

 private:
  const ptx::Module* moduleOf(const std::string& file) {
    auto [at, isNew] = modules_.try_emplace(file);
    if (!isNew) return at->second.get();
    std::ifstream in(folder_ + "/" + file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (auto module = ptx::parse(text, file); module && !text.empty())
      at->second = std::make_unique<ptx::Module>(std::move(*module));
    return at->second.get();
  }

  void compare(const Record& r) {
    const ptx::Module* module = moduleOf(r.file);
    const ptx::Function* kernel = module ? module->findFunction(r.kernel) : nullptr;
    if (!kernel) {
      ++missing_;
      return;
    }
    const std::string group = r.file.substr(0, r.file.find('/'));
    for (size_t a = 0; a < kArchitectures.size(); ++a) {
      if (!r.registers[a]) continue;
      const auto target = registers::targetFor(kArchitectures[a]);
      const uint32_t ours = registers::estimate(*module, *kernel, target), truth = r.registers[a];
      const double error = (static_cast<double>(ours) - truth) / truth;
      groups_[group][a].add(error), all_.add(error);
      const uint32_t threads = threadsOf(*kernel);
      if (ours * threads <= target.registersPerBlock || truth * threads > target.registersPerBlock) continue;
      fmt::print("{} {} on sm_{}: {} registers, ptxas {}: {} threads fit no more\n", r.file, r.kernel,
                 kArchitectures[a], ours, truth, threads);
      ++impossible_;
    }
  }

  void print() {
    fmt::print("median and 90th percentile of the error, in percent (kernels)\n{:8}", "");
    for (uint32_t sm : kArchitectures) fmt::print(" {:>18}", fmt::format("sm_{}", sm));
    for (auto& [group, errors] : groups_) {
      fmt::print("\n{:8}", group);
      for (Errors& e : errors)
        fmt::print(" {:>18}",
                   fmt::format("{:.1f} {:.1f} ({})", 100 * e.quantile(0.5), 100 * e.quantile(0.9), e.size()));
    }
    fmt::print("\nall: {} numbers, median {:.1f}, 90th percentile {:.1f}; {} kernels missing\n", all_.size(),
               100 * all_.quantile(0.5), 100 * all_.quantile(0.9), missing_);
  }

  std::string folder_;
  std::map<std::string, std::unique_ptr<ptx::Module>> modules_;
  std::map<std::string, std::array<Errors, kArchitectures.size()>> groups_;
  Errors all_;
  size_t missing_ = 0, impossible_ = 0;
};

}  // namespace
}  // namespace ordito

int main(int argc, char** argv) {
  if (argc != 3) return fmt::print("usage: register_replay RECORDED FOLDER\n"), 2;
  const auto records = ordito::readRecords(argv[1]);
  if (records.empty()) return fmt::print("no kernels in {}\n", argv[1]), 2;
  return ordito::Replay(argv[2]).run(records);
}
