#include "libs/device_code.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "driver/link_parts.hpp"
#include "ptx/parser.hpp"

namespace ordito::libs {
namespace {

constexpr uint32_t kYoungest = 1000;  // whatever the code was compiled for

}  // namespace

std::string PtxElement::parameter(const std::string& name) const {
  return isComplex ? fmt::format(".param .align {} .b8 {}[{}]", size(), name, size())
                   : fmt::format(".param .{}{} {}", letter, 8 * bytes, name);
}
std::string PtxElement::type() const { return fmt::format("{}.{}{}", isComplex ? ".v2" : "", letter, 8 * bytes); }
std::string PtxElement::registers(const std::string& name) const {
  return isComplex ? fmt::format("{{{0}0, {0}1}}", name) : name + "0";
}

std::string PtxFunction::declaration() const {
  std::string list;
  for (size_t i = 0; i < takes.size(); ++i) list += (i ? ", " : "") + takes[i].parameter("p" + std::to_string(i));
  return fmt::format(".extern .func ({}) {} ({});\n", gives.parameter("r"), symbol, list);
}

std::string PtxFunction::call(const std::vector<std::string>& from, const std::string& to) const {
  std::string text = "  {\n", list;
  for (size_t i = 0; i < takes.size(); ++i) {
    const std::string name = "p" + std::to_string(i);
    text += fmt::format("  {};\n  st.param{} [{}], {};\n", takes[i].parameter(name), takes[i].type(), name,
                        takes[i].registers(from[i]));
    list += (i ? ", " : "") + name;
  }
  return text + fmt::format("  {};\n  call (r), {}, ({});\n  ld.param{} {}, [r];\n  }}\n", gives.parameter("r"), symbol,
                            list, gives.type(), gives.registers(to));
}

bool DeviceCode::add(const void* image, size_t bytes) {
  const auto parts = driver::partsIn({static_cast<const std::byte*>(image), bytes}, kYoungest, true);
  if (!parts || parts->empty()) return false;
  parts_.insert(parts_.end(), parts->begin(), parts->end());
  return true;
}

std::optional<ptx::Function> DeviceCode::find(const std::vector<std::string>& names) const {
  for (const std::string& part : parts_) {
    const auto parsed = ptx::parse(part);
    if (!parsed) continue;
    for (const std::string& name : names)
      if (const ptx::Function* found = parsed->findFunction(name); found && found->hasBody && !found->isEntry)
        return *found;
  }
  return std::nullopt;
}

std::vector<std::string> namesOf(const std::string& name, const std::vector<std::string>& mangledParameters) {
  std::vector<std::string> names{name};
  for (const std::string& parameters : mangledParameters)
    names.push_back("_Z" + std::to_string(name.size()) + name + parameters);
  return names;
}

LinkedModule::LinkedModule(const DeviceCode& code) {
  const auto linked = driver::linkedPtx(code.parts());
  if (!linked || cuModuleLoadData(&module_, linked->c_str()) != CUDA_SUCCESS) module_ = nullptr;
}
LinkedModule::~LinkedModule() {
  if (module_) cuModuleUnload(module_);
}
CUfunction LinkedModule::function(const char* name) const {
  CUfunction function = nullptr;
  if (module_) cuModuleGetFunction(&function, module_, name);
  return function;
}

}  // namespace ordito::libs
