// Joining separately compiled PTX modules, as a device linker does: by name.
//
// The first module is extended by the others one after another. A name that other modules may see (visible, weak,
// common, extern) stands for one object: a definition wins over a declaration, a strong definition over a weak one, and
// two strong definitions are an error. Everything else is copied, and every index moves.
#include <algorithm>
#include <map>

#include "driver/image.hpp"

namespace ordito::driver {

namespace {

using ptx::Function;
using ptx::Linkage;
using ptx::Module;
using ptx::Operand;
using ptx::Symbol;
using ptx::Variable;

bool isDefinition(const Variable& v) { return v.linkage != Linkage::Extern; }
bool isDefinition(const Function& f) { return f.hasBody; }

bool isWeak(Linkage linkage) { return linkage == Linkage::Weak || linkage == Linkage::Common; }

class Linker {
 public:
  Expected<Module> link(std::vector<Module> modules) {
    result_ = std::move(modules.front());
    for (size_t i = 1; i < modules.size(); ++i)
      if (auto added = add(std::move(modules[i])); !added) return tl::unexpected(added.error());
    return std::move(result_);
  }

 private:
  Expected<> add(Module other) {
    firstFile_ = static_cast<uint32_t>(result_.files.size());
    firstLocation_ = static_cast<uint32_t>(result_.locations.size()) - 1;  // entry 0 of each module is "unknown"
    result_.source.digest.add(other.source.digest);
    result_.version = std::max(result_.version, other.version);
    result_.files.insert(result_.files.end(), other.files.begin(), other.files.end());
    for (size_t i = 1; i < other.locations.size(); ++i) {
      auto location = other.locations[i];
      location.file += firstFile_;
      result_.locations.push_back(location);
    }
    if (auto merged = merge(result_.variables, other.variables, variables_); !merged) return merged;
    if (auto merged = merge(result_.functions, other.functions, functions_); !merged) return merged;
    for (size_t i = 0; i < other.variables.size(); ++i) renumber(other.variables[i], variables_[i]);
    for (size_t i = 0; i < other.functions.size(); ++i) renumber(other.functions[i], functions_[i]);
    return {};
  }

  /// Where an object of the result that `candidate` names is, or -1.
  template <class T>
  static int64_t findShared(const std::vector<T>& objects, const T& candidate) {
    if (candidate.linkage == Linkage::Internal) return -1;
    for (size_t i = 0; i < objects.size(); ++i)
      if (objects[i].name == candidate.name && objects[i].linkage != Linkage::Internal) return static_cast<int64_t>(i);
    return -1;
  }

  struct Place {
    uint32_t index;
    bool taken;  // the result holds this module's object there
  };

  template <class T>
  Expected<> merge(std::vector<T>& objects, const std::vector<T>& others, std::vector<Place>& places) {
    places.clear();
    for (const T& other : others) {
      int64_t found = findShared(objects, other);
      if (found < 0) {
        places.push_back({static_cast<uint32_t>(objects.size()), true});
        objects.push_back(other);
        continue;
      }
      T& there = objects[static_cast<size_t>(found)];
      bool replaces =
          isDefinition(other) && (!isDefinition(there) || (isWeak(there.linkage) && !isWeak(other.linkage)));
      if (isDefinition(other) && isDefinition(there) && !isWeak(other.linkage) && !isWeak(there.linkage))
        return failWith(kInvalidPtx, "'{}' is defined in two of the modules that are linked", other.name);
      if (replaces) there = other;
      places.push_back({static_cast<uint32_t>(found), replaces});
    }
    return {};
  }

  void renumber(const Variable&, Place place) {
    if (!place.taken) return;
    for (auto& relocation : result_.variables[place.index].relocations) renumber(relocation.symbol);
  }

  void renumber(const Function&, Place place) {
    if (!place.taken) return;
    Function& function = result_.functions[place.index];
    for (auto& variable : function.variables)
      for (auto& relocation : variable.relocations) renumber(relocation.symbol);
    for (auto& instruction : function.instructions) {
      if (instruction.location) instruction.location += firstLocation_;
      for (auto& operand : instruction.operands) renumber(operand);
    }
  }

  void renumber(Operand& operand) {
    renumber(operand.symbol);
    for (auto& element : operand.elements) renumber(element);
  }

  void renumber(Symbol& symbol) {
    if (symbol.kind == Symbol::Kind::ModuleVariable) symbol.index = variables_[symbol.index].index;
    if (symbol.kind == Symbol::Kind::Function) symbol.index = functions_[symbol.index].index;
  }

  static constexpr int kInvalidPtx = 218;
  Module result_;
  std::vector<Place> variables_, functions_;  // of the module being added
  uint32_t firstFile_ = 0, firstLocation_ = 0;
};

}  // namespace

Expected<Module> linkModules(std::vector<Module> modules) {
  if (modules.size() == 1) return std::move(modules.front());
  return Linker().link(std::move(modules));
}

}  // namespace ordito::driver
