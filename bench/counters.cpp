#include "counters.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "measure.hpp"

namespace ordito::bench {

namespace {

constexpr int alternations = 3;

std::string outputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start: " + command);
  std::string output;
  std::array<char, 4096> chunk{};
  for (std::size_t read = 0; (read = fread(chunk.data(), 1, chunk.size(), pipe)) > 0;)
    output.append(chunk.data(), read);
  if (const int status = pclose(pipe); status != 0)
    throw std::runtime_error(fmt::format("status {} from: {}", WEXITSTATUS(status), command));
  return output;
}

/// Milliseconds of each round of a child that runs one case with Ordito alone: "wall_ms" or, of all its threads,
/// "cpu_ms". `environment` goes in front of the command, as in a shell.
std::vector<double> childTimes(const std::string& environment, const std::string& caseName, int rounds, int threads,
                               const char* kind) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = fmt::format("{} '{}' --json --contenders ordito --only {} --rounds {} --threads {}",
                                          environment, self, caseName, rounds, threads, "wall_ms");
  const nlohmann::json document = nlohmann::json::parse(outputOf(command));
  const nlohmann::json& timing = document.at("cases").at(0).at("contenders").at(0);
  if (timing.contains("failure")) throw std::runtime_error(timing.at("failure").get<std::string>());
  return timing.at(kind).get<std::vector<double>>();
}

}  // namespace

CheckerCost measureChecker(const std::string& caseName, int rounds, int limitSeconds) {
  const std::string findings = (std::filesystem::temp_directory_path() / "ordito-bench-findings").string();
  const auto checked = [&](int followsValues) -> std::optional<double> {
    try {
      return median(childTimes(fmt::format("env ORDITO_THREADS=1 ORDITO_CHECK='{}' ORDITO_CHECK_VALUES={} timeout {}",
                                           findings, followsValues, limitSeconds),
                               caseName, rounds, 1, "cpu_ms"));
    } catch (const std::runtime_error&) {
      return std::nullopt;
    }
  };
  return {median(childTimes("env -u ORDITO_CHECK ORDITO_THREADS=1", caseName, rounds, 1, "cpu_ms")), checked(0),
          checked(1)};
}

CountersCost measureCounters(const std::string& caseName, int rounds, int threads) {
  const std::string profile =
      fmt::format("ORDITO_PROFILE='{}'", (std::filesystem::temp_directory_path() / "ordito-bench-profile").string());
  std::vector<double> off, on;
  for (int i = 0; i < alternations; ++i) {
    const std::vector<double> plain = childTimes("env -u ORDITO_PROFILE", caseName, rounds, threads, "wall_ms");
    const std::vector<double> counted = childTimes(profile, caseName, rounds, threads, "wall_ms");
    off.insert(off.end(), plain.begin(), plain.end());
    on.insert(on.end(), counted.begin(), counted.end());
  }
  return {median(off), median(on)};
}

}  // namespace ordito::bench
