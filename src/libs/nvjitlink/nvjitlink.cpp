// libnvJitLink: joins parts of a program that were compiled one by one. The parts are PTX, alone or in fat binaries.
// Those for link-time optimisation become one of them first (optimiser.hpp). The product is a fat binary of them all,
// which the driver links by name when it loads it, as it does those of an executable (driver/link.cpp), so that what
// nobody defines is found out then; or, with -ptx, the linked PTX.
#include "nvJitLink.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/link_code.hpp"
#include "driver/fatbin.hpp"
#include "driver/link_parts.hpp"
#include "libs/handle_table.hpp"
#include "libs/nvjitlink/optimiser.hpp"
#include "ptx/parser.hpp"

namespace {

class Linker {
 public:
  nvJitLinkResult readOptions(std::span<const char* const> words) {
    for (const char* word : words)
      if (const nvJitLinkResult bad = readOption(word ? word : "")) return bad;
    if (arch_ == 0) return report(NVJITLINK_ERROR_MISSING_ARCH, "there is no -arch=sm_N among the options");
    if (makesPtx_ && !isForLto_)
      return report(NVJITLINK_ERROR_UNRECOGNIZED_OPTION, "-ptx is for link-time optimisation: -lto is missing");
    return NVJITLINK_SUCCESS;
  }

  nvJitLinkResult add(nvJitLinkInputType type, std::string bytes, const std::string& name) {
    const std::scoped_lock lock(mutex_);
    const std::span image(reinterpret_cast<const std::byte*>(bytes.data()), bytes.size());
    const bool mayBePtx = type == NVJITLINK_INPUT_PTX || type == NVJITLINK_INPUT_CUBIN ||
                          type == NVJITLINK_INPUT_LTOIR || type == NVJITLINK_INPUT_ANY;
    // Bitcode without our mark (link_code.hpp) is another's.
    if (type == NVJITLINK_INPUT_LTOIR && (bytes.starts_with("BC") || ordito::isForeignLinkCode(bytes)))
      return report(NVJITLINK_ERROR_INCORRECT_INPUT_TYPE,
                    name + ": this is intermediate code of another compiler; Ordito links PTX");
    if (const std::string_view bitcode = ordito::bitcodeOf(bytes);
        isForLto_ && !bitcode.empty() && ordito::nvjitlink::hasOptimiser()) {
      modules_.emplace_back(bitcode);
      return NVJITLINK_SUCCESS;
    }
    if (!mayBePtx && !ordito::driver::isFatbin(image) && !ordito::driver::isEmptyArchive(image))
      return report(NVJITLINK_ERROR_UNRECOGNIZED_INPUT, name + ": no fat binary, and PTX in no other form");
    auto parts = ordito::driver::partsIn(image, arch_, false);
    if (!parts)
      return report(parts.error().code == ordito::driver::kYoungerPtx ? NVJITLINK_ERROR_ARCH_MISMATCH
                                                                      : NVJITLINK_ERROR_UNRECOGNIZED_INPUT,
                    name + ": " + parts.error().message);
    for (std::string& part : *parts)
      if (const nvJitLinkResult bad = addPtx(std::move(part), name)) return bad;
    return NVJITLINK_SUCCESS;
  }

  nvJitLinkResult complete() {
    const std::scoped_lock lock(mutex_);
    if (parts_.empty() && modules_.empty()) parts_.push_back(emptyModule());
    if (const nvJitLinkResult bad = optimise()) return bad;
    if (!makesPtx_) {
      linked_ = ordito::driver::linkedImage(parts_);
      return NVJITLINK_SUCCESS;
    }
    auto ptx = ordito::driver::linkedPtx(parts_);
    if (!ptx) return report(NVJITLINK_ERROR_PTX_COMPILE, ptx.error().message);
    ptx_ = std::move(*ptx);
    return NVJITLINK_SUCCESS;
  }

  std::vector<std::byte> linked() const {
    const std::scoped_lock lock(mutex_);
    return linked_;
  }

  /// Empty unless -ptx asked for it.
  std::string ptx() const {
    const std::scoped_lock lock(mutex_);
    return ptx_;
  }

  std::string errors() const {
    const std::scoped_lock lock(mutex_);
    return errors_;
  }

