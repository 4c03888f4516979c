// See kind.hpp.
#include "fidelity/kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ordito::fidelity {
namespace {

struct Named {
  Kind kind;
  std::string_view name;
};
constexpr Named kNames[] = {
    {Kind::Exact, "exact"},       {Kind::NanPayload, "nan-payload"},  {Kind::Order, "order"},
    {Kind::Bounded, "bounded"},   {Kind::Approximate, "approximate"}, {Kind::Machine, "machine"},
    {Kind::Unproven, "unproven"}, {Kind::Differs, "differs"},
};

}  // namespace

std::string_view nameOf(Kind kind) { return std::ranges::find(kNames, kind, &Named::kind)->name; }

std::string allKinds() {
  std::string all;
  for (const Named& n : kNames) all += fmt::format("{}{}", all.empty() ? "" : ", ", n.name);
  return all;
}

std::optional<Kind> kindOf(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &Named::name);
  return found == std::end(kNames) ? std::nullopt : std::optional(found->kind);
}

}  // namespace ordito::fidelity
