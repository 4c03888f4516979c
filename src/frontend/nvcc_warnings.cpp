// See nvcc_warnings.hpp.
#include "frontend/nvcc_warnings.hpp"

#include <algorithm>
#include <iterator>

namespace ordito::frontend {
namespace {

/// On in clang, while g++ gives them, under one name or another, with -Wall or -Wextra only.
constexpr const char* kOnlyWithAll[] = {"absolute-value",
                                        "array-bounds",
                                        "bool-conversion",
                                        "comment",
                                        "dangling",
                                        "dangling-else",
                                        "dynamic-class-memaccess",
                                        "empty-body",
                                        "enum-compare",
                                        "enum-compare-switch",
                                        "format",
                                        "fortify-source",
                                        "increment-bool",
                                        "logical-not-parentheses",
                                        "memset-transposed-args",
                                        "memsize-comparison",
                                        "nonnull",
                                        "nontrivial-memaccess",
                                        "parentheses",
                                        "parentheses-equality",
                                        "pointer-bool-conversion",
                                        "sizeof-array-div",
                                        "sizeof-pointer-div",
                                        "sizeof-pointer-memaccess",
                                        "string-compare",
                                        "strncat-size",
                                        "switch",
                                        "tautological-compare",
                                        "tautological-pointer-compare",
                                        "undefined-bool-conversion",
                                        "uninitialized",
                                        "unknown-pragmas",
                                        "unsequenced",
                                        "unused-comparison",
                                        "unused-value"};

/// Not known to g++, or known and off even with -Wall and -Wextra.
constexpr const char* kNever[] = {"bitwise-conditional-parentheses",
                                  "braced-scalar-init",
                                  "c99-designator",
                                  "c++20-designator",
                                  "c++20-extensions",
                                  "compound-token-split-by-macro",
                                  "constant-logical-operand",
                                  "cuda-compat",
                                  "defaulted-function-deleted",
                                  "delete-abstract-non-virtual-dtor",
                                  "deprecated-anon-enum-enum-conversion",
                                  "deprecated-builtins",
                                  "deprecated-volatile",
                                  "extern-c-compat",
                                  "final-dtor-non-final-class",
                                  "gnu-alignof-expression",
                                  "gnu-array-member-paren-init",
                                  "gnu-designator",
                                  "gnu-folding-constant",
                                  "gnu-static-float-init",
                                  "gnu-variable-sized-type-not-at-end",
                                  "gpu-maybe-wrong-side",
                                  "header-guard",
                                  "ignored-reference-qualifiers",
                                  "implicit-const-int-float-conversion",
                                  "inconsistent-missing-override",
                                  "inline-new-delete",
                                  "instantiation-after-specialization",
                                  "int-to-void-pointer-cast",
                                  "literal-conversion",
                                  "literal-range",
                                  "local-type-template-args",
                                  "many-braces-around-scalar-init",
                                  "mismatched-tags",
                                  "missing-braces",
                                  "nan-infinity-disabled",
                                  "non-c-typedef-for-linkage",
                                  "null-dereference",
                                  "openmp-mapping",
                                  "ordered-compare-function-pointers",
                                  "overloaded-virtual",
                                  "pass-failed",
                                  "potentially-evaluated-expression",
                                  "reinterpret-base-class",
                                  "reorder-init-list",
                                  "return-type-c-linkage",
                                  "self-assign-overloaded",
                                  "shift-op-parentheses",
                                  "static-in-inline",
                                  "static-local-in-inline",
                                  "string-plus-char",
                                  "string-plus-int",
                                  "tautological-constant-compare",
                                  "tautological-constant-out-of-range-compare",
                                  "tautological-undefined-compare",
                                  "undefined-var-template",
                                  "unneeded-internal-declaration",
                                  "unqualified-std-cast-call",
                                  "unsupported-friend",
                                  "unused-const-variable",
                                  "unused-lambda-capture",
                                  "unused-private-field",
                                  "unused-volatile-lvalue",
                                  "user-defined-warnings",
                                  "vla-cxx-extension",
                                  "vla-extension",
                                  "void-pointer-to-enum-cast",
                                  "void-pointer-to-int-cast",
                                  "xor-used-as-pow"};

}  // namespace

std::vector<std::string> withQuietWarnings(const std::vector<std::string>& options) {
  auto isNamed = [&](const std::string& warning) {
    return std::any_of(options.begin(), options.end(), [&](const std::string& option) {
      return option == "-W" + warning || option == "-Werror=" + warning || option == "-Weverything";
    });
  };
  std::vector<std::string> all;
  for (const char* warning : kOnlyWithAll) all.push_back(std::string("-Wno-") + warning);
  all.insert(all.end(), options.begin(), options.end());
  for (const char* warning : kNever)
    if (!isNamed(warning)) all.push_back(std::string("-Wno-") + warning);
  return all;
}

}  // namespace ordito::frontend