 private:
  nvJitLinkResult report(nvJitLinkResult result, const std::string& message) {
    errors_ += "error: " + message + "\n";
    return result;
  }

  /// Nothing to link is no mistake.
  std::string emptyModule() const {
    return fmt::format(".version 8.0\n.target sm_{}\n.address_size 64\n", arch_ ? arch_ : 50);
  }

  /// The modules become one part.
  nvJitLinkResult optimise() {
    if (modules_.empty()) return NVJITLINK_SUCCESS;
    auto ptx = ordito::nvjitlink::optimised(std::exchange(modules_, {}), compilerOptions_);
    return ptx ? addPtx(std::move(*ptx), "the optimised parts")
               : report(NVJITLINK_ERROR_NVVM_COMPILE, ptx.error().message);
  }

  nvJitLinkResult readOption(std::string_view word) {
    constexpr std::array kWithoutEffect = {"-time",
                                           "-verbose",
                                           "-O",
                                           "-kernels-used",
                                           "-variables-used",
                                           "-optimize-unused-variables",
                                           "-Xptxas",
                                           "-Xnvvm",
                                           "-split-compile",
                                           "-split-compile-extended",
                                           "-no-cache",
                                           "-jump-table-density"};
    // What libNVVM is told, in its words.
    constexpr std::array kOfCompiler = {"-ftz", "-prec-div", "-prec-sqrt", "-fma"};
    const std::string_view name = word.substr(0, word.find('='));
    if (word == "-g") return compilerOptions_.emplace_back("-g"), NVJITLINK_SUCCESS;
    if (word == "-lineinfo") return compilerOptions_.emplace_back("-generate-line-info"), NVJITLINK_SUCCESS;
    if (word == "-O0") return compilerOptions_.emplace_back("-opt=0"), NVJITLINK_SUCCESS;
    if (std::find(kOfCompiler.begin(), kOfCompiler.end(), name) != kOfCompiler.end())
      return compilerOptions_.push_back(asFlag(name, word.substr(name.size()))), NVJITLINK_SUCCESS;
    if (name == "-arch" || name == "--gpu-architecture")
      return readArch(word.substr(std::min(name.size() + 1, word.size())));
    if (name == "-maxrregcount") return readRegisters(word.substr(std::min(name.size() + 1, word.size())));
    if (word == "-lto") return isForLto_ = true, NVJITLINK_SUCCESS;
    if (word == "-ptx") return makesPtx_ = true, NVJITLINK_SUCCESS;
    const bool isKnown = std::any_of(kWithoutEffect.begin(), kWithoutEffect.end(), [&](std::string_view known) {
      return name == known || (known == "-O" && name.starts_with("-O"));
    });
    return isKnown ? NVJITLINK_SUCCESS
                   : report(NVJITLINK_ERROR_UNRECOGNIZED_OPTION, fmt::format("unrecognized option {}", word));
  }

  /// `-ftz`, `-ftz=true`, `-ftz=1` are one.
  static std::string asFlag(std::string_view name, std::string_view value) {
    return fmt::format("{}={:d}", name, value != "=0" && value != "=false");
  }

  nvJitLinkResult readArch(std::string_view text) {
    const std::string digits(text.substr(std::min(text.find_first_of("0123456789"), text.size())));
    if (!(text.starts_with("sm_") || text.starts_with("compute_")) || digits.empty() || digits.size() > 4)
      return report(NVJITLINK_ERROR_UNRECOGNIZED_OPTION, fmt::format("-arch={}: no architecture", text));
    arch_ = static_cast<uint32_t>(std::stoul(digits));
    compilerOptions_.push_back(fmt::format("-arch=compute_{}", text.substr(text.find(digits))));
    return NVJITLINK_SUCCESS;
  }

  nvJitLinkResult readRegisters(std::string_view text) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mostRegisters_);
    if (error == std::errc{} && end == text.data() + text.size()) return NVJITLINK_SUCCESS;
    return report(NVJITLINK_ERROR_UNRECOGNIZED_OPTION, fmt::format("-maxrregcount={}: no number", text));
  }

  nvJitLinkResult addPtx(std::string ptx, const std::string& name) {
    auto module = ordito::ptx::parse(ptx, name);
    if (!module) return report(NVJITLINK_ERROR_PTX_COMPILE, module.error().message);
    parts_.push_back(mostRegisters_ ? ordito::driver::limitRegisters(std::move(*module), mostRegisters_)
                                    : std::move(ptx));
    return NVJITLINK_SUCCESS;
  }

  mutable std::mutex mutex_;
  uint32_t arch_ = 0, mostRegisters_ = 0;
  bool isForLto_ = false, makesPtx_ = false;
  std::vector<std::string> modules_, compilerOptions_;
  std::vector<std::string> parts_;
  std::vector<std::byte> linked_;
  std::string ptx_, errors_;
};

