// What ptx.def says of operands: types that are not the instruction's own, the operand that names lanes, and the memory
// that instructions touch. Expectations are from the PTX ISA manual's descriptions of the instructions.
#include "ptx/operands.hpp"

#include <gtest/gtest.h>

#include "ptx/parser.hpp"
#include "ptx/test_text.hpp"
#include "ptx/verifier.hpp"

namespace ordito::ptx {
namespace {

using isa::Type;

Instruction first(const std::string& line) {
  auto m = parse(test::kernel(line), "t.ptx");
  EXPECT_TRUE(m) << line << ": " << (m ? "" : m.error().message);
  if (!m) return {};
  const auto verdict = verify(*m);
  EXPECT_TRUE(verdict) << line << ": " << (verdict ? "" : verdict.error().message);
  return m->functions[0].instructions[0];
}

std::string typesOf(const std::string& line) {
  const Instruction i = first(line);
  std::string text;
  for (size_t k = 0; k < i.operands.size(); ++k)
    text.append(k ? " " : "").append(operandType(i, k) == Type::None ? "-" : isa::name(operandType(i, k)));
  return text;
}

TEST(Operands, HaveTheTypesOfTheManual) {
  EXPECT_EQ(typesOf("shl.b64 %rd1, %rd2, %r1;"), "b64 b64 u32");
  EXPECT_EQ(typesOf("mul.wide.s32 %rd1, %r1, %r2;"), "s64 s32 s32");
  EXPECT_EQ(typesOf("mul.lo.s32 %r3, %r1, %r2;"), "s32 s32 s32");
  EXPECT_EQ(typesOf("mad.wide.u16 %r3, %rs1, %rs2, %r1;"), "u32 u16 u16 u32");
  EXPECT_EQ(typesOf("setp.lt.and.f32 %p1|%p2, %f1, %f2, %p3;"), "pred pred f32 f32 pred");
  EXPECT_EQ(typesOf("set.eq.u32.f32 %r1, %f1, %f2;"), "u32 f32 f32");
  EXPECT_EQ(typesOf("cvt.rn.f32.f64 %f1, %fd1;"), "f32 f64");
  EXPECT_EQ(typesOf("popc.b64 %r1, %rd1;"), "u32 b64");
  EXPECT_EQ(typesOf("bfi.b64 %rd1, %rd2, %rd3, %r1, %r2;"), "b64 b64 b64 u32 u32");
  EXPECT_EQ(typesOf("vote.sync.ballot.b32 %r1, %p1, -1;"), "b32 pred b32");
  EXPECT_EQ(typesOf("ld.global.L2::cache_hint.f32 %f1, [%rd1], %rd2;"), "f32 - b64");
  EXPECT_EQ(typesOf("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd5, %fd6};"),
            "f64 f64 f64 f64");
  EXPECT_EQ(typesOf("istypep.surfref %p1, %rd1;"), "pred b64");
}

/// The policy may be the only optional operand, which without a hint would be the bytes of the source.
TEST(Operands, OfCpAsyncEndWithThePolicy) {
  const Instruction alone = first("cp.async.ca.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd2;");
  EXPECT_TRUE(alone.operands[3].is(Operand::Kind::None));
  EXPECT_TRUE(alone.operands[4].is(Operand::Kind::Register));
  const Instruction bytes = first("cp.async.ca.shared.global [%r1], [%rd1], 16, %r2;");
  EXPECT_TRUE(bytes.operands[3].is(Operand::Kind::Register));
  EXPECT_TRUE(bytes.operands[4].is(Operand::Kind::None));
}

TEST(Operands, NameTheLanesThatExecuteTogether) {
  auto mask = [](isa::Op op) { return isa::info(op).form.memberMask; };
  EXPECT_EQ(mask(isa::Op::Shfl), 5);
  EXPECT_EQ(mask(isa::Op::Vote), 2);
  EXPECT_EQ(mask(isa::Op::Match), 3);
  EXPECT_EQ(mask(isa::Op::Redux), 2);
  EXPECT_EQ(mask(isa::Op::Elect), 2);
  EXPECT_EQ(mask(isa::Op::BarWarpSync), 0);
  EXPECT_EQ(mask(isa::Op::Activemask), -1);
  EXPECT_EQ(mask(isa::Op::ShflOld), -1);
}

std::string touched(const std::string& line) {
  constexpr std::string_view kKinds[] = {"load", "store", "atomic", "reduction"};
  constexpr std::string_view kPatterns[] = {"lanes", "rows", "matrix", "image"};
  std::string text;
  for (const MemoryAccess& a : MemoryAccesses(first(line)))
    text += fmt::format("{}{}{} {} {} {}x{} at {}", text.empty() ? "" : ", ", a.isAsync ? "async " : "",
                        kKinds[static_cast<int>(a.kind)], isa::kSpaces[static_cast<int>(a.space)],
                        kPatterns[static_cast<int>(a.pattern)], a.bytes, a.count, a.operand);
  return text;
}

TEST(Operands, SayWhichMemoryIsTouched) {
  EXPECT_EQ(touched("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];"), "load global lanes 16x4 at 1");
  EXPECT_EQ(touched("ld.param.u64 %rd1, [p];"), "load param lanes 8x1 at 1");
  EXPECT_EQ(touched("st.u8 [%rd1], %rs1;"), "store  lanes 1x1 at 0");
  EXPECT_EQ(touched("atom.shared::cta.add.u32 %r1, [%r2], %r3;"), "atomic shared lanes 4x1 at 1");
  EXPECT_EQ(touched("red.global.add.f64 [%rd1], %fd1;"), "reduction global lanes 8x1 at 0");
  EXPECT_EQ(touched("atom.global.add.noftz.v2.bf16 {%rs1, %rs2}, [%rd1], {%rs3, %rs4};"),
            "atomic global lanes 4x2 at 1");
  EXPECT_EQ(touched("cp.async.ca.shared.global [%r1], [%rd1], 8;"),
            "async store shared lanes 8x1 at 0, async load global lanes 8x1 at 1");
  EXPECT_EQ(touched("mbarrier.init.shared.b64 [%r1], 32;"), "store shared lanes 8x1 at 0");
  EXPECT_EQ(touched("mbarrier.arrive.shared.b64 %rd1, [%r1];"), "atomic shared lanes 8x1 at 1");
  EXPECT_EQ(touched("mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1;"), "load shared lanes 8x1 at 1");
}

TEST(Operands, SayWhichMemoryMatricesAndImagesTouch) {
  EXPECT_EQ(touched("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3];"), "load shared rows 16x2 at 1");
  EXPECT_EQ(touched("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r5], {%r1, %r2, %r3, %r4};"),
            "store shared rows 16x4 at 0");
  EXPECT_EQ(touched("wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%fd1, %fd2}, [%rd1], %r1;"),
            "load global matrix 512x1 at 1");
  EXPECT_EQ(touched("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];"), "load global image 0x1 at 2");
  EXPECT_EQ(touched("suld.b.1d.v2.b32.trap {%r1, %r2}, [%rd1, {%r3}];"), "load global image 8x2 at 1");
  EXPECT_EQ(touched("sust.b.1d.b32.trap [%rd1, {%r3}], %r1;"), "store global image 4x1 at 0");
}

TEST(Operands, OfOtherInstructionsTouchNothing) {
  for (const char* line : {"prefetch.global.L1 [%rd1];", "bar.sync 0;", "membar.gl;", "add.u32 %r1, %r2, %r3;",
                           "txq.width.b32 %r1, [%rd1];", "cp.async.wait_all;", "discard.global.L2 [%rd1], 128;"})
    EXPECT_EQ(touched(line), "") << line;
}

TEST(Operands, AreShownAsTheManualHasThem) {
  EXPECT_EQ(isa::manualSyntax(isa::info(isa::Op::Match)), "match.matchmode.sync.type d[|p], a, m");
  EXPECT_EQ(isa::manualSyntax(isa::info(isa::Op::ApplyPriority)), "applypriority{.global}.L2::evict_normal [a], b");
}

}  // namespace
}  // namespace ordito::ptx
