// Which branches become selections.
#include "ir/if_convert.hpp"

#include <gtest/gtest.h>

#include "ir/test_kernel.hpp"

namespace ordito::ir {
namespace {

/// Blocks of a kernel with this body, behind `ifConvert`; %t is threadIdx.x.
size_t blocksOf(const std::string& body) {
  size_t blocks = 0;
  const std::string declarations =
      ".reg .b32 %t, %a, %b;\n.reg .b64 %o, %w;\n.reg .pred %p;\nmov.u32 %t, %tid.x;\nld.param.u64 %o, [out];\n";
  withKernel(".param .u64 out", declarations + body + "\nst.global.u32 [%o], %a;\nret;", [&](Function& function) {
    ifConvert(function, {{64, 1, 1}});
    const auto ok = verify(function);
    EXPECT_TRUE(ok) << ok.error().message;
    blocks = function.blocks.size();
  });
  return blocks;
}

const std::string kIfOdd = "and.b32 %b, %t, 1;\nsetp.eq.u32 %p, %b, 0;\nmov.u32 %a, 7;\n";

TEST(Selection, TwoShortSides) {
  EXPECT_EQ(blocksOf(kIfOdd + "@%p bra Even;\nadd.u32 %a, %t, 1;\nbra Join;\nEven:\nshl.b32 %a, %t, 2;\nJoin:"), 1u);
}

TEST(Selection, OneSide) {
  EXPECT_EQ(blocksOf(kIfOdd + "@%p bra Join;\nadd.u32 %a, %t, 1;\nJoin:"), 1u);
  EXPECT_EQ(blocksOf(kIfOdd + "@!%p bra Join;\nadd.u32 %a, %t, 1;\nJoin:"), 1u);
}

TEST(Selection, OneInsideTheOther) {
  EXPECT_EQ(blocksOf(kIfOdd + "@%p bra Join;\nadd.u32 %a, %t, 1;\nsetp.gt.u32 %p, %t, 5;\n@%p bra Inner;\nadd.u32 %a, "
                              "%a, 2;\nInner:\nJoin:"),
            1u);
}

TEST(Selection, NotOfMemory) { EXPECT_EQ(blocksOf(kIfOdd + "@%p bra Join;\nld.global.u32 %a, [%o];\nJoin:"), 3u); }

TEST(Selection, NotOfMuchWork) {
  std::string work;
  for (int k = 0; k < 20; ++k) work += "mad.lo.u32 %a, %a, %a, %t;\n";
  EXPECT_EQ(blocksOf(kIfOdd + "@%p bra Join;\n" + work + "Join:"), 3u);
}

TEST(Selection, NotOfDivisions) { EXPECT_EQ(blocksOf(kIfOdd + "@%p bra Join;\nrem.u32 %a, %t, %b;\nJoin:"), 3u); }

TEST(Selection, NotWhereLanesAgree) {
  EXPECT_EQ(blocksOf("mov.u32 %a, %ctaid.x;\nsetp.eq.u32 %p, %a, 0;\n@%p bra Join;\nadd.u32 %a, %a, 1;\nJoin:"), 3u);
}

TEST(Selection, NotOfAddressesThatAreChecked) {
  EXPECT_EQ(blocksOf(kIfOdd + "@%p bra Join;\nmul.wide.u32 %w, %t, 4;\nadd.u64 %o, %o, %w;\nJoin:"), 3u);
}

}  // namespace
}  // namespace ordito::ir
