// See image.hpp.
#include "driver/image.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <set>

#include "base/environment.hpp"
#include "driver/fatbin.hpp"
#include "ir/contraction.hpp"
#include "ptx/parser.hpp"
#include "ptx/verifier.hpp"

namespace ordito::driver {

namespace {

constexpr int kInvalidImage = 200, kInvalidPtx = 218;
constexpr uint32_t kElfMagic = 0x464c457f;

/// PTX text starts with white space, a comment or a directive. Reads no further than the first byte that settles it.
bool looksLikePtx(const char* text) {
  while (*text && std::isspace(static_cast<unsigned char>(*text))) ++text;
  return *text == '.' || (text[0] == '/' && (text[1] == '/' || text[1] == '*'));
}

/// ORDITO_TARGETS=strict: PTX for a younger GPU than the chosen one is refused, as a real driver does. Otherwise it
/// runs, since descriptions are of GPUs older than any that a compiler still writes code for, too.
bool isStrict() { return readEnvironment().targets == "strict"; }

/// Can a GPU of compute capability `capability` run code for `target`? With a suffix it is for that architecture alone.
bool suits(isa::Target target, uint32_t capability) {
  const int own = static_cast<int>(capability);
  return target.isSpecific ? target.sm == own : target.sm <= own;
}

/// `image` says how to compile; `name` is for messages.
Expected<ptx::Module> parseText(std::string_view text, const std::string& name, const Image& image,
                                uint32_t capability) {
  auto module = ptx::parse(text, name);
  if (!module)
    return tl::unexpected(Error{module.error().message, module.error().code ? module.error().code : kInvalidPtx});
  if (auto valid = ptx::verify(*module); !valid) return failWith(kInvalidPtx, "{}: {}", name, valid.error().message);
  if (isStrict() && !suits(module->isaTarget(), capability))
    return failWith(kInvalidPtx, "{}: this PTX is for {}, and the chosen GPU is an sm_{}; choose another with --gpu",
                    name, module->target, capability);
  if (image.contracts)
    ir::contractProducts(*module);
  else
    module->source.digest.add("products stay");  // caches go by the digest
  return module;
}

/// The entries with PTX of the architecture that suits best.
std::vector<const FatbinEntry*> choose(const std::vector<FatbinEntry>& entries, uint32_t capability) {
  std::vector<const FatbinEntry*> texts;
  for (const FatbinEntry& entry : entries)
    if (entry.kind == FatbinEntry::Kind::Ptx) texts.push_back(&entry);
  if (texts.empty()) return texts;
  uint32_t best = 0, lowest = ~0u;
  for (const FatbinEntry* entry : texts) {
    if (entry->arch <= capability) best = std::max(best, entry->arch);
    lowest = std::min(lowest, entry->arch);
  }
  if (best == 0 && isStrict()) return {};
  if (best == 0) best = lowest;
  std::erase_if(texts, [&](const FatbinEntry* entry) { return entry->arch != best; });
  return texts;
}

std::string describeWithoutPtx(const std::vector<FatbinEntry>& entries, uint32_t capability) {
  std::set<uint32_t> architectures;
  for (const FatbinEntry& entry : entries)
    if (entry.kind == FatbinEntry::Kind::Ptx && entry.arch > capability)
      return fmt::format("PTX for sm_{} and no older GPU, while the chosen one is an sm_{}", entry.arch, capability);
  for (const FatbinEntry& entry : entries)
    if (entry.kind == FatbinEntry::Kind::Elf) architectures.insert(entry.arch);
  if (architectures.empty()) return "no kernels that can run here";
  std::string list;
  for (uint32_t arch : architectures) list += fmt::format("{}sm_{}", list.empty() ? "" : ", ", arch);
  return "machine code for " + list + " only, and no PTX";
}

/// The device runtime's call that sets a condition of a graph, whose handle is the address of its number. XLA's kernels
/// declare it, and count on the driver to bring it.
constexpr const char* kSetsConditions = R"(
.version 6.3
.target sm_50
.address_size 64
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
  .reg .b32 %value;
  .reg .b64 %handle;
  ld.param.u64 %handle, [handle];
  ld.param.u32 %value, [value];
  st.volatile.u32 [%handle], %value;
  ret;
}
)";

