// See names.hpp. Looking a name up walks the scopes from the innermost; real modules nest two or three.
#include "ptx/names.hpp"

#include <charconv>

namespace ordito::ptx {

Names::Scope Names::close() {
  Scope last = std::move(scopes_.back());
  scopes_.pop_back();
  return last;
}

bool Names::declare(std::string_view name, const Entity& entity) {
  return innermost().names.try_emplace(name, entity).second;
}

bool Names::declareRange(std::string_view prefix, RegisterRange range) {
  return innermost().ranges.try_emplace(prefix, range).second;
}

Entity* Names::find(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (auto found = scope->names.find(name); found != scope->names.end()) return &found->second;
    if (!scope->ranges.empty())
      if (Entity* entity = findInRanges(*scope, name)) return entity;
  }
  return nullptr;
}

/// A name belongs to a range if it is the prefix followed by a number below the count, without leading zeros. Where the
/// digits start is not known: `%r12` may be number 12 of %r<20> or number 2 of %r1<5>.
Entity* Names::findInRanges(Scope& scope, std::string_view name) {
  constexpr size_t kMostDigits = 10;
  for (size_t digits = 1; digits <= kMostDigits && digits < name.size(); ++digits) {
    size_t start = name.size() - digits;
    if (name[start] < '0' || name[start] > '9') return nullptr;
    if (name[start] == '0' && digits > 1) continue;
    auto range = scope.ranges.find(name.substr(0, start));
    if (range == scope.ranges.end()) continue;
    uint64_t number = 0;
    std::from_chars(name.data() + start, name.data() + name.size(), number);
    if (number >= range->second.count) continue;
    Entity entity{Entity::Kind::Register, range->second.type, {}, kNoRegister};
    return &scope.names.emplace(name, entity).first->second;
  }
  return nullptr;
}

}  // namespace ordito::ptx
