// Names in scope while a module is parsed.
//
// PTX nests scopes with braces; an inner declaration hides an outer one until its brace closes. A range such as `.reg
// .b32 %r<100000>` stays one entry: a register exists only once some instruction uses it.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/module.hpp"

namespace ordito::ptx {

/// What a name stands for.
struct Entity {
  enum class Kind : uint8_t { Register, Symbol, Label, Prototype, BranchTargets };
  Kind kind{};
  isa::Type type{};    // Register
  Symbol symbol{};     // Symbol
  uint32_t index = 0;  // Register (kNoRegister until it is used), Label, Prototype, BranchTargets
};

struct RegisterRange {
  isa::Type type{};
  uint64_t count = 0;
};

/// A use of a label that was not declared yet in the scopes around it.
struct LabelUse {
  std::string_view name;
  const char* at = nullptr;
  uint32_t line = 0;
  uint32_t index = 0;    // of the instruction, or of the .branchtargets
  uint32_t operand = 0;  // which of its operands or labels
  bool inTargets = false;
};

class Names {
 public:
  struct Scope {
    std::unordered_map<std::string_view, Entity> names;
    std::unordered_map<std::string_view, RegisterRange> ranges;
    std::vector<LabelUse> labelUses;
  };

  Names() { open(); }
  void open() { scopes_.emplace_back(); }
  /// Drops the innermost scope and hands it over.
  Scope close();
  size_t depth() const { return scopes_.size(); }
  Scope& innermost() { return scopes_.back(); }
  Scope& module() { return scopes_.front(); }

  /// False if the innermost scope has the name already.
  bool declare(std::string_view name, const Entity& entity);
  bool declareRange(std::string_view prefix, RegisterRange range);
  /// The innermost meaning of a name. The first use of a range's register gives it an entry of its own. The pointer
  /// lives until the next declaration.
  Entity* find(std::string_view name);

 private:
  Entity* findInRanges(Scope& scope, std::string_view name);
  std::vector<Scope> scopes_;
};

}  // namespace ordito::ptx
