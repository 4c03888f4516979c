// Reads GPU descriptions. See gpu.hpp.
#include "machine/gpu.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/environment.hpp"
#include "machine/gpu_files.hpp"

namespace ordito::machine {

namespace {

using Json = nlohmann::json;

/// Lower case, letters and digits only: "GeForce RTX 3090" → "geforcertx3090".
std::string simplified(std::string_view text) {
  std::string out;
  for (char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

void read(const Json& json, GpuDescription& g) {
  auto get = [&](const char* key, auto& member) { json.at(key).get_to(member); };
  get("name", g.name);
  get("aliases", g.aliases);
  get("architecture", g.architecture);
  json.at("compute_capability").at(0).get_to(g.computeMajor);
  json.at("compute_capability").at(1).get_to(g.computeMinor);
  get("memory_bytes", g.memoryBytes);
  get("multiprocessors", g.multiprocessors);
  get("cores_per_multiprocessor", g.coresPerMultiprocessor);
  get("clock_khz", g.clockKhz);
  get("memory_clock_khz", g.memoryClockKhz);
  get("memory_bus_bits", g.memoryBusBits);
  get("l2_bytes", g.l2Bytes);
  get("memory_bandwidth_gb_per_s", g.memoryBandwidthGbPerS);
  get("peak_float_tflops", g.peakFloatTflops);
  get("single_to_double_ratio", g.singleToDoubleRatio);
  get("shared_per_block", g.sharedPerBlock);
  get("shared_per_block_optin", g.sharedPerBlockOptin);
  get("shared_per_multiprocessor", g.sharedPerMultiprocessor);
  get("shared_reserved_per_block", g.sharedReservedPerBlock);
  get("registers_per_block", g.registersPerBlock);
  get("registers_per_multiprocessor", g.registersPerMultiprocessor);
  get("max_registers_per_thread", g.maxRegistersPerThread);
  get("threads_per_block", g.threadsPerBlock);
  get("threads_per_multiprocessor", g.threadsPerMultiprocessor);
  get("blocks_per_multiprocessor", g.blocksPerMultiprocessor);
  get("register_allocation_unit", g.registerAllocationUnit);
  get("warp_allocation_granularity", g.warpAllocationGranularity);
  get("shared_allocation_unit", g.sharedAllocationUnit);
  g.registerAllocationPerBlock = json.value("register_allocation_per_block", false);
  get("copy_engines", g.copyEngines);
  get("hardware_queues", g.hardwareQueues);
  get("resident_grids", g.residentGrids);
  get("ecc", g.ecc);
  get("watchdog", g.watchdog);
}

bool answersTo(const GpuDescription& gpu, const std::string& wanted) {
  if (simplified(gpu.id) == wanted || simplified(gpu.name) == wanted) return true;
  for (const std::string& alias : gpu.aliases)
    if (simplified(alias) == wanted) return true;
  // "GeForce RTX 3090": the name without its maker.
  return simplified(gpu.name) == "nvidia" + wanted;
}

Expected<GpuDescription> fromFile(const std::string& path) {
  std::ifstream in(path);
  if (!in) return fail("ORDITO_GPU: cannot read {}", path);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  size_t slash = path.rfind('/');
  std::string id = path.substr(slash == std::string::npos ? 0 : slash + 1);
  return parseGpu(text, id.substr(0, id.size() - 5));
}

}  // namespace

Expected<GpuDescription> parseGpu(std::string_view text, std::string id) {
  GpuDescription gpu;
  gpu.id = std::move(id);
  try {
    read(Json::parse(text), gpu);
  } catch (const Json::exception& e) {
    return fail("GPU description '{}': {}", gpu.id, e.what());
  }
  bool usable = gpu.multiprocessors && gpu.threadsPerBlock && gpu.blocksPerMultiprocessor && gpu.memoryBytes &&
                gpu.warpAllocationGranularity && gpu.threadsPerMultiprocessor >= 32;
  if (!usable) return fail("GPU description '{}': a limit is zero", gpu.id);
  return gpu;
}

const std::vector<GpuDescription>& knownGpus() {
  static const auto* all = [] {
    auto* list = new std::vector<GpuDescription>;
    for (const GpuFile& file : kGpuFiles)
      if (auto gpu = parseGpu(file.text, file.id)) list->push_back(std::move(*gpu));
    return list;
  }();
  return *all;
}

Expected<GpuDescription> findGpu(std::string_view name) {
  if (name.ends_with(".json")) return fromFile(std::string(name));
  std::string wanted = simplified(name);
  for (const GpuDescription& gpu : knownGpus())
    if (answersTo(gpu, wanted)) return gpu;
  std::string known;
  for (const GpuDescription& gpu : knownGpus()) known += (known.empty() ? "" : ", ") + gpu.id;
  return fail("no GPU is called '{}'; known are {}", name, known);
}

Expected<std::vector<GpuDescription>> findGpus(std::string_view names) {
  constexpr size_t kMost = 64;  // as many as a program can make out in a mask of devices
  std::vector<GpuDescription> found;
  for (size_t at = 0; at <= names.size();) {
    const size_t end = std::min(names.find(',', at), names.size());
    auto gpu = findGpu(names.substr(at, end - at));
    if (!gpu) return tl::unexpected(gpu.error());
    found.push_back(std::move(*gpu));
    at = end + 1;
  }
  if (found.size() > kMost) return fail("{} GPUs are more than the {} that there can be", found.size(), kMost);
  return found;
}

namespace {

const Expected<std::vector<GpuDescription>>& selection() {
  static const auto* selected = [] {
    const std::string names = readEnvironment().gpu;
    return new Expected<std::vector<GpuDescription>>(names.empty() ? std::vector{knownGpus().front()}
                                                                   : findGpus(names));
  }();
  return *selected;
}

}  // namespace

Expected<void> checkSelectedGpus() {
  if (!selection()) return fail("ORDITO_GPU: {}", selection().error().message);
  return {};
}

const std::vector<GpuDescription>& selectedGpus() {
  static const std::vector<GpuDescription> otherwise = {knownGpus().front()};
  return selection() ? *selection() : otherwise;
}

}  // namespace ordito::machine