bool setsConditions(const ptx::Module& module) {
  const auto isIt = [](const ptx::Function& f) { return f.name == "cudaGraphSetConditional"; };
  const auto found = std::find_if(module.functions.begin(), module.functions.end(), isIt);
  return found != module.functions.end() && !found->hasBody;
}

/// The device runtime that nvcc links into programs whose kernels launch kernels. It works by calls into NVIDIA's
/// driver; ours is in machine/device_runtime.cpp.
bool isDeviceRuntime(const FatbinEntry& entry) { return entry.ptx.find("__cuda_syscall_") != std::string::npos; }

Expected<ParsedImage> parseEntries(const std::vector<FatbinEntry>& entries, const Image& image, uint32_t capability) {
  ParsedImage parsed;
  std::vector<ptx::Module> modules;
  for (const FatbinEntry* entry : choose(entries, capability)) {
    if (isDeviceRuntime(*entry)) continue;
    auto module = parseText(entry->ptx, entry->name.empty() ? image.origin : entry->name, image, capability);
    if (!module) return tl::unexpected(module.error());
    modules.push_back(std::move(*module));
  }
  if (modules.empty()) {
    parsed.withoutPtx = describeWithoutPtx(entries, capability);
    return parsed;
  }
  auto linked = linkModules(std::move(modules));
  if (!linked) return tl::unexpected(linked.error());
  parsed.module = std::make_shared<const ptx::Module>(std::move(*linked));
  return parsed;
}

}  // namespace

size_t imageBytes(const void* data) {
  if (!data) return 0;
  if (beginsWithMagic(data, kWrapperMagic)) return 24;
  if (beginsWithMagic(data, kElfMagic)) return 64;
  if (size_t bytes = fatbinBytes(data)) return bytes;
  const auto* text = static_cast<const char*>(data);
  return looksLikePtx(text) ? std::strlen(text) : 0;
}

Expected<ParsedImage> parseImage(const Image& image, uint32_t capability) {
  if (!image.data || image.bytes == 0)
    return failWith(kInvalidImage, "{}: neither PTX text nor a fat binary", image.origin);
  if (image.bytes >= 4 && beginsWithMagic(image.data, kElfMagic)) {
    ParsedImage parsed;
    parsed.withoutPtx = "machine code (a cubin) only, and no PTX";
    return parsed;
  }
  auto invalid = [&](const Error& error) {
    return tl::unexpected(
        Error{fmt::format("{}: {}", image.origin, error.message), error.code ? error.code : kInvalidImage});
  };
  if (image.bytes >= 4 && beginsWithMagic(image.data, kWrapperMagic)) {
    auto entries = readFatbinWrapper(image.data);
    if (!entries) return invalid(entries.error());
    return parseEntries(*entries, image, capability);
  }
  std::span bytes(static_cast<const std::byte*>(image.data), image.bytes);
  if (isFatbin(bytes)) {
    auto entries = readFatbin(bytes);
    if (!entries) return invalid(entries.error());
    return parseEntries(*entries, image, capability);
  }
  std::string_view text(static_cast<const char*>(image.data), image.bytes);
  text = text.substr(0, text.find('\0'));
  auto module = parseText(text, image.origin, image, capability);
  if (!module) return tl::unexpected(module.error());
  if (setsConditions(*module)) {
    std::vector<ptx::Module> modules;
    modules.push_back(std::move(*module));
    module = ptx::parse(kSetsConditions, "the device runtime");
    if (module) modules.push_back(std::move(*module));
    module = linkModules(std::move(modules));
    if (!module) return tl::unexpected(module.error());
  }
  ParsedImage parsed;
  parsed.module = std::make_shared<const ptx::Module>(std::move(*module));
  return parsed;
}

}  // namespace ordito::driver
