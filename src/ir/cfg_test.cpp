// Where blocks begin.
#include <gtest/gtest.h>

#include "ir/ir.hpp"
#include "ptx/parser.hpp"

namespace ordito::ir {
namespace {

size_t blocksOf(const std::string& body) {
  auto module =
      ptx::parse(".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k() {\n" + body + "\n}\n", "k");
  if (!module) {
    ADD_FAILURE() << module.error().message;
    return 0;
  }
  auto function = buildCfg(*module, module->functions[0]);
  if (!function) {
    ADD_FAILURE() << function.error().message;
    return 0;
  }
  return function->blocks.size();
}

TEST(Cfg, LabelsOfSourceLinesCutNothing) {
  // As clang writes them with line tables. Each block of divergent code costs a mask and a test.
  EXPECT_EQ(blocksOf(".reg .b32 %r<3>;\nmov.b32 %r0, 1;\n$L__tmp0:\nadd.s32 %r1, %r0, 1;\n$L__tmp1:\nadd.s32 %r2, %r1, "
                     "%r0;\n$L__func_end0:\nret;"),
            1U);
}

TEST(Cfg, LabelsThatBranchesLeadToBeginBlocks) {
  EXPECT_EQ(blocksOf(".reg .b32 %r<2>;\n.reg .pred %p;\nmov.u32 %r0, %tid.x;\nsetp.eq.u32 %p, %r0, 0;\n@%p bra "
                     "Behind;\nmov.b32 %r1, 1;\nBehind:\nmov.b32 %r1, 2;\nret;"),
            3U);
}

}  // namespace
}  // namespace ordito::ir
