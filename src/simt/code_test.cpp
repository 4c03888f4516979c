// SIMT code as text: what the reader and the verifier refuse, and that no text brings them down.
#include <gtest/gtest.h>

#include <random>

#include "ir/test_kernel.hpp"
#include "simt/code_passes.hpp"
#include "simt/parse_code.hpp"
#include "simt/plan.hpp"
#include "simt/verify_code.hpp"

namespace ordito::simt {
namespace {

/// Calls f(plan) for a kernel with a divergent branch, a loop and a barrier, in blocks of 64 threads.
template <class F>
void withPlan(F&& f) {
  ir::withKernel(".param .u64 out, .param .u32 n", R"(
    .reg .b64 %o, %a;
    .reg .b32 %t, %n, %i;
    .reg .pred %p, %q;
    ld.param.u64 %o, [out];
    ld.param.u32 %n, [n];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %a, %t, 4;
    add.u64 %a, %a, %o;
    setp.lt.u32 %p, %t, %n;
    @%p bra Then;
    mov.u32 %i, 0;
  Loop:
    st.global.u32 [%a], %i;
    add.u32 %i, %i, 1;
    setp.lt.u32 %q, %i, %t;
    @%q bra Loop;
  Then:
    bar.sync 0;
    st.global.u32 [%a+4], %t;
    ret;)",
                 [&](const ir::Function& function) {
                   Facts facts;
                   facts.launch.block[0] = 64;
                   const ir::Analyses analyses(function);
                   const ir::SyncPoints syncPoints = ir::findSyncPoints(analyses, facts.launch);
                   const Kernel kernel(analyses, syncPoints, facts);
                   f(makePlan(kernel));
                 });
}

std::string problemOf(const std::string& text, const Plan& plan) {
  const auto code = parseCode(text, "k.simt", 10, codeInputsOf(plan));
  return code ? "none" : code.error().message;
}

TEST(Code, IsReadAsItIsPrinted) {
  withPlan([](const Plan& plan) {
    for (const CodePass& pass : codePasses()) {
      const std::string text = print(makeCode(codeInputsOf(plan), pass.name), plan.regions);
      const auto again = parseCode(text, "k.simt", 1, codeInputsOf(plan));
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(print(*again, plan.regions), text);
    }
  });
}

TEST(Code, SaysWhereItCannotBeRead) {
  withPlan([](const Plan& plan) {
    const std::string entry = "region from B0: .0\n.0: entry\n";
    EXPECT_EQ(problemOf("run B0\n", plan), "k.simt:10: expected 'region from', found 'run'");
    EXPECT_EQ(problemOf("region from B99: .0\n", plan), "k.simt:10: expected an entry such as 'region from B0: .0'");
    EXPECT_EQ(problemOf("region from B0: .0\n  run B0\n", plan),
              "k.simt:11: expected a block such as '.0: entry', found 'run'");
    EXPECT_EQ(problemOf("region from B0: .0\n.1: entry\n", plan), "k.simt:11: expected block .0, found .1");
    EXPECT_EQ(problemOf(entry + "  walk B0\n", plan), "k.simt:12: no operation 'walk'");
    EXPECT_EQ(problemOf(entry + "  live\n", plan), "k.simt:12: live gives a mask");
    EXPECT_EQ(problemOf(entry + "  m0 = run B0\n", plan), "k.simt:12: run gives no mask");
    EXPECT_EQ(problemOf(entry + "  run B0 %none\n", plan), "k.simt:12: run: unexpected '%none'");
    EXPECT_EQ(problemOf(entry + "  m0 = live\n  branch-any m0 .0\n", plan),
              "k.simt:13: branch-any has 2 targets, not 1");
  });
}

TEST(Code, IsVerified) {
  withPlan([](const Plan& plan) {
    const std::string entry = "region from B0: .0\n.0: entry\n";
    EXPECT_EQ(problemOf(entry + "  run B0\n", plan), "k.simt:10: .0: the block has no end");
    EXPECT_EQ(problemOf(entry + "  branch .7\n", plan), "k.simt:10: .0: it goes to no block");
    EXPECT_EQ(problemOf(entry + "  branch end\n  branch end\n", plan), "k.simt:10: .0: branch in the middle");
    EXPECT_EQ(problemOf(entry + "  branch end\n.1: lost\n  branch end\n", plan), "k.simt:10: .1: nothing leads there");
    EXPECT_EQ(problemOf(entry + "  m0 = live\n  m0 = live\n  branch end\n", plan),
              "k.simt:10: .0: m0 is defined twice");
    EXPECT_EQ(problemOf(entry + "  retire m0\n  m0 = live\n  branch end\n", plan),
              "k.simt:10: .0: retire of m0, whose definition does not dominate it");
    EXPECT_EQ(problemOf(entry + "  m1 = live\n  branch-any m1 .1, .2\n.1: one\n  m0 = live\n  branch .2\n"
                                ".2: two\n  retire m0\n  branch end\n",
                        plan),
              "k.simt:10: .2: retire of m0, whose definition does not dominate it");
    EXPECT_EQ(problemOf(entry + "  m0 = live\n  branch-any m0 .1, .2\n.1: one\n  run B0\n  branch .2\n"
                                ".2: two, behind .0\n  branch end\n",
                        plan),
              "k.simt:10: .2: it inherits from .0, but .1 leads there too");
  });
}

/// Words exchanged, lost and doubled: either code that holds what the verifier says, or a message.
TEST(Code, NoTextBringsTheReaderDown) {
  withPlan([](const Plan& plan) {
    const CodeInputs inputs = codeInputsOf(plan);
    const std::string text = print(makeCode(inputs), plan.regions);
    std::mt19937 random(14);
    auto place = [&](const std::string& s) { return s.empty() ? 0 : random() % s.size(); };
    unsigned refused = 0;
    for (int k = 0; k < 20'000; ++k) {
      std::string changed = text;
      for (unsigned n = random() % 3 + 1; n > 0; --n) {
        const size_t from = place(text), length = random() % 12;
        switch (random() % 3) {
          case 0: changed.erase(place(changed), length); break;
          case 1: changed.insert(place(changed), text.substr(from, length)); break;
          default: changed.replace(place(changed), length, text.substr(from, length)); break;
        }
      }
      auto code = parseCode(changed, "k.simt", 1, inputs);
      if (!code) {
        ++refused;
        continue;
      }
      dropEvents(*code, inputs);
      dropDeadMasks(*code, inputs);
      EXPECT_FALSE(verify(*code, inputs));
    }
    EXPECT_GT(refused, 10'000u);
    EXPECT_LT(refused, 20'000u);
  });
}

}  // namespace
}  // namespace ordito::simt
