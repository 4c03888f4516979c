// The parser: what it makes of each part of the grammar, and what it says about text that is wrong.
#include "ptx/parser.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>

#include "ptx/source_lines.hpp"
#include "ptx/test_text.hpp"

namespace ordito::ptx {
namespace {

using isa::ModifierKind;
using isa::Op;
using isa::Type;
using test::kernel;
using Kind = Operand::Kind;

Module parsed(const std::string& text) {
  auto m = parse(text, "t.ptx");
  EXPECT_TRUE(m) << (m ? "" : m.error().message) << "\n" << text;
  return m ? std::move(*m) : Module{};
}

Instruction first(const std::string& line) {
  Module m = parsed(kernel(line));
  return m.functions.empty() || m.functions[0].instructions.empty() ? Instruction{} : m.functions[0].instructions[0];
}

std::string messageFor(const std::string& text) {
  auto m = parse(text, "t.ptx");
  EXPECT_FALSE(m) << text;
  return m ? "" : m.error().message;
}

std::string refusal(const std::string& line) { return messageFor(kernel(line)); }

const Operand& immediate(const Instruction& i) { return i.operands.at(1); }

void expectContains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
}

TEST(Parser, ReadsTheInputs) {
  for (const char* name : test::kInputs) parsed(test::input(name));
}

TEST(Parser, ReadsTheHeader) {
  Module m = parsed(".version 8.3\n.target sm_90a, debug\n.address_size 64\n");
  EXPECT_EQ(m.version, 83u);
  EXPECT_EQ(m.target, "sm_90a");
  EXPECT_EQ(m.sm, 90u);
  expectContains(messageFor("hello"), "must start with .version");
  expectContains(messageFor(".version 8.3\n"), ".target is missing");
  expectContains(messageFor(".version 8.3\n.target sm_80\n.address_size 32\n"), "only .address_size 64");
}

TEST(Parser, FindsRowModifiersAndTypes) {
  Instruction i = first("ld.relaxed.gpu.global.L1::no_allocate.v2.f32 {%f1, _}, [%rd1+-16];");
  EXPECT_EQ(i.op, Op::Ld);
  EXPECT_EQ(i.mods.name(ModifierKind::Semantics), "relaxed");
  EXPECT_EQ(i.mods.name(ModifierKind::Scope), "gpu");
  EXPECT_EQ(i.mods.name(ModifierKind::L1Evict), "L1::no_allocate");
  EXPECT_EQ(i.type[0], Type::f32);
  EXPECT_TRUE(i.operands[0].elements[1].is(Kind::Sink));
  EXPECT_EQ(i.operands[1].offset, -16);
  EXPECT_EQ(first("add.f32 %f1, %f2, %f3;").op, Op::AddF);
  EXPECT_EQ(first("add.cc.u32 %r1, %r2, %r3;").op, Op::AddCc);
  EXPECT_EQ(first("setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;").op, Op::SetpBool);
  EXPECT_EQ(first("bar.warp.sync -1;").op, Op::BarWarpSync);
  EXPECT_EQ(first("cvt.rn.f16x2.f32 %r1, %f1, %f2;").op, Op::CvtPack);
  EXPECT_EQ(first("atom.global.cas.b32 %r1, [%rd1], %r2, %r3;").op, Op::AtomCas);
  // As nvcc and libcu++ write them.
  EXPECT_EQ(first("atom.global.sys.add.u32 %r1, [%rd1], %r2;").mods,
            first("atom.sys.global.add.u32 %r1, [%rd1], %r2;").mods);
  EXPECT_EQ(first("atom.cas.acquire.sys.b32 %r1, [%rd1], %r2, %r3;").op, Op::AtomCas);
  EXPECT_EQ(first("red.add.release.gpu.s32 [%rd1], %r2;").op, Op::Red);
  EXPECT_EQ(first("fence.cta.sc;").mods, first("fence.sc.cta;").mods);
}

TEST(Parser, KeepsOptionalOperandsInPlace) {
  Instruction i = first("setp.lt.s32 %p1, %r1, %r2;");
  ASSERT_EQ(i.operands.size(), 4u);
  EXPECT_TRUE(i.operands[1].is(Kind::None));
  EXPECT_TRUE(first("bar.sync 0;").operands.at(1).is(Kind::None));
  EXPECT_TRUE(first("bar.sync 0, 64;").operands.at(1).is(Kind::Integer));
}

TEST(Parser, ReadsNumbers) {
  struct Case {
    const char* text;
    uint64_t bits;
  } cases[] = {{"12", 12},
               {"-5", static_cast<uint64_t>(-5)},
               {"0x1F", 31},
               {"017", 15},
               {"0b101", 5},
               {"10U", 10},
               {"0xFFFFFFFFFFFFFFFF", ~0ull},
               {"(1 << 4) | 3", 19},
               {"7 > 3 ? 10 / 3 : 2", 3},
               {"-9223372036854775808", 1ull << 63},
               {"~0", ~0ull},
               {"!0", 1},
               {"0", 0},
               {"(.s64) -1 >> 1", ~0ull},
               {"(.u64) -1 >> 60", 15},
               {"WARP_SZ", 32},
               {"1 + 2 * 3 % 4", 3},
               {"- -3", 3},
               {"5 == 5 && 2 != 2 || 1", 1}};
  for (const Case& c : cases) {
    Instruction i = first(fmt::format("mov.b64 %rd1, {};", c.text));
    EXPECT_TRUE(immediate(i).is(Kind::Integer)) << c.text;
    EXPECT_EQ(immediate(i).bits, c.bits) << c.text;
  }
}

TEST(Parser, ReadsFloatingPointByItsBits) {
  auto bitsOf = [](const char* text, Type type) {
    return immediateBits(immediate(first(fmt::format("mov.b64 %rd1, {};", text))), type);
  };
  EXPECT_EQ(bitsOf("0f3F800000", Type::f32), 0x3F800000u);
  EXPECT_EQ(bitsOf("0f3F800000", Type::b32), 0x3F800000u);
  EXPECT_EQ(bitsOf("0f3F800000", Type::f64), std::bit_cast<uint64_t>(1.0));
  EXPECT_EQ(bitsOf("0f7F800001", Type::f32), 0x7F800001u) << "a signalling NaN";
  EXPECT_EQ(bitsOf("0fFFC12345", Type::f32), 0xFFC12345u) << "a NaN's payload";
  EXPECT_EQ(bitsOf("0f00000001", Type::f32), 1u) << "a denormal";
  EXPECT_EQ(bitsOf("0f80000000", Type::f32), 0x80000000u);
  EXPECT_EQ(bitsOf("0dFFF0000000000001", Type::f64), 0xFFF0000000000001u);
  EXPECT_EQ(bitsOf("-1.5e-3", Type::f64), std::bit_cast<uint64_t>(-1.5e-3));
  EXPECT_EQ(bitsOf("1.0e300", Type::f32), 0x7F800000u);
  EXPECT_EQ(bitsOf("70000", Type::u16), 70000u & 0xFFFF);
  EXPECT_EQ(bitsOf("-1", Type::s32), 0xFFFFFFFFu);
}

TEST(Parser, MakesOnlyRegistersThatAreUsed) {
  Module m =
      parsed(test::module(".entry k() { .reg .b32 %r<100000>, %r1<3>; mov.u32 %r99999, %r12; mov.u32 %r10, 1; }"));
  ASSERT_EQ(m.functions[0].registers.size(), 3u);
  EXPECT_EQ(m.functions[0].registers[0].name, "%r99999");
  expectContains(messageFor(test::module(".entry k() { .reg .b32 %r<10>; mov.u32 %r10, 1; }")),
                 "'%r10' is not declared");
  expectContains(messageFor(test::module(".entry k() { .reg .b32 %r<10>; mov.u32 %r01, 1; }")),
                 "'%r01' is not declared");
}

TEST(Parser, ScopesHideAndGiveUniqueNames) {
  Module m = parsed(kernel(
      "mov.u32 %r1, 1; { .reg .b32 %r<3>; mov.u32 %r1, 2; } mov.u32 %r1, 3; { .reg .u64 %r1; mov.u64 %r1, 4; }"));
  const Function& f = m.functions[0];
  auto destination = [&](int i) { return f.registers[f.instructions[i].operands[0].reg]; };
  EXPECT_EQ(destination(0), destination(2));
  EXPECT_NE(destination(0).name, destination(1).name);
  EXPECT_EQ(destination(3).type, Type::u64);
  expectContains(refusal("{ .reg .b32 %x; mov.u32 %x, 1; } mov.u32 %x, 1;"), "'%x' is not declared");
  expectContains(refusal(".reg .b32 %x; .reg .b64 %x;"), "declared twice");
}

TEST(Parser, ResolvesLabelsInTheirScope) {
  Module m = parsed(kernel("bra OUT; { bra IN; IN: bra OUT; bra IN; } { IN: bra IN; } OUT: ret;"));
  const Function& f = m.functions[0];
  auto target = [&](int i) { return f.labels[f.instructions[i].operands[0].label].instruction; };
  EXPECT_EQ(target(0), 5u);
  EXPECT_EQ(target(1), 2u);
  EXPECT_EQ(target(2), 5u);
  EXPECT_EQ(target(3), 2u);
  EXPECT_EQ(target(4), 4u);
  expectContains(refusal("{ IN: ret; } bra IN;"), "label 'IN' is not declared");
}

TEST(Parser, LaysOutParameters) {
  Module m = parsed(test::module(
      ".entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .f32 .ptr .global .align 4 d) {}"));
  const Function& f = m.functions[0];
  EXPECT_EQ(f.parameters[1].offset, 8u);
  EXPECT_EQ(f.parameters[2].offset, 16u);
  EXPECT_EQ(f.parameters[3].offset, 36u);
  EXPECT_EQ(f.parameterBytes, 40u);
}

TEST(Parser, ReadsVariablesAndInitialisers) {
  Module m =
      parsed(test::module(".global .b8 a[2][3] = {{1, 2}, {3}};\n.global .align 8 .u64 b[] = {generic(a)+4, c-8, 5};\n"
                          ".visible .global .f32 c = 0f40000000;\n.extern .shared .align 16 .b8 dyn[];\n.global .v4 "
                          ".f32 v;\n.global .f64 d = 2;"));
  EXPECT_EQ(m.variables[0].initial, (std::vector<uint8_t>{1, 2, 0, 3, 0, 0}));
  ASSERT_EQ(m.variables[1].relocations.size(), 2u);
  EXPECT_EQ(m.variables[1].count, 3u);
  EXPECT_TRUE(m.variables[1].relocations[0].generic);
  EXPECT_EQ(m.variables[1].relocations[1].symbol.index, 2u);
  EXPECT_EQ(m.variables[1].relocations[1].addend, -8);
  EXPECT_EQ(m.variables[1].initial[16], 5);
  EXPECT_EQ(m.variables[2].initial, (std::vector<uint8_t>{0, 0, 0, 0x40}));
  EXPECT_EQ(m.variables[3].count, 0u);
  EXPECT_EQ(m.variables[3].alignment, 16u);
  EXPECT_EQ(m.variables[4].size, 16u);
  EXPECT_EQ(m.variables[4].alignment, 16u);
  EXPECT_EQ(m.variables[5].initial[7], 0x40);
}

TEST(Parser, GivesStaticVariablesOfBodiesToTheModule) {
  Module m = parsed(test::module(".entry k() { .global .u32 n = 3; .reg .b32 %r; ld.global.u32 %r, [n]; }"));
  EXPECT_EQ(m.variables.size(), 1u);
  EXPECT_EQ(m.functions[0].instructions[0].operands[1].symbol.kind, Symbol::Kind::ModuleVariable);
}

TEST(Parser, TakesTheSpaceOfASymbol) {
  EXPECT_EQ(first("ld.u32 %r1, [gv];").mods.name(ModifierKind::Space), "global");
  EXPECT_EQ(first("st.u32 [sv+4], %r1;").mods.name(ModifierKind::Space), "shared");
  EXPECT_FALSE(first("ld.u32 %r1, [%rd1];").has(ModifierKind::Space));
}

TEST(Parser, MergesDeclarationsAndDefinitions) {
  Module m = parsed(
      test::module(".visible .func (.param .b32 r) f(.param .b32 a);\n.extern .global .u32 x;\n.global .u32 x = 1;\n"
                   ".entry k() { .reg .b32 %r; call (%r), f, (1); }\n.func (.param .b32 r) f(.param .b32 a) { ret; }"));
  ASSERT_EQ(m.functions.size(), 2u);
  EXPECT_TRUE(m.functions[0].hasBody);
  EXPECT_EQ(m.functions[0].linkage, Linkage::Visible);
  EXPECT_EQ(m.variables.size(), 1u);
  expectContains(messageFor(test::module(".func f(.param .b32 a);\n.func f(.param .b64 a) { ret; }")),
                 "other parameters");
  expectContains(messageFor(test::module(".func f() { ret; }\n.func f() { ret; }")), "two bodies");
  expectContains(messageFor(test::module(".global .u32 x;\n.global .u32 x;")), "declared twice");
}

TEST(Parser, ReadsCalls) {
  std::string text = test::module(
      ".extern .func (.param .b32 r) f(.param .b64 a);\n.func g();\n.entry k() { .reg .b64 %rd; .param .b64 a; .param "
      ".b32 r;\n"
      "proto: .callprototype (.param .b32 _) _ (.param .b64 _);\ntargets: .calltargets f;\n"
      "call.uni (r), f, (a);\ncall g;\ncall (r), %rd, (a), proto;\ncall (r), %rd, (a), targets;\ncall g, ();\n}");
  Module m = parsed(text);
  const auto& code = m.functions[2].instructions;
  ASSERT_EQ(code.size(), 5u);
  EXPECT_EQ(code[0].operands[1].symbol, (Symbol{Symbol::Kind::Function, 0}));
  EXPECT_EQ(code[0].operands[2].elements.size(), 1u);
  EXPECT_TRUE(code[1].operands[0].is(Kind::None));
  EXPECT_EQ(code[3].operands[3].bits, 1u);
  EXPECT_EQ(m.functions[2].prototypes[1].returns.size(), 1u);
  expectContains(refusal("call nobody;"), "function 'nobody' is not declared");
  expectContains(refusal("call %rd1;"), "needs a .callprototype");
}

TEST(Parser, FollowsSourceLines) {
  Module m =
      parsed(kernel(".loc 2 17 3, function_name $name, inlined_at 2 20 1\nret;\n.loc 2 18 1\n.loc 2 17 9\nret;") +
             ".file 2 \"a.cu\"\n");
  const auto& code = m.functions[0].instructions;
  EXPECT_EQ(m.locations[code[0].location].line, 17u);
  EXPECT_EQ(m.files[m.locations[code[0].location].file], "a.cu:20 > a.cu");
  EXPECT_EQ(m.locations[code[1].location].line, 17u);
  EXPECT_EQ(m.files[m.locations[code[1].location].file], "a.cu");
}

TEST(Parser, FollowsInlinedCallsOutwards) {
  Module m = parsed(kernel(".loc 1 20 5\nret;\n.loc 2 7 1, function_name $f, inlined_at 1 20 5\nret;\n"
                           ".loc 3 9 2, function_name $g+4, inlined_at 2 7 1\nret;") +
                    ".file 1 \"/src/a.cu\"\n.file 2 \"/include/b.cuh\"\n.file 3 \"c.h\"\n");
  auto file = [&](size_t i) { return m.files[m.locations[m.functions[0].instructions[i].location].file]; };
  EXPECT_EQ(file(0), "/src/a.cu");
  EXPECT_EQ(file(1), "/src/a.cu:20 > b.cuh");
  EXPECT_EQ(file(2), "/src/a.cu:20 > b.cuh:7 > c.h");
  EXPECT_EQ(sourceOf(m, m.functions[0], m.functions[0].instructions[2].line), "/src/a.cu:20 > b.cuh:7 > c.h:9");
  const std::string line = fmt::format("PTX line {}", m.functions[0].instructions[1].line);
  EXPECT_EQ(withSources(m, m.functions[0], "kernel 'k', " + line + ": a trap"),
            "kernel 'k', " + line + " (/src/a.cu:20 > b.cuh:7): a trap");
  EXPECT_EQ(withSources(m, m.functions[0], "PTX line 100000"), "PTX line 100000");
}

// Messages

TEST(ParserErrors, NamePlaceKernelAndInstruction) {
  EXPECT_EQ(refusal("  wgmma.fence.sync.aligned;"),
            "t.ptx:8:3: kernel 'foo': instruction 'wgmma.fence.sync.aligned' (asynchronous warp-group matrix multiply) "
            "is not supported by Ordito: it exists "
            "for sm_90a only, by machine code of the GPU; see 'ordito isa'");
  std::string message = refusal("add.f8 %r1, %r2, %r3;");
  expectContains(message, "found '.f8'");
  expectContains(message, "add{.sat}.type d, a, b");
  expectContains(refusal("add.s32 %r1, %r2;"), "operand 'b' is missing");
  expectContains(refusal("add.s32 %r1, %r2, %r3, %r4;"), "expected ';' after 'add{.sat}.type d, a, b', found ','");
  expectContains(refusal("ld.global.u32 %r1, %rd1;"), "expected an address in brackets");
}

TEST(ParserErrors, RefuseByName) {
  expectContains(refusal("mov.v4.u32 %r1, %tid;"), "mov.v4.u32");
  expectContains(refusal("mov.u32 %r1, %tid;"), "'%tid' as a whole vector");
  expectContains(refusal("mov.u32 %r1, %reserved_smem_offset_begin;"),
                 "'%reserved_smem_offset_begin' is not supported");
  expectContains(refusal("brx.idx %r1, t;"), "'t' names no .branchtargets");
  expectContains(refusal(".reg .v4 .f32 %v;"), "vector registers are not supported");
  expectContains(messageFor(test::module(".alias a, b;")), "'.alias' is not supported");
  expectContains(messageFor(test::module(".global .texref t[2] = {1};")), "opaque");
  expectContains(messageFor(test::module(".shared .texref t;")), "type .texref must be .global");
  expectContains(refusal(".reg .texref %v;"), "register cannot be of type .texref");
  expectContains(refusal("mov.b32 !%r1, 0;"), "'!' needs a predicate");
  expectContains(refusal(".shared .u4 nibbles[3];"), "type '.u4' belongs to instructions");
  expectContains(refusal(".reg .e4m3 %v;"), "type '.e4m3' belongs to instructions");
  expectContains(refusal("red.async.relaxed.cluster.add.u32 [%r1], %r2;"), "clusters of more than one block");
  expectContains(refusal("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [t, {%r1}], [%r2];"),
                 "tensor memory accelerator");
  expectContains(messageFor(test::module(".global .b8 x[1] = {0xFF(y)};")), "masked addresses");
  expectContains(messageFor(test::module(".entry k() .explicitcluster { }")), "'.explicitcluster'");
}

TEST(ParserErrors, BoundWhatTextCanAskFor) {
  for (const char* text :
       {".global .b8 x[99999999999];", ".global .b8 x[9999999999][99999999][99999999];",
        ".global .b8 x[][9999999999][99999999] = {1};", ".global .b8 x[0];", ".global .b8 x[-1];",
        ".global .b8 x[18446744073709551615];", ".global .align 3 .b8 x;", ".global .u64 x[1000000000] = {1};",
        ".entry k(.param .b8 a[99999999999]) {}", ".global .u32 x[2] = {1, 2, 3};",
        ".entry k() { .reg .b32 %r<99999999999>; }", ".global .u32 x = 1 / 0;",
        ".global .u32 x = 99999999999999999999;", ".global .b8 x[] = {};"})
    messageFor(test::module(text));
  EXPECT_EQ(parsed(test::module(".global .u64 x = -9223372036854775807 - 1, y = (-9223372036854775807 - 1) / -1;"))
                .variables.size(),
            2u);
}

TEST(ParserErrors, BoundNesting) {
  expectContains(messageFor(test::module(".global .u32 x = " + std::string(100000, '('))), "nested too deeply");
  expectContains(messageFor(test::module(".global .u32 x = " + std::string(100000, '-') + "1;")), "nested too deeply");
  expectContains(messageFor(test::module(".entry k() " + std::string(100000, '{'))), "nested deeper");
  messageFor(test::module(".entry k() { .reg .b32 %r; mov.u32 %r, " + std::string(100000, '{')));
  messageFor(test::module(".global .b8 x[1]" + [] {
    std::string s;
    for (int i = 0; i < 10000; ++i) s += "[1]";
    return s;
  }() + ";"));
}

TEST(ParserErrors, EveryTruncationIsAnError) {
  std::string text = test::input("handmade.ptx");
  size_t lastBrace = text.rfind('}');
  for (size_t length = 0; length < lastBrace; length += 7) (void)parse(std::string_view(text).substr(0, length));
  for (const char* open :
       {".entry k() { ret;", ".entry k() { /* ", ".file 1 \"abc", ".section .debug { ", ".global .u32 x[2] = {1,"})
    messageFor(test::module(open));
}

TEST(ParserSpeed, AMegabyteWellUnderASecond) {
  std::string body;
  while (body.size() < 1 << 20)
    body +=
        "\tmad.lo.s32 %r1, %r2, 5, %r3;\n\tld.global.f32 %f1, [%rd1+16];\n\t@%p1 bra L;\n\tadd.s64 %rd1, %rd1, 8;\n";
  std::string text = kernel(body + "L: ret;");
  auto start = std::chrono::steady_clock::now();
  parsed(text);
  auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
  RecordProperty("milliseconds", static_cast<int>(milliseconds));
  EXPECT_LT(milliseconds, 1000) << "a release build takes some tens";
}

}  // namespace
}  // namespace ordito::ptx
