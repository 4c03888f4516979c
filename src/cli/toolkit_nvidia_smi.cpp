// cuda/bin/nvidia-smi: what scripts ask about the GPUs, answered by Ordito's management library in the form that
// NVIDIA's tool has: its table, -L, -q, and --query-gpu=FIELDS --format=csv[,noheader][,nounits]. What only a real card
// has (temperature, power, utilisation, fans) is [N/A], as for cards that lack a sensor.
#include <fmt/format.h>

#include <cstdio>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nvml.h"

namespace {

constexpr const char* kNone = "[N/A]";

std::string textOf(const std::function<nvmlReturn_t(char*, unsigned int)>& ask) {
  char text[NVML_DEVICE_NAME_V2_BUFFER_SIZE] = {};
  return ask(text, sizeof text) == NVML_SUCCESS ? text : kNone;
}

struct Gpu {
  unsigned int index;
  nvmlDevice_t device;

  std::string name() const {
    return textOf([&](char* to, unsigned int size) { return nvmlDeviceGetName(device, to, size); });
  }
  std::string uuid() const {
    return textOf([&](char* to, unsigned int size) { return nvmlDeviceGetUUID(device, to, size); });
  }
  nvmlPciInfo_t pci() const {
    nvmlPciInfo_t info{};
    nvmlDeviceGetPciInfo(device, &info);
    return info;
  }
  nvmlMemory_t memory() const {
    nvmlMemory_t memory{};
    nvmlDeviceGetMemoryInfo(device, &memory);
    return memory;
  }
  std::string capability() const {
    int major = 0, minor = 0;
    nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
    return fmt::format("{}.{}", major, minor);
  }
  std::string clock(nvmlClockType_t type) const {
    unsigned int megahertz = 0;
    return nvmlDeviceGetMaxClockInfo(device, type, &megahertz) == NVML_SUCCESS ? std::to_string(megahertz) : kNone;
  }
  std::string computeMode() const {
    nvmlComputeMode_t mode{};
    nvmlDeviceGetComputeMode(device, &mode);
    return mode == NVML_COMPUTEMODE_PROHIBITED          ? "Prohibited"
           : mode == NVML_COMPUTEMODE_EXCLUSIVE_PROCESS ? "Exclusive_Process"
                                                        : "Default";
  }
};

std::string mebibytes(unsigned long long bytes) { return std::to_string(bytes >> 20); }

std::string driverVersion() { return textOf(nvmlSystemGetDriverVersion); }

std::string cudaVersion() {
  int version = 0;
  nvmlSystemGetCudaDriverVersion(&version);
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string now(const char* format) {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  char text[64] = {};
  localtime_r(&time, &parts);
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

unsigned int deviceCount() {
  unsigned int count = 0;
  nvmlDeviceGetCount(&count);
  return count;
}

/// A field of --query-gpu by its names; one without `value` is there on a real card only.
struct Field {
  std::vector<std::string_view> names;
  const char* unit;
  std::function<std::string(const Gpu&)> value;
};

const std::vector<Field>& fields() {
  static const std::vector<Field> all = {
      {{"timestamp"}, "", [](const Gpu&) { return now("%Y/%m/%d %H:%M:%S.000"); }},
      {{"driver_version"}, "", [](const Gpu&) { return driverVersion(); }},
      {{"count"}, "", [](const Gpu&) { return std::to_string(deviceCount()); }},
      {{"name", "gpu_name"}, "", [](const Gpu& gpu) { return gpu.name(); }},
      {{"uuid", "gpu_uuid"}, "", [](const Gpu& gpu) { return gpu.uuid(); }},
      {{"index"}, "", [](const Gpu& gpu) { return std::to_string(gpu.index); }},
      {{"pci.bus_id", "gpu_bus_id"}, "", [](const Gpu& gpu) { return std::string(gpu.pci().busId); }},
      {{"pci.domain"}, "", [](const Gpu& gpu) { return fmt::format("0x{:04X}", gpu.pci().domain); }},
      {{"pci.bus"}, "", [](const Gpu& gpu) { return fmt::format("0x{:02X}", gpu.pci().bus); }},
      {{"pci.device"}, "", [](const Gpu& gpu) { return fmt::format("0x{:02X}", gpu.pci().device); }},
      {{"compute_cap"}, "", [](const Gpu& gpu) { return gpu.capability(); }},
      {{"compute_mode"}, "", [](const Gpu& gpu) { return gpu.computeMode(); }},
      {{"memory.total"}, "MiB", [](const Gpu& gpu) { return mebibytes(gpu.memory().total); }},
      {{"memory.used"}, "MiB", [](const Gpu& gpu) { return mebibytes(gpu.memory().used); }},
      {{"memory.free"}, "MiB", [](const Gpu& gpu) { return mebibytes(gpu.memory().free); }},
      {{"memory.reserved"}, "MiB", [](const Gpu&) { return std::string("0"); }},
      {{"clocks.max.sm"}, "MHz", [](const Gpu& gpu) { return gpu.clock(NVML_CLOCK_SM); }},
      {{"clocks.max.graphics", "clocks.max.gr"}, "MHz", [](const Gpu& gpu) { return gpu.clock(NVML_CLOCK_GRAPHICS); }},
      {{"clocks.max.memory", "clocks.max.mem"}, "MHz", [](const Gpu& gpu) { return gpu.clock(NVML_CLOCK_MEM); }},
      {{"clocks.current.sm", "clocks.sm"}, "MHz", [](const Gpu& gpu) { return gpu.clock(NVML_CLOCK_SM); }},
      {{"clocks.current.graphics", "clocks.gr"}, "MHz", [](const Gpu& gpu) { return gpu.clock(NVML_CLOCK_GRAPHICS); }},
      {{"clocks.current.memory", "clocks.mem"}, "MHz", [](const Gpu& gpu) { return gpu.clock(NVML_CLOCK_MEM); }},
      {{"temperature.gpu"}, "", {}},
      {{"temperature.memory"}, "", {}},
      {{"utilization.gpu"}, "%", {}},
      {{"utilization.memory"}, "%", {}},
      {{"power.draw"}, "W", {}},
      {{"power.limit"}, "W", {}},
      {{"power.max_limit"}, "W", {}},
      {{"fan.speed"}, "%", {}},
      {{"pstate"}, "", {}},
      {{"serial", "gpu_serial"}, "", {}},
      {{"vbios_version"}, "", {}},
      {{"persistence_mode"}, "", {}},
      {{"display_mode"}, "", {}},
      {{"display_active"}, "", {}},
      {{"mig.mode.current"}, "", {}},
      {{"ecc.mode.current"}, "", {}},
      {{"pcie.link.gen.current"}, "", {}},
      {{"pcie.link.gen.max"}, "", {}},
      {{"pcie.link.width.current"}, "", {}},
      {{"pcie.link.width.max"}, "", {}},
  };
  return all;
}

const Field* find(std::string_view name) {
  for (const Field& field : fields())
    for (const std::string_view known : field.names)
      if (known == name) return &field;
  return nullptr;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.emplace_back(part);
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

struct Options {
  bool isList = false, isFull = false, isHelp = false, isFieldHelp = false;
  std::optional<std::string> query;
  std::string format;
  std::string id;  // an index, a UUID or a bus number; empty: all
};

int queryGpus(const Options& options, const std::vector<Gpu>& gpus) {
  bool isCsv = false, hasHeader = true, hasUnits = true;
  for (const std::string& word : split(options.format)) {
    isCsv |= word == "csv";
    hasHeader &= word != "noheader";
    hasUnits &= word != "nounits";
  }
  if (!isCsv) {
    fmt::print(stderr, "\"--format=\" switch is missing. Please run nvidia-smi --help\n");
    return 2;
  }
  const std::vector<std::string> names = split(*options.query);
  std::vector<std::string> titles;
  for (const std::string& name : names) {
    const Field* field = find(name);
    if (!field) {
      fmt::print("Field \"{}\" is not a valid field to query.\n\n", name);
      return 2;
    }
    titles.push_back(*field->unit ? fmt::format("{} [{}]", name, field->unit) : name);
  }
  if (hasHeader) fmt::print("{}\n", fmt::join(titles, ", "));
  for (const Gpu& gpu : gpus) {
    std::vector<std::string> values;
    for (const std::string& name : names) {
      const Field* field = find(name);
      std::string value = field->value ? field->value(gpu) : kNone;
      if (value != kNone && *field->unit && hasUnits) value += fmt::format(" {}", field->unit);
      values.push_back(std::move(value));
    }
    fmt::print("{}\n", fmt::join(values, ", "));
  }
  return 0;
}

void list(const std::vector<Gpu>& gpus) {
  for (const Gpu& gpu : gpus) fmt::print("GPU {}: {} (UUID: {})\n", gpu.index, gpu.name(), gpu.uuid());
}

void printTable(const std::vector<Gpu>& gpus) {
  const std::string line = fmt::format("+{:-<89}+\n", "");
  auto row = [](const std::string& left, const std::string& middle, const std::string& right) {
    fmt::print("| {:<40.40} | {:<20.20} | {:>21.21} |\n", left, middle, right);
  };
  fmt::print("{}\n{}", now("%a %b %e %H:%M:%S %Y"), line);
  fmt::print("| {:<87} |\n", fmt::format("NVIDIA-SMI {:<20} Driver Version: {:<18} CUDA Version: {}", driverVersion(),
                                         driverVersion(), cudaVersion()));
  fmt::print("{}", line);
  row("GPU  Name", "Bus-Id", "Memory-Usage");
  row("Fan  Temp   Perf   Pwr:Usage/Cap", "Compute capability", "GPU-Util  Compute M.");
  fmt::print("{}", line);
  for (const Gpu& gpu : gpus) {
    const nvmlMemory_t memory = gpu.memory();
    const std::string used = fmt::format("{}MiB / {}MiB", mebibytes(memory.used), mebibytes(memory.total));
    row(fmt::format("{:>3}  {}", gpu.index, gpu.name()), gpu.pci().busId, used);
    row("N/A   N/A    N/A       N/A /  N/A", gpu.capability(), "N/A      " + gpu.computeMode());
    fmt::print("{}", line);
  }
  fmt::print("These GPUs are Ordito's, on this machine's processor.\n");
}

void printFull(const std::vector<Gpu>& gpus) {
  auto row = [](size_t depth, std::string_view name, std::string_view value) {
    const size_t indent = 4 * depth;
    fmt::print("{}\n", fmt::format("{:{}}{:<{}} : {}", "", indent, name, 50 - indent, value));
  };
  fmt::print("\n==============NVSMI LOG==============\n\n");
  row(0, "Timestamp", now("%a %b %e %H:%M:%S %Y"));
  row(0, "Driver Version", driverVersion());
  row(0, "CUDA Version", cudaVersion());
  fmt::print("\n");
  row(0, "Attached GPUs", std::to_string(deviceCount()));
  for (const Gpu& gpu : gpus) {
    const nvmlMemory_t memory = gpu.memory();
    fmt::print("GPU {}\n", gpu.pci().busId);
    row(1, "Product Name", gpu.name());
    row(1, "GPU UUID", gpu.uuid());
    row(1, "Minor Number", std::to_string(gpu.index));
    fmt::print("    FB Memory Usage\n");
    row(2, "Total", mebibytes(memory.total) + " MiB");
    row(2, "Used", mebibytes(memory.used) + " MiB");
    row(2, "Free", mebibytes(memory.free) + " MiB");
    row(1, "Compute Mode", gpu.computeMode());
    fmt::print("    Max Clocks\n");
    row(2, "SM", gpu.clock(NVML_CLOCK_SM) + " MHz");
    row(2, "Memory", gpu.clock(NVML_CLOCK_MEM) + " MHz");
    fmt::print("\n");
  }
}

void printHelp() {
  fmt::print(
      "nvidia-smi of Ordito: tells of the GPUs that programs see (ORDITO_GPU chooses them).\n\n"
      "nvidia-smi                  a table\n"
      "nvidia-smi -L, --list-gpus  a line for each GPU\n"
      "nvidia-smi -q, --query      what is known of each GPU\n"
      "nvidia-smi --query-gpu=FIELD,... --format=csv[,noheader][,nounits]\n"
      "nvidia-smi --help-query-gpu the fields\n"
      "    -i, --id=ID             only the GPU with that index, UUID or bus number\n");
}

void printFields() {
  for (const Field& field : fields())
    fmt::print("\"{}\"{}\n", fmt::join(field.names, "\" or \""), field.value ? "" : ": [N/A] here");
}

/// An option with a value, as `name=value` or `name value`.
bool takesValue(const std::vector<std::string>& arguments, size_t& i, std::string_view name, std::string& value) {
  const std::string& argument = arguments[i];
  if (argument == name && i + 1 < arguments.size()) return value = arguments[++i], true;
  if (!argument.starts_with(name) || argument.size() <= name.size() || argument[name.size()] != '=') return false;
  return value = argument.substr(name.size() + 1), true;
}

/// Nothing if an argument is unknown, which is told.
std::optional<Options> parse(const std::vector<std::string>& arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    std::string query;
    if (argument == "-L" || argument == "--list-gpus")
      options.isList = true;
    else if (argument == "-q" || argument == "--query")
      options.isFull = true;
    else if (argument == "-h" || argument == "--help")
      options.isHelp = true;
    else if (argument == "--help-query-gpu")
      options.isFieldHelp = true;
    else if (takesValue(arguments, i, "--query-gpu", query))
      options.query = query;
    else if (!takesValue(arguments, i, "--format", options.format) && !takesValue(arguments, i, "-i", options.id) &&
             !takesValue(arguments, i, "--id", options.id)) {
      fmt::print(
          "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n"
          "(Ordito's nvidia-smi does not know {}.)\n",
          argument);
      return std::nullopt;
    }
  }
  return options;
}

std::vector<Gpu> chosenGpus(const std::string& id) {
  std::vector<Gpu> gpus;
  for (unsigned int i = 0; i < deviceCount(); ++i) {
    Gpu gpu{i, nullptr};
    if (nvmlDeviceGetHandleByIndex(i, &gpu.device) != NVML_SUCCESS) continue;
    if (id.empty() || id == std::to_string(i) || id == gpu.uuid() || id == gpu.pci().busId) gpus.push_back(gpu);
  }
  return gpus;
}

}  // namespace

int main(int count, char** values) {
  const auto options = parse(std::vector<std::string>(values + 1, values + count));
  if (!options) return 2;
  if (options->isHelp) return printHelp(), 0;
  if (options->isFieldHelp) return printFields(), 0;
  if (nvmlInit() != NVML_SUCCESS || deviceCount() == 0) {
    fmt::print("No devices were found\n");
    return 6;
  }
  const std::vector<Gpu> gpus = chosenGpus(options->id);
  if (gpus.empty()) {
    fmt::print("No devices were found\n");
    return 6;
  }
  int status = 0;
  if (options->query)
    status = queryGpus(*options, gpus);
  else if (options->isList)
    list(gpus);
  else if (options->isFull)
    printFull(gpus);
  else
    printTable(gpus);
  nvmlShutdown();
  return status;
}
