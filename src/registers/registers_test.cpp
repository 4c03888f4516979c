// Each step on a few lines of PTX, and the estimate of whole kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ir/test_kernel.hpp"
#include "registers/estimate.hpp"
#include "registers/program.hpp"

namespace ordito::registers {
namespace {

constexpr const char* kPointers = ".param .u64 in, .param .u64 out, .param .u32 n";
constexpr const char* kDeclarations =
    ".reg .b32 %r<40>;\n.reg .b64 %a<40>;\n.reg .f32 %f<40>;\n.reg .f64 %d<9>;\n.reg .pred %p<4>;\n"
    ".shared .align 4 .b8 tile[4096];\n";

/// Element tid of `in` is at %a2, of `out` at %a3.
constexpr const char* kAddresses =
    "ld.param.u64 %a0, [in];\nld.param.u64 %a1, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %a4, %r0, 4;\n"
    "add.s64 %a2, %a0, %a4;\nadd.s64 %a3, %a1, %a4;\n";

/// `f` gets the values and a way to find one by the name of its register.
template <class F>
void withValues(const std::string& body, int sm, F&& f) {
  ir::withKernel(kPointers, kDeclarations + body, [&](const ir::Function& function) {
    const Values values = analyse(function, sm);
    f(values, [&](const std::string& name) -> ValueId {
      for (ValueId v = 0; v < function.values.size(); ++v)
        if (function.values[v].name == name && values.of[v].block != ir::kNoBlock) return v;
      ADD_FAILURE() << name;
      return 0;
    });
  });
}

template <class F>
void withProgram(const std::string& body, F&& f) {
  withValues(body, 80, [&](const Values& values, auto&&) { f(programOf(values)); });
}

/// The registers of a kernel with these directives, on sm_80.
uint32_t registersOf(const std::string& body, const std::string& directives = "") {
  auto module = ptx::parse(
      ".version 8.3\n.target sm_80\n.address_size 64\n.extern .func elsewhere();\n.func helper() { ret; }\n.func "
      "again() { call again; ret; }\n.visible .entry k(" +
          std::string(kPointers) + ")\n" + directives + " {\n" + kDeclarations + body + "\nret;\n}\n",
      "k");
  if (!module) {
    ADD_FAILURE() << module.error().message;
    return 0;
  }
  return estimate(*module, *module->findFunction("k"), targetFor(80));
}

/// So many loads that are all added up at the end.
std::string manyLoads(unsigned count) {
  std::string text = std::string(kAddresses) + "mov.f32 %f39, 0f00000000;\n";
  for (unsigned k = 0; k < count; ++k)
    text += "ld.global.f32 %f" + std::to_string(k) + ", [%a2+" + std::to_string(1024 * k) + "];\n";
  for (unsigned k = 0; k < count; ++k) text += "add.f32 %f39, %f39, %f" + std::to_string(k) + ";\n";
  return text + "st.global.f32 [%a3], %f39;\n";
}

size_t nodesNamed(const Program& program, std::string_view name) {
  size_t count = 0;
  for (const ProgramBlock& block : program.blocks)
    for (const Node& node : block.nodes) count += node.source && node.source->info().name == name;
  return count;
}

TEST(Values, MovesAndAddressConversionsAreCopies) {
  withValues(
      "ld.param.u64 %a0, [in];\ncvta.to.global.u64 %a1, %a0;\nmov.u64 %a2, %a1;\nst.global.u64 [%a2], %a2;\nret;", 80,
      [](const Values& values, auto&& named) {
        EXPECT_EQ(values.resolve(named("%a2")), values.resolve(named("%a0")));
        EXPECT_EQ(values[named("%a2")].file, File::Bank);
      });
}

TEST(Values, EqualInstructionsAreOne) {
  withValues(std::string(kAddresses) + "mov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, %r0;\nst.global.u32 [%a2], %r2;\nret;",
             80, [](const Values& values, auto&& named) {
               EXPECT_EQ(values.resolve(named("%r1")), values.resolve(named("%r0")));
             });
}

TEST(Values, WhatNobodyReadsIsNotNeeded) {
  withValues(std::string(kAddresses) + "ld.global.u32 %r1, [%a3];\nst.global.u32 [%a2], %r0;\nret;", 80,
             [](const Values& values, auto&& named) {
               EXPECT_FALSE(values[named("%r1")].isNeeded);
               EXPECT_TRUE(values[named("%r0")].isNeeded);
             });
}

TEST(Values, AddressesOfSharedMemoryTakeOneRegister) {
  withValues(
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %a0, %r0, 4;\nmov.u64 %a1, tile;\nadd.s64 %a2, %a1, %a0;\n"
      "st.shared.u32 [%a2], %r0;\nret;",
      80, [](const Values& values, auto&& named) { EXPECT_EQ(values[named("%a2")].words, 1); });
}

TEST(Values, BlockIndicesAreUniformWhereThereIsAUniformDataPath) {
  const std::string body =
      "ld.param.u64 %a0, [out];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %ctaid.x;\nmul.lo.u32 %r2, %r1, %r0;\n"
      "mov.u32 %r3, %tid.x;\nxor.b32 %r4, %r3, %r2;\nst.global.u32 [%a0], %r4;\nret;";
  withValues(body, 80, [](const Values& values, auto&& named) {
    EXPECT_EQ(values[named("%r2")].file, File::Uniform);
    EXPECT_EQ(values[named("%r4")].file, File::General);
  });
  withValues(body, 70, [](const Values& values, auto&& named) { EXPECT_EQ(values[named("%r2")].file, File::General); });
}

TEST(Values, NothingIsUniformBehindABranchOnTheThread) {
  withValues(
      "ld.param.u64 %a0, [out];\nmov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 bra End;\nmov.u32 %r1, "
      "%ctaid.x;\n"
      "add.u32 %r2, %r1, 7;\nst.global.u32 [%a0], %r2;\nEnd:\nret;",
      80, [](const Values& values, auto&& named) { EXPECT_EQ(values[named("%r2")].file, File::General); });
}

TEST(Values, FloatsAreNotUniformThoughTheyAreTheSameInAllLanes) {
  withValues(
      "ld.param.u64 %a0, [out];\nld.param.u32 %r0, [n];\nmov.f32 %f0, 0f3F800000;\nmov.u32 %r1, 0;\nLoop:\n"
      "mul.f32 %f0, %f0, 0f40000000;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra Loop;\n"
      "st.global.f32 [%a0], %f0;\nret;",
      80, [](const Values& values, auto&&) {
        std::vector<File> phis;
        for (ValueId v = 0; v < values.of.size(); ++v)
          if (values.of[v].isPhi && values.of[v].same == v) phis.push_back(values.of[v].file);
        std::sort(phis.begin(), phis.end());
        EXPECT_EQ(phis, (std::vector{File::Uniform, File::General}));  // the counter and the product
      });
}

TEST(Values, AProductIsFoldedIntoItsSums) {
  withValues(std::string(kAddresses) + "ld.global.u32 %r1, [%a2];\nst.global.u32 [%a3], %r1;\nret;", 80,
             [](const Values& values, auto&& named) {
               EXPECT_EQ(values[named("%a4")].parts, std::vector<ValueId>{named("%r0")});
             });
}

TEST(Program, AShortSideOfABranchIsPredicated) {
  withProgram(std::string(kAddresses) +
                  "ld.global.u32 %r1, [%a2];\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra Join;\nadd.u32 %r1, %r1, 5;\nJoin:\n"
                  "st.global.u32 [%a3], %r1;\nret;",
              [](const Program& program) {
                const auto isUsed = [](const ProgramBlock& b) { return b.nodes.size() > 1; };
                EXPECT_EQ(std::count_if(program.blocks.begin(), program.blocks.end(), isUsed), 1);
              });
}

std::string loop(const std::string& start) {
  return std::string(kAddresses) + "ld.param.u32 %r5, [n];\n" + start +
         "mov.u32 %r2, 0;\nmov.u32 %r1, 0;\nLoop:\nld.global.u32 %r3, [%a2];\nadd.u32 %r1, %r1, %r3;\nadd.s64 %a2, "
         "%a2, 4;\n"
         "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, %r5;\n@%p0 bra Loop;\nst.global.u32 [%a3], %r1;\nret;";
}

TEST(Program, ACountedLoopIsUnrolled) {
  withProgram(loop(""), [](const Program& program) { EXPECT_EQ(nodesNamed(program, "Ld"), 4u); });
}

TEST(Program, WhatAFrontEndsUnrollingLeftIsNotUnrolled) {
  withProgram(loop("and.b32 %r5, %r5, 3;\n"), [](const Program& program) { EXPECT_EQ(nodesNamed(program, "Ld"), 1u); });
}

TEST(Scheduler, LoadsComeFirstUntilRegistersAreShort) {
  withProgram(manyLoads(16) + "ret;", [](const Program& program) {
    const Scheduler scheduler(program, program.blocks[0]);
    EXPECT_GE(scheduler.pressure(scheduler.order(1000)), 18u);
    EXPECT_LE(scheduler.pressure(scheduler.order(8)), 10u);
  });
}

TEST(Scheduler, AStoreThatMayOverlapStaysBehindTheLoad) {
  withProgram(
      std::string(kAddresses) +
          "ld.global.u32 %r1, [%a2];\nst.global.u32 [%a3], %r0;\nld.global.u32 %r2, [%a2];\nadd.u32 %r3, %r1, %r2;\n"
          "st.global.u32 [%a3+4], %r3;\nret;",
      [](const Program& program) {
        const ProgramBlock& block = program.blocks[0];
        std::string accesses;
        for (uint32_t n : Scheduler(program, block).order(1000))
          if (block.nodes[n].access.kind != Access::Kind::None)
            accesses += block.nodes[n].access.kind == Access::Kind::Load ? 'l' : 's';
        EXPECT_EQ(accesses, "lsls");
      });
}

// The numbers of ptxas 13.0 for sm_80 stand beside.
TEST(Estimate, SmallKernels) {
  EXPECT_EQ(registersOf(""), 4u);  // 4
  EXPECT_NEAR(registersOf(std::string(kAddresses) + "ld.global.u32 %r1, [%a2];\nst.global.u32 [%a3], %r1;"), 8,
              2);  // 8
}

TEST(Estimate, LoadsWaitTogetherAsLongAsOccupancyIsFull) {
  EXPECT_NEAR(registersOf(manyLoads(12)), 20, 2);  // 20
  EXPECT_LE(registersOf(manyLoads(36)), 32u);
}

TEST(Estimate, DivisionsBringRegistersOfTheirOwn) {
  const std::string loads = std::string(kAddresses) + "ld.global.f32 %f1, [%a2];\nld.global.f32 %f2, [%a2+4];\n";
  EXPECT_NEAR(registersOf(loads + "div.rn.f32 %f1, %f1, %f2;\nst.global.f32 [%a3], %f1;"), 16, 2);  // 16
  EXPECT_LE(registersOf(loads + "div.approx.f32 %f1, %f1, %f2;\nst.global.f32 [%a3], %f1;"), 12u);  // 10
}

TEST(Estimate, CallsOfFunctionsElsewhereBringTheirConvention) {
  EXPECT_EQ(registersOf("call elsewhere;"), 24u);
  EXPECT_EQ(registersOf("call again;"), 24u);
  EXPECT_LT(registersOf("call helper;"), 24u);
}

TEST(Estimate, WhatLivesAllThroughALoopIsNotSqueezed) {
  // Fifteen doubles that go round, five that are added, and divisions: more than 57, as Numba's suite wants of a GPU.
  std::string body = ".reg .f64 %w<20>;\nld.param.u64 %a0, [out];\nld.param.u32 %r0, [n];\nmov.u32 %r1, 0;\n";
  for (int k = 0; k < 5; ++k) body += "cvt.rn.f64.s32 %w" + std::to_string(k) + ", %r0;\nadd.u32 %r0, %r0, 1;\n";
  for (int k = 5; k < 20; ++k) body += "mov.f64 %w" + std::to_string(k) + ", 0d3FF0000000000000;\n";
  body += "Loop:\n";
  for (int k = 5; k < 20; ++k) {
    const std::string number = "%w" + std::to_string(k);
    body += std::string(k < 10 ? "add.f64 " : k < 15 ? "mul.f64 " : "div.rn.f64 ");
    body += number + ", " + number + ", %w" + std::to_string(k % 5) + ";\n";
  }
  body += "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra Loop;\n";
  for (int k = 6; k < 20; ++k) body += "add.f64 %w5, %w5, %w" + std::to_string(k) + ";\n";
  EXPECT_GT(registersOf(body + "st.global.f64 [%a0], %w5;"), 57u);
}

TEST(Estimate, DirectivesBoundIt) {
  // 60 values of 64 bits live at once: all are read before the first is written.
  std::string body = ".reg .f64 %w<200>;\n" + std::string(kAddresses);
  for (int k = 0; k < 60; ++k)
    body += "ld.volatile.global.f64 %w" + std::to_string(k) + ", [%a2+" + std::to_string(8 * k) + "];\n";
  for (int k = 0; k < 60; ++k)
    body += "st.volatile.global.f64 [%a3+" + std::to_string(8 * k) + "], %w" + std::to_string(k) + ";\n";
  EXPECT_GT(registersOf(body), 100u);
  EXPECT_EQ(registersOf(body, ".maxnreg 48"), 48u);
  EXPECT_EQ(registersOf(body, ".maxntid 1024"), 64u);
  EXPECT_EQ(registersOf(body, ".maxntid 256, 1, 1\n.minnctapersm 3"), 80u);
}

}  // namespace
}  // namespace ordito::registers
