// Which accesses that data decides about are covered by others.
#include "check/covers.hpp"

#include <gtest/gtest.h>

#include "ir/test_kernel.hpp"

namespace ordito::check {
namespace {

/// By how many accesses the last store to shared memory of this kernel is covered; nothing: by none on some way. %a is
/// the address of the thread's word, %d what the kernel has loaded from global memory, %p whether that is 0.
std::optional<size_t> coversOf(const std::string& body) {
  const std::string before =
      ".reg .b32 %t, %a, %c, %d, %v, %w;\n.reg .b64 %g;\n.reg .pred %p, %q;\n.shared .align 8 .b32 tile[64];\n"
      "mov.u32 %t, %tid.x;\nld.param.u64 %g, [in];\nld.global.u32 %d, [%g];\nsetp.eq.u32 %p, %d, 0;\n"
      "setp.lt.u32 %q, %t, 32;\nmov.u32 %c, tile;\nshl.b32 %a, %t, 2;\nadd.u32 %a, %a, %c;\n";
  std::optional<size_t> count;
  ir::withKernel(".param .u64 in", before + body + "\nEnd:\nret;", [&](const ir::Function& function) {
    const ir::BlockForms forms(function, {});
    const Covers covers(function, forms);
    for (ir::BlockId b = 0; b < function.blocks.size(); ++b)
      for (size_t k = 0; k < function.blocks[b].code.size(); ++k)
        if (function.blocks[b].code[k].op == isa::Op::St)
          if (const auto found = covers.of(b, k)) count = found->size();
  });
  return count;
}

const std::string kStoreIf = "@%p bra End;\nst.shared.u32 [%a+4], %t;";

TEST(Covers, ALoadOfTheSamePlace) { EXPECT_EQ(coversOf("ld.shared.u32 %v, [%a+4];\n" + kStoreIf), 1u); }

TEST(Covers, AnotherPlaceOrFewerBytesDoNot) {
  EXPECT_FALSE(coversOf("ld.shared.u32 %v, [%a];\n" + kStoreIf));
  EXPECT_FALSE(coversOf("ld.shared.u16 %v, [%a+4];\n" + kStoreIf));
  EXPECT_EQ(coversOf("ld.shared.v2.u32 {%v, %w}, [%a+4];\n" + kStoreIf), 1u);
}

TEST(Covers, NotWhereThreadsMeetBetween) {
  EXPECT_FALSE(coversOf("ld.shared.u32 %v, [%a+4];\nbar.sync 0;\n" + kStoreIf));
  EXPECT_FALSE(coversOf("ld.shared.u32 %v, [%a+4];\nbar.warp.sync -1;\n" + kStoreIf));
  EXPECT_EQ(coversOf("bar.sync 0;\nld.shared.u32 %v, [%a+4];\n" + kStoreIf), 1u);
}

TEST(Covers, WhatDataDecidesAboutDoesNot) {
  EXPECT_FALSE(coversOf("@%p bra End;\nld.shared.u32 %v, [%a+4];\nst.shared.u32 [%a+4], %t;"));
  EXPECT_FALSE(coversOf("@!%p ld.shared.u32 %v, [%a+4];\n" + kStoreIf));
}

// In all blocks alike, but not by all of the threads that may store.
TEST(Covers, WhatSomeThreadsDoDoesNot) { EXPECT_FALSE(coversOf("@%q ld.shared.u32 %v, [%a+4];\n" + kStoreIf)); }

TEST(Covers, OnEachWay) {
  const std::string one = "@%q bra Other;\nld.shared.u32 %v, [%a+4];\nbra Join;\nOther:\n", join = "Join:\n";
  EXPECT_FALSE(coversOf(one + join + kStoreIf));
  EXPECT_EQ(coversOf(one + "ld.shared.u32 %w, [%a+4];\n" + join + kStoreIf), 2u);
}

// The load of the iteration before was of another place.
TEST(Covers, NotByAnotherIteration) {
  EXPECT_FALSE(
      coversOf("Again:\n@%p bra Next;\nst.shared.u32 [%a], %t;\nNext:\nld.shared.u32 %v, [%a];\nadd.u32 %a, %a, 4;\n"
               "setp.lt.u32 %q, %a, %d;\n@%q bra Again;"));
}

}  // namespace
}  // namespace ordito::check
