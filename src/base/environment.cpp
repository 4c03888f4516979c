// See environment.hpp.
#include "base/environment.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

namespace ordito {
namespace {

constexpr EnvironmentVariable kVariables[] = {
#define VARIABLE(field, Type, name, otherwise, values, meaning) {name, values, meaning},
#include "base/environment.def"
};

enum class Type { Text, Word, Number };

/// Is `text` one of the words of `values`?
bool names(std::string_view values, std::string_view text) {
  while (!values.empty()) {
    const size_t space = values.find(' ');
    if (values.substr(0, space) == text) return true;
    values = space == std::string_view::npos ? std::string_view{} : values.substr(space + 1);
  }
  return false;
}

/// The number that all of `text` is; -1 if it is none.
long numberOf(std::string_view text) {
  long number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

bool isBetween(std::string_view limits, long number) {
  const size_t space = limits.find(' ');
  return number >= numberOf(limits.substr(0, space)) && number <= numberOf(limits.substr(space + 1));
}

/// What is wrong with the value `text`; empty if nothing is.
std::string problemOf(Type type, const EnvironmentVariable& v, std::string_view text) {
  if (type == Type::Word && !names(v.values, text)) {
    std::string known;
    for (const char c : v.values) known += c == ' ' ? std::string(", ") : std::string(1, c);
    return fmt::format("{} is '{}'; it can be {}", v.name, text, known);
  }
  if (type == Type::Number && !isBetween(v.values, numberOf(text))) {
    const size_t space = v.values.find(' ');
    return fmt::format("{} is '{}'; it can be a number from {} to {}", v.name, text, v.values.substr(0, space),
                       v.values.substr(space + 1));
  }
  return {};
}

void set(std::string& field, std::string_view text) { field = text; }
void set(unsigned& field, std::string_view text) { field = static_cast<unsigned>(numberOf(text)); }

template <class Field>
void read(Environment& e, Field& field, Type type, const EnvironmentVariable& v) {
  const char* text = std::getenv(std::string(v.name).c_str());
  if (!text || !*text) return;
  const std::string problem = problemOf(type, v, text);
  if (problem.empty()) return set(field, text);
  if (e.problem.empty()) e.problem = problem;
}

}  // namespace

Environment readEnvironment() {
  Environment e;
  const EnvironmentVariable* next = kVariables;
#define VARIABLE(field, kind, name, otherwise, values, meaning) read(e, e.field, Type::kind, *next++);
#include "base/environment.def"
  return e;
}

std::span<const EnvironmentVariable> environmentVariables() { return kVariables; }

}  // namespace ordito
