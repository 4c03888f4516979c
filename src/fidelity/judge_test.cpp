// The judgements against what tests/gpu recorded: nothing that is known to differ is called exact, and what is called
// exact has answers of a real GPU, or needs none.
#include "fidelity/judge.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "ptx/parser.hpp"

namespace ordito::fidelity {
namespace {

Kind kindOfOpcode(const std::string& opcode, isa::Op op = isa::Op::Add) { return judgeOpcode(op, opcode).kind; }

TEST(Fidelity, KindsHaveNames) {
  for (int k = 0; k <= static_cast<int>(Kind::Differs); ++k)
    EXPECT_EQ(kindOf(nameOf(static_cast<Kind>(k))), static_cast<Kind>(k));
  EXPECT_FALSE(kindOf("nearly"));
}

TEST(Fidelity, KnowsWhatTheRecordingsSayDiffers) {
  std::ifstream known(ORDITO_KNOWN_DIFFERENCES);
  ASSERT_TRUE(known);
  size_t rules = 0;
  for (std::string line; std::getline(known, line);) {
    std::istringstream words(line);
    std::string opcode, engine, what;
    if (line.starts_with('#') || !(words >> opcode >> engine >> what)) continue;
    ++rules;
    // An instruction that the pattern stands for.
    std::string one = opcode.starts_with("wmma*") ? "wmma.mma" + opcode.substr(4) : opcode;
    for (size_t star; (star = one.find('*')) != std::string::npos;)
      one.replace(star, 1, star + 1 == one.size() ? "" : ".x");
    EXPECT_NE(kindOfOpcode(one), Kind::Exact) << line;
  }
  EXPECT_GT(rules, 20u);
}

TEST(Fidelity, WhatComputesAndIsExactWasAnsweredByAGpu) {
  // Their results are defined by the manual without any arithmetic, or are addresses and policies that only Ordito's
  // own memory has.
  const std::set<std::string> needsNone = {"Isspacep",     "Istypep",           "Cvta",
                                           "Mapa",         "GetCtaRank",        "MbarrierPendingCount",
                                           "CreatePolicy", "CreatePolicyRange", "CreatePolicyCvt"};
  for (uint16_t k = 0; k < static_cast<uint16_t>(isa::Op::Count); ++k) {
    const isa::OpInfo& row = isa::info(static_cast<isa::Op>(k));
    if (row.effect != isa::Effect::Pure || needsNone.contains(std::string(row.name))) continue;
    const auto answers = std::filesystem::path(ORDITO_ANSWERS) / (std::string(row.name) + ".answers");
    if (std::filesystem::exists(answers)) continue;
    EXPECT_NE(judgeOpcode(static_cast<isa::Op>(k), std::string(row.form.mnemonic)).kind, Kind::Exact) << row.name;
  }
}

/// The judgement of each instruction of a kernel's body.
std::vector<Kind> kindsOf(const std::string& body) {
  auto module = ptx::parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".func (.param .b32 r) __nv_sinf(.param .b32 x);\n"
      ".visible .entry k(.param .u64 p)\n{\n"
      "  .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .f64 %d<9>; .reg .pred %p<3>;\n" +
          body + "\n  ret;\n}\n",
      "test.ptx");
  if (!module) {
    ADD_FAILURE() << module.error().message;
    return {};
  }
  std::vector<Kind> kinds;
  const ptx::Function& kernel = module->functions.back();
  for (const ptx::Instruction& i : kernel.instructions) kinds.push_back(judge(*module, kernel, i).kind);
  kinds.pop_back();  // ret
  return kinds;
}

TEST(Fidelity, FloatingAtomicsDependOnAnOrder) {
  EXPECT_EQ(kindsOf("red.global.add.f32 [%rd1], %f1; red.global.add.u32 [%rd1], %r1; red.global.max.s32 [%rd1], %r1;"
                    "atom.global.add.u32 %r1, [%rd1], %r2; st.global.u32 [%rd1], %r1;"),
            (std::vector{Kind::Order, Kind::Exact, Kind::Exact, Kind::Order, Kind::Exact}));
}

TEST(Fidelity, AnAtomWhoseResultNobodyReadsIsAReduction) {
  EXPECT_EQ(kindsOf("atom.global.add.u32 %r1, [%rd1], %r2; atom.global.add.f32 %f1, [%rd1], %f2;"
                    "atom.global.exch.b32 %r3, [%rd1], %r2;"),
            (std::vector{Kind::Exact, Kind::Order, Kind::Order}));
}

TEST(Fidelity, DoublesHavePayloadsOfTheirOwn) {
  EXPECT_EQ(kindsOf("add.f64 %d1, %d2, %d3; add.f32 %f1, %f2, %f3; fma.rn.f32 %f1, %f2, %f3, %f4;"),
            (std::vector{Kind::NanPayload, Kind::Exact, Kind::Exact}));
}

TEST(Fidelity, ClocksAreTheMachines) {
  EXPECT_EQ(kindsOf("mov.u32 %r1, %clock; mov.u32 %r2, %tid.x;"), (std::vector{Kind::Machine, Kind::Exact}));
}

TEST(Fidelity, FunctionsOfTheMathLibraryAreBounded) {
  const auto kinds = kindsOf(
      "{ .param .b32 a; .param .b32 b; st.param.f32 [a], %f1; call (b), __nv_sinf, (a); ld.param.f32 %f2, [b]; }");
  EXPECT_EQ(kinds, (std::vector{Kind::Exact, Kind::Bounded, Kind::Exact}));
}

TEST(Fidelity, TheUnitOfSpecialFunctionsIsTheGpus) {
  EXPECT_EQ(kindsOf("sin.approx.f32 %f1, %f2; ex2.approx.ftz.f32 %f1, %f2;"), (std::vector{Kind::Exact, Kind::Exact}));
}

}  // namespace
}  // namespace ordito::fidelity
