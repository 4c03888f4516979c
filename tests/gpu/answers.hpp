// A GPU's answers on disk: one compressed file for each row of the instruction table.
//
// A file is a zstd frame. Inside: the device's name, then for each item its key, the fingerprint of its inputs and its
// results, whose bytes are regrouped by significance (all lowest bytes first, …), which compresses half as large again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "experiment.hpp"

namespace ordito::gpu {

struct Answer {
  uint64_t fingerprint = 0;
  std::vector<uint8_t> bytes;  // as in memory; empty: NVIDIA's compiler refuses the instruction
};

struct Answers {
  std::string device;
  std::map<std::string, Answer> byKey;
};

Expected<> writeAnswers(const std::string& path, const Answers& answers, const std::vector<Experiment>& experiments);
/// Nothing if there is no such file.
Expected<std::optional<Answers>> readAnswers(const std::string& path, const std::vector<Experiment>& experiments);

}  // namespace ordito::gpu
