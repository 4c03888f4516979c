#include "experiment.hpp"

#include <cstring>

namespace ordito::gpu {

test::Buffer bufferOf(std::string name, isa::Type type, std::vector<uint64_t> values) {
  test::Buffer b;
  b.name = std::move(name);
  b.type = type;
  b.initial = std::move(values);
  return b;
}

std::vector<uint8_t> outputBytes(const std::vector<uint64_t>& words) {
  std::vector<uint8_t> bytes(4 * words.size());
  for (size_t k = 0; k < words.size(); ++k) std::memcpy(&bytes[4 * k], &words[k], 4);
  return bytes;
}

uint64_t fingerprintOf(const Experiment& experiment, const Item& item) {
  uint64_t h = experiment.fingerprint;
  for (const Results& r : item.results) h = (h ^ (static_cast<uint64_t>(r.type) << 32 | r.count)) * 0x100000001B3u;
  return h;
}

std::vector<Experiment> experimentsOf(isa::Op op, Spread spread) {
  std::vector<Experiment> all = pureExperiments(op, spread);
  if (spread == Spread::Uniform) return all;
  for (auto make : {warpExperiments, memoryExperiments, matrixExperiments})
    for (Experiment& e : make(op)) all.push_back(std::move(e));
  return all;
}

}  // namespace ordito::gpu