auto& linkers() {
  static auto* table = new ordito::libs::HandleTable<nvJitLinkHandle, Linker>;
  return *table;
}

nvJitLinkResult answerSize(const std::string& text, size_t* bytes) {
  if (!bytes) return NVJITLINK_ERROR_INVALID_INPUT;
  *bytes = text.size() + 1;
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult answerText(const std::string& text, char* to) {
  if (!to) return NVJITLINK_ERROR_INVALID_INPUT;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return NVJITLINK_SUCCESS;
}

}  // namespace

#define LINKER(linker, handle)                \
  const auto linker = linkers().find(handle); \
  if (!linker) return NVJITLINK_ERROR_INVALID_INPUT

/// The handle is there also after an error, so that its log can be read.
nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle* handle, uint32_t count, const char** options) {
  if (!handle || (count > 0 && !options)) return NVJITLINK_ERROR_INVALID_INPUT;
  auto linker = std::make_shared<Linker>();
  const nvJitLinkResult result = linker->readOptions({options, count});
  *handle = linkers().add(std::move(linker));
  return result;
}

nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle* handle) {
  if (!handle) return NVJITLINK_ERROR_INVALID_INPUT;
  if (!linkers().remove(*handle)) return NVJITLINK_ERROR_INVALID_INPUT;
  *handle = nullptr;
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void* data, size_t bytes,
                                 const char* name) {
  LINKER(linker, handle);
  if (!data || bytes == 0) return NVJITLINK_ERROR_INVALID_INPUT;
  return linker->add(type, std::string(static_cast<const char*>(data), bytes), name && *name ? name : "a part");
}

nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType type, const char* path) {
  LINKER(linker, handle);
  if (!path) return NVJITLINK_ERROR_INVALID_INPUT;
  std::ifstream file(path, std::ios::binary);
  if (!file) return NVJITLINK_ERROR_INVALID_INPUT;
  return linker->add(type, {std::istreambuf_iterator<char>(file), {}}, path);
}

nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle) {
  LINKER(linker, handle);
  return linker->complete();
}

nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t* bytes) {
  LINKER(linker, handle);
  const auto linked = linker->linked();
  if (!bytes || linked.empty()) return NVJITLINK_ERROR_INVALID_INPUT;
  *bytes = linked.size();
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* cubin) {
  LINKER(linker, handle);
  const auto linked = linker->linked();
  if (!cubin || linked.empty()) return NVJITLINK_ERROR_INVALID_INPUT;
  std::memcpy(cubin, linked.data(), linked.size());
  return NVJITLINK_SUCCESS;
}

nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t* bytes) {
  LINKER(linker, handle);
  const std::string ptx = linker->ptx();
  return ptx.empty() ? NVJITLINK_ERROR_LTO_NOT_ENABLED : answerSize(ptx, bytes);
}

nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char* to) {
  LINKER(linker, handle);
  const std::string ptx = linker->ptx();
  return ptx.empty() ? NVJITLINK_ERROR_LTO_NOT_ENABLED : answerText(ptx, to);
}

nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t* bytes) {
  LINKER(linker, handle);
  return answerSize(linker->errors(), bytes);
}

nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* log) {
  LINKER(linker, handle);
  return answerText(linker->errors(), log);
}

// There is nothing to tell but errors.
nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t* bytes) {
  LINKER(linker, handle);
  return answerSize({}, bytes);
}

nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char* log) {
  LINKER(linker, handle);
  return answerText({}, log);
}

nvJitLinkResult nvJitLinkVersion(unsigned int* major, unsigned int* minor) {
  if (!major || !minor) return NVJITLINK_ERROR_INVALID_INPUT;
  *major = 12;
  *minor = 3;
  return NVJITLINK_SUCCESS;
}
