// The names of what is static, in PTX that the host loads by names: what NVRTC makes, and `nvcc -ptx`.
//
// NVIDIA's compilers call a static variable or kernel of a file as if it were not static, where clang marks it (`_ZL`).
// An unnamed namespace has the name of the unit, and so has the place of a static variable in a namespace:
//
//   static __device__ int count;                    count
//   static __global__ void k(int*);                 _Z1kPi
//   namespace { __global__ void k(int*); }          _ZN35_GLOBAL__N__UNIT1kEPi
//   namespace app { static __device__ int count; }  _ZN33_INTERNAL_UNIT3app5countE
//
// With -rdc=true nvcc, but not NVRTC, puts `__nv_static_25__UNIT_` before each. The unit's name has two numbers around
// the file's (`00000000_4_k_cu_12345678`); nobody can know it beforehand.
//
// No other unit sees these names, so they are internal ones. But the host does: what it may write keeps its value, and
// kernels and variables stay where they are.
//
// Only a module with the variable kMark is treated so (compile.cpp puts it there); in an executable the names are what
// the host's part calls them.
#include "frontend/static_names_pass.hpp"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <optional>
#include <string>

namespace {

using namespace llvm;

constexpr char kMark[] = "__ordito_static_names";
constexpr char kUnnamed[] = "_GLOBAL__N_1";
constexpr unsigned kGlobalSpace = 1, kConstantSpace = 4;

struct Scheme {
  std::string prefix, unit;
};

/// The mark's text is `PREFIX|UNIT`.
std::optional<Scheme> takeScheme(Module& module) {
  GlobalVariable* mark = module.getNamedGlobal(kMark);
  if (!mark || !mark->hasInitializer()) return std::nullopt;
  const auto* text = dyn_cast<ConstantDataSequential>(mark->getInitializer());
  if (!text || !text->isCString()) return std::nullopt;
  const auto [prefix, unit] = text->getAsCString().split('|');
  Scheme scheme{prefix.str(), unit.str()};
  mark->eraseFromParent();
  return scheme;
}

std::string component(const std::string& name) { return std::to_string(name.size()) + name; }

/// A mangled name's own part: `_ZN3appL4deepE` is `3app`, `4deep` and the rest `E`.
struct Mangled {
  bool isNested = false, isStatic = false;
  std::string components;
  std::string rest;
};

std::optional<Mangled> parse(StringRef name, const Scheme& scheme) {
  Mangled out;
  if (!name.consume_front("_Z")) return std::nullopt;
  out.isNested = name.consume_front("N");
  do {
    out.isStatic |= name.consume_front("L");
    size_t length = 0;
    if (name.consumeInteger(10, length) || length > name.size()) return std::nullopt;
    const bool isUnnamed = name.take_front(length) == kUnnamed;
    out.isStatic |= isUnnamed;
    out.components += component(isUnnamed ? "_GLOBAL__N__" + scheme.unit : name.take_front(length).str());
    name = name.drop_front(length);
  } while (out.isNested && !name.empty() && (isDigit(name.front()) || name.front() == 'L'));
  out.rest = name.str();
  return out;
}

std::string withUnnamed(std::string text, const Scheme& scheme) {
  const std::string from = component(kUnnamed), to = component("_GLOBAL__N__" + scheme.unit);
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// clang's name without the mark that it appends under -fgpu-rdc.
StringRef withoutUnit(StringRef name) {
  for (const char* mark : {"__static__", "__intern__"})
    if (const size_t at = name.rfind(mark); at != StringRef::npos) return name.take_front(at);
  return name;
}

/// Nothing if it is not static.
std::string kernelName(const Function& kernel, const Scheme& scheme) {
  const StringRef name = withoutUnit(kernel.getName());
  const bool wasMarked = name.size() != kernel.getName().size();
  const auto mangled = parse(name, scheme);
  const bool knowsUnnamed = name.contains(kUnnamed);  // of a template, perhaps, whose arguments are static
  if (!mangled) return wasMarked ? name.str() : "";
  if (!mangled->isStatic && !wasMarked && !knowsUnnamed) return "";
  return (mangled->isNested ? "_ZN" : "_Z") + mangled->components + withUnnamed(mangled->rest, scheme);
}

std::string variableName(const GlobalVariable& variable, const Scheme& scheme) {
  const auto mangled = parse(withoutUnit(variable.getName()), scheme);
  if (!mangled || !mangled->isStatic) return "";
  if (!mangled->isNested)
    return mangled->rest.empty() ? mangled->components.substr(mangled->components.find_first_not_of("0123456789")) : "";
  return mangled->rest == "E" ? "_ZN" + component("_INTERNAL_" + scheme.unit) + mangled->components + "E" : "";
}

void give(GlobalObject& object, const std::string& name, const Scheme& scheme) {
  const std::string whole = scheme.prefix + name;
  if (name.empty() || object.getParent()->getNamedValue(whole)) return;
  object.setName(whole);
  object.setComdat(nullptr);
  object.setVisibility(GlobalValue::DefaultVisibility);
  object.setLinkage(GlobalValue::InternalLinkage);
  appendToCompilerUsed(*object.getParent(), {&object});
}

bool isForHost(const GlobalVariable& variable) {
  const unsigned space = variable.getAddressSpace();
  const bool isRead = variable.isConstant() && variable.hasLocalLinkage();  // the host can never ask for it
  return !variable.isDeclaration() && !isRead && (space == kGlobalSpace || space == kConstantSpace);
}

void nameKernels(Module& module, const Scheme& scheme) {
  const NamedMDNode* annotations = module.getNamedMetadata("nvvm.annotations");
  if (!annotations) return;
  for (const MDNode* note : annotations->operands()) {
    const auto* what = note->getNumOperands() > 1 ? dyn_cast<MDString>(note->getOperand(1)) : nullptr;
    auto* kernel = mdconst::dyn_extract_or_null<Function>(note->getOperand(0));
    if (what && what->getString() == "kernel" && kernel && !kernel->isDeclaration())
      give(*kernel, kernelName(*kernel, scheme), scheme);
  }
}

}  // namespace

void nameStatics(Module& module) {
  const auto scheme = takeScheme(module);
  if (!scheme) return;
  nameKernels(module, *scheme);
  for (GlobalVariable& variable : module.globals()) {
    if (!isForHost(variable)) continue;
    give(variable, variableName(variable, *scheme), *scheme);
    if (variable.hasInternalLinkage()) variable.setExternallyInitialized(true);
  }
}
