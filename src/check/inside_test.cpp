// Which accesses to shared memory stay in their array, whatever a kernel has loaded.
#include "check/inside.hpp"

#include <gtest/gtest.h>

#include "ir/test_kernel.hpp"

namespace ordito::check {
namespace {

/// Does the last store to shared memory of this kernel stay inside of `tile`, 64 words? %b is a byte, %h 16 bits and %d
/// a word that the kernel has loaded, %c the address of `tile`, %t the thread's number, of 128 × 1 × 1.
bool isInside(const std::string& body) {
  const std::string before =
      ".reg .b32 %t, %a, %b, %c, %d, %h, %i;\n.reg .b64 %g, %w, %x;\n.reg .pred %p;\n.shared .align 8 .b32 tile[64];\n"
      ".shared .align 8 .b32 next[64];\nmov.u32 %t, %tid.x;\nld.param.u64 %g, [in];\nld.global.u32 %d, [%g];\n"
      "ld.global.u8 %b, [%g];\nld.global.u16 %h, [%g];\nsetp.eq.u32 %p, %d, 0;\nmov.u32 %c, tile;\nmov.u64 %x, tile;\n";
  bool is = false;
  ir::withKernel(".param .u64 in", before + body + "\nret;", [&](const ir::Function& function) {
    const Inside inside(function, {128, 1, 1});
    for (const ir::Block& block : function.blocks)
      for (const ir::Instruction& i : block.code)
        if (i.op == isa::Op::St) is = inside.contains(i.operands[0], isa::bits(i.type[0]) / 8);
  });
  return is;
}

/// %i counts words.
bool isIndexInside(const std::string& body, const std::string& store = "st.shared.u32 [%a], %t;") {
  return isInside(body + "\nshl.b32 %a, %i, 2;\nadd.u32 %a, %a, %c;\n" + store);
}

TEST(Inside, Bytes) {
  EXPECT_FALSE(isIndexInside("mov.u32 %i, %b;"));
  EXPECT_TRUE(isIndexInside("shr.u32 %i, %b, 2;"));
  EXPECT_FALSE(isIndexInside("shr.u32 %i, %b, 1;"));
  EXPECT_FALSE(isIndexInside("shr.s32 %i, %b, 2;"));
  EXPECT_TRUE(isInside("mul.wide.u32 %w, %b, 1;\nand.b64 %w, %w, 252;\nadd.s64 %w, %x, %w;\nst.shared.u32 [%w], %t;"));
  EXPECT_TRUE(isIndexInside("cvt.u32.u8 %i, %d;\nand.b32 %i, %i, 63;"));
  EXPECT_TRUE(isIndexInside("cvt.u32.u8 %i, %d;\nshr.u32 %i, %i, 2;"));
  EXPECT_FALSE(isIndexInside("cvt.s32.s8 %i, %d;\nshr.u32 %i, %i, 2;"));
  EXPECT_FALSE(isIndexInside("ld.global.s8 %i, [%g];\nshr.u32 %i, %i, 2;"));
}

TEST(Inside, WhatIsLeftOfAnyNumber) {
  EXPECT_FALSE(isIndexInside("mov.u32 %i, %d;"));
  EXPECT_TRUE(isIndexInside("and.b32 %i, %d, 63;"));
  EXPECT_FALSE(isIndexInside("and.b32 %i, %d, 64;"));
  EXPECT_FALSE(isIndexInside("and.b32 %i, %d, -64;"));
  EXPECT_TRUE(isIndexInside("rem.u32 %i, %d, 64;"));
  EXPECT_FALSE(isIndexInside("rem.u32 %i, %d, 65;"));
  EXPECT_FALSE(isIndexInside("rem.s32 %i, %d, 64;"));
  EXPECT_TRUE(isIndexInside("shr.u32 %i, %d, 26;"));
  EXPECT_FALSE(isIndexInside("shr.s32 %i, %d, 26;"));
  EXPECT_TRUE(isIndexInside("min.u32 %i, %d, 63;"));
  EXPECT_FALSE(isIndexInside("min.s32 %i, %d, 63;"));
}

TEST(Inside, SumsAndProducts) {
  EXPECT_TRUE(isIndexInside("and.b32 %i, %d, 31;\nand.b32 %a, %h, 32;\nadd.u32 %i, %i, %a;"));
  EXPECT_FALSE(isIndexInside("and.b32 %i, %d, 31;\nand.b32 %a, %h, 33;\nadd.u32 %i, %i, %a;"));
  EXPECT_FALSE(isIndexInside("and.b32 %i, %d, 31;\nadd.u32 %i, %i, -1;"));
  EXPECT_FALSE(isIndexInside("and.b32 %i, %d, 31;\nsub.u32 %i, %i, 1;"));
  EXPECT_TRUE(isIndexInside("and.b32 %i, %d, 7;\nand.b32 %a, %h, 7;\nmad.lo.u32 %i, %i, 8, %a;"));
  EXPECT_FALSE(isIndexInside("and.b32 %i, %d, 7;\nand.b32 %a, %h, 7;\nmad.lo.u32 %i, %i, 9, %a;"));
  EXPECT_FALSE(isIndexInside("mul.lo.u32 %i, %d, 0x10000000;"));
  EXPECT_FALSE(isIndexInside("mul.hi.u32 %i, %b, 1;"));
}

TEST(Inside, ThreadsOfTheLaunch) {
  EXPECT_FALSE(isIndexInside("mov.u32 %i, %t;"));
  EXPECT_TRUE(isIndexInside("shr.u32 %i, %t, 1;"));
  EXPECT_TRUE(isIndexInside("mov.u32 %i, %tid.y;"));
  EXPECT_FALSE(isIndexInside("mov.u32 %i, %ctaid.x;"));
}

TEST(Inside, TheWholeAccessAndItsAlignment) {
  EXPECT_TRUE(isIndexInside("and.b32 %i, %d, 31;", "st.shared.u32 [%a+128], %t;"));
  EXPECT_FALSE(isIndexInside("and.b32 %i, %d, 31;", "st.shared.u32 [%a+132], %t;"));
  EXPECT_FALSE(isIndexInside("and.b32 %i, %d, 31;", "st.shared.u32 [%a+2], %t;"));
  EXPECT_FALSE(isIndexInside("and.b32 %i, %d, 31;", "st.shared.u32 [%a+-4], %t;"));
  EXPECT_FALSE(isIndexInside("and.b32 %i, %d, 31;", "st.shared.u64 [%a], %g;"));
  EXPECT_TRUE(isIndexInside("and.b32 %i, %d, 62;", "st.shared.u64 [%a], %g;"));
  EXPECT_FALSE(isInside("and.b32 %a, %d, 63;\nadd.u32 %a, %a, %c;\nst.shared.u32 [%a], %t;"));
}

TEST(Inside, WhatAConditionLeavesAsItWas) {
  EXPECT_FALSE(isIndexInside("mov.u32 %i, %d;\n@%p and.b32 %i, %d, 63;"));
  EXPECT_FALSE(isInside("mov.u32 %a, next;\nsub.u32 %a, %a, %c;\nadd.u32 %a, %a, %c;\nst.shared.u32 [%a], %t;"));
  EXPECT_FALSE(isInside("add.u32 %a, %c, %c;\nst.shared.u32 [%a], %t;"));
}

}  // namespace
}  // namespace ordito::check
