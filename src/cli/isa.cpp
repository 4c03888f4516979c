// `ordito isa`: the PTX instructions that Ordito knows, straight from the table they are parsed, checked and executed
// by. With --markdown it is the page of the documentation.
#include "isa/isa.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "isa/needs.hpp"

namespace ordito::cli {
namespace {

constexpr std::string_view kEffects[] = {"pure",    "load",  "store",   "atomic", "warp",
                                         "barrier", "fence", "control", "call"};
constexpr std::string_view kUnits[] = {"alu", "fma", "xu", "lsu", "sync", "branch", "tensor", "texture"};

/// "integer-arithmetic-instructions-add" stands in the manual's chapter "integer arithmetic".
std::string chapter(const isa::OpInfo& row) {
  std::string text(row.anchor.substr(0, row.anchor.find("-instructions")));
  for (char& c : text)
    if (c == '-') c = ' ';
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

/// The types of each type slot of the row: "u32 s32 / f32".
std::string types(const isa::OpInfo& row) {
  std::string text;
  for (int slot = 0; slot < isa::kTypeSlots; ++slot) {
    if (!row.types[slot]) continue;
    if (!text.empty()) text += " / ";
    std::string_view separator = "";
    for (size_t t = 1; t < std::size(isa::kTypes); ++t) {
      if (!row.allows(slot, static_cast<isa::Type>(t))) continue;
      text.append(separator).append(isa::kTypes[t].name);
      separator = " ";
    }
  }
  return text;
}

std::string version(int since) { return fmt::format("{}.{}", since / 10, since % 10); }

bool concerns(const isa::NeedInfo& need, const isa::OpInfo& row) {
  return fmt::format(" {} ", need.rows).find(fmt::format(" {} ", row.name)) != std::string::npos;
}

/// "PTX 7.8, sm_90": what such an instruction needs more than its row.
std::string wanted(const isa::NeedInfo& need) {
  std::string text = need.since ? "PTX " + version(need.since) : "";
  if (need.target.sm) text += (text.empty() ? "" : ", ") + isa::spell(need.target);
  return text;
}

/// The mnemonics of the rows that a rule names, each once.
std::string mnemonics(const isa::NeedInfo& need) {
  std::string text;
  for (const isa::OpInfo& row : isa::kOps)
    if (const std::string name = fmt::format("`{}`", row.form.mnemonic);
        concerns(need, row) && text.find(name) == std::string::npos)
      text += (text.empty() ? "" : " ") + name;
  return text;
}

void printNeeds() {
  fmt::print(
      "\n## Types and modifiers that need more\n\nBeyond what the row says. Words in one column must all be there; | "
      "separates alternatives; `to:` and `from:` mean the first and the second type. Versions before 3.0 and targets "
      "before sm_20 are not told "
      "apart.\n\n| instructions | with | need |\n|---|---|---|\n");
  for (const isa::NeedInfo& need : isa::kNeeds) {
    std::string words(need.words);
    for (size_t at = 0; (at = words.find('|', at)) != std::string::npos; at += 2) words.insert(at, "\\");
    fmt::print("| {} | {} | {} |\n", mnemonics(need), words, wanted(need));
  }
}

void printPlain(const isa::OpInfo& row) {
  fmt::print("{}\n    types: {}\n    effect: {}, unit: {}, since PTX {}, for {} and later\n", isa::manualSyntax(row),
             types(row), kEffects[static_cast<int>(row.effect)], kUnits[static_cast<int>(row.unit)], version(row.since),
             isa::spell(row.target));
  for (const isa::NeedInfo& need : isa::kNeeds)
    if (concerns(need, row)) fmt::print("    with {}: {}\n", need.words, wanted(need));
}

void printMarkdown(const isa::OpInfo& row) {
  std::string syntax = isa::manualSyntax(row);
  for (size_t at = 0; (at = syntax.find('|', at)) != std::string::npos; at += 2) syntax.insert(at, "\\");
  fmt::print("| `{}` | {} | {} | {} | [{}](https://docs.nvidia.com/cuda/parallel-thread-execution/#{}) | {} |\n",
             syntax, types(row), kEffects[static_cast<int>(row.effect)], kUnits[static_cast<int>(row.unit)],
             version(row.since), row.anchor, isa::spell(row.target));
}

using Fields = std::array<bool, std::size(isa::kModifiers)>;

void markFields(const isa::OpInfo& row, Fields& used) {
  for (const isa::Slot& slot : row.form.slotList())
    if (slot.kind == isa::Slot::Kind::Modifier) used[static_cast<size_t>(slot.modifier)] = true;
}

/// The values of the fields that stand in the rows, without which a syntax line cannot be read.
void printModifiers(bool markdown, const Fields& used) {
  if (std::none_of(used.begin(), used.end(), [](bool u) { return u; })) return;
  fmt::print("{}", markdown ? "\n## Modifiers\n\n| modifier | values |\n|---|---|\n" : "\nModifiers\n\n");
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    const isa::ModifierInfo& m = isa::kModifiers[i];
    if (markdown)
      fmt::print("| `.{}` | {} |\n", m.field, m.values);
    else
      fmt::print("  .{:<14}{}\n", m.field, m.values);
  }
}

/// Instructions of the manual that are refused by name.
size_t printRefused(bool markdown, const std::string& mnemonic) {
  size_t printed = 0;
  for (const isa::RefusedInfo& r : isa::kRefused) {
    if (!mnemonic.empty() && r.prefix.substr(0, r.prefix.find('.')) != mnemonic) continue;
    if (printed++ == 0)
      fmt::print("{}", markdown
                           ? "\n## Refused\n\n| instructions | what they are | why they are refused |\n|---|---|---|\n"
                           : "\nRefused\n\n");
    if (markdown)
      fmt::print("| `{}…` | {} | {} |\n", r.prefix, r.what, r.why);
    else
      fmt::print("  {}…\n      {}: {}\n", r.prefix, r.what, r.why);
  }
  return printed;
}

int printTable(bool markdown, const std::string& mnemonic) {
  if (markdown)
    fmt::print(
        "# PTX instructions\n\nWritten by `ordito isa --markdown`. An instruction that is not here is refused by "
        "name.\n");
  std::string current;
  size_t rows = 0;
  Fields used{};
  for (const isa::OpInfo& row : isa::kOps) {
    if (!mnemonic.empty() && row.form.mnemonic != mnemonic) continue;
    ++rows;
    markFields(row, used);
    if (std::string title = chapter(row); title != current) {
      current = title;
      if (markdown)
        fmt::print("\n## {}\n\n| syntax | types | effect | unit | since PTX | target |\n|---|---|---|---|---|---|\n",
                   title);
      else
        fmt::print("\n{}\n\n", title);
    }
    markdown ? printMarkdown(row) : printPlain(row);
  }
  if (rows != 0) printModifiers(markdown, used);
  if (markdown) printNeeds();
  if (printRefused(markdown, mnemonic) == 0 && rows == 0) {
    fmt::print(stderr, "ordito isa: Ordito has no instruction '{}'\n", mnemonic);
    return 1;
  }
  return 0;
}

}  // namespace

void addIsaCommand(CLI::App& app) {
  struct Options {
    bool markdown = false;
    std::string mnemonic;
  };
  auto options = std::make_shared<Options>();
  CLI::App* isa = app.add_subcommand("isa", "List the PTX instructions that Ordito executes");
  isa->add_flag("--markdown", options->markdown, "As a page of documentation");
  isa->add_option("mnemonic", options->mnemonic, "Only this instruction, for example 'shfl'");
  isa->callback([options] {
    if (int status = printTable(options->markdown, options->mnemonic)) std::exit(status);
  });
}

}  // namespace ordito::cli
