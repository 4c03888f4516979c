// print(parse(x)) parses to the same module, for compiled, hand-written and generated text.
#include "ptx/printer.hpp"

#include <gtest/gtest.h>

#include "ptx/opcode.hpp"
#include "ptx/operands.hpp"
#include "ptx/parser.hpp"
#include "ptx/test_text.hpp"

namespace ordito::ptx {
namespace {

void expectRoundTrip(const std::string& text, std::string_view name) {
  auto once = parse(text, name);
  ASSERT_TRUE(once) << once.error().message;
  std::string printed = print(*once);
  auto twice = parse(printed, "printed");
  ASSERT_TRUE(twice) << twice.error().message << "\n" << printed;
  EXPECT_EQ(test::withoutLines(*once), test::withoutLines(*twice)) << name;
  EXPECT_EQ(printed, print(*twice)) << name;
}

TEST(Printer, RoundTripsTheInputs) {
  for (const char* name : test::kInputs) expectRoundTrip(test::input(name), name);
}

TEST(Printer, RoundTripsAPercentNameInAFunction) {
  expectRoundTrip(test::kernel(".shared .u64 %wide; mov.u64 %rd1, %wide;"), "percent");
}

TEST(Printer, RoundTripsAnExternFunctionWithABody) {
  const std::string text = test::module(".extern .func f(.param .b32 x) { ret; } .extern .func f(.param .b32 x);");
  expectRoundTrip(text, "extern");
}

TEST(Printer, WritesOneInstruction) {
  std::string lines[] = {"@!%p1 ld.global.nc.v2.f32 {%f1, _}, [%rd1-16];",
                         "setp.lt.and.s32 %p1|%p2, %r1, -5, !%p3;",
                         "mov.u32 %r1, %tid.x;",
                         "mov.f32 %f1, 0d3FF0000000000000;",
                         "mov.u64 %rd1, gv+4;",
                         "bar.sync 0;",
                         "vmad.s32.s32.s32 %r1, %r1, -2, 2;",
                         "st.shared.u32 [sv+8], %r1;",
                         "ret;"};
  for (const std::string& line : lines) {
    auto m = parse(test::kernel(line));
    ASSERT_TRUE(m) << m.error().message;
    EXPECT_EQ(print(*m, m->functions[0], m->functions[0].instructions[0]), line);
  }
}

/// Each row of the table with its first types and all its modifiers: what the printer spells, the parser reads as the
/// same row.
TEST(Printer, RoundTripsEveryRow) {
  for (size_t k = 0; k < static_cast<size_t>(isa::Op::Count); ++k) {
    Opcode opcode{static_cast<isa::Op>(k)};
    const isa::OpInfo& row = isa::info(opcode.op);
    for (const isa::Slot& slot : row.form.slotList()) {
      if (slot.kind != isa::Slot::Kind::Type) {
        uint8_t value = 1;
        while (!slot.allows(value)) ++value;
        opcode.mods[slot.modifier] = value;
        continue;
      }
      for (size_t t = std::size(isa::kTypes); t-- > 1;)
        if (row.allows(slot.type, static_cast<isa::Type>(t))) opcode.type[slot.type] = static_cast<isa::Type>(t);
    }
    std::string spelling = spellOpcode(opcode);
    std::vector<std::string_view> words;
    for (size_t at = spelling.find('.'); at != std::string::npos;) {
      size_t next = spelling.find('.', at + 1);
      words.push_back(std::string_view(spelling).substr(at + 1, next == std::string::npos ? next : next - at - 1));
      at = next;
    }
    auto found = findOpcode(row.form.mnemonic, words);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->op, opcode.op) << spelling;
    EXPECT_EQ(found->mods, opcode.mods) << spelling;
    EXPECT_TRUE(std::equal(std::begin(opcode.type), std::end(opcode.type), std::begin(found->type))) << spelling;
  }
}

}  // namespace
}  // namespace ordito::ptx
