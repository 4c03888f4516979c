// What is printed is read again as the same function, for every kernel of the text tests; and what the reader refuses.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/parse.hpp"
#include "ir/print.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace ordito::ir {
namespace {

std::string textOf(const Function& f) { return ptx::printDeclarations(*f.module) + print(f); }

std::vector<std::string> namesIn(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Source locations are not part of the text.
std::vector<Block> blocksOf(Function f) {
  for (Block& b : f.blocks) {
    for (Instruction& i : b.code) i.location = 0;
    b.end.barrier.location = 0;
  }
  return f.blocks;
}

void expectRoundTrip(const ptx::Module& module, const ptx::Function& kernel, bool hasZones) {
  auto function = buildCfg(module, kernel, {}, false, hasZones);
  if (!function) return;  // refused by name, which other tests look at
  buildSsa(*function);
  const auto ok = verify(*function);
  ASSERT_TRUE(ok) << kernel.name << ": " << ok.error().message;
  const std::string text = textOf(*function);
  auto document = parse(text, kernel.name);
  ASSERT_TRUE(document) << document.error().message << "\n" << text;
  ASSERT_EQ(document->functions.size(), 1U);
  const Function& again = document->functions[0];
  EXPECT_EQ(namesIn(textOf(again)), namesIn(text)) << kernel.name;
  EXPECT_EQ(blocksOf(again), blocksOf(*function)) << kernel.name;
  EXPECT_EQ(again.origin, function->origin) << kernel.name;
  EXPECT_EQ(again.stack, function->stack) << kernel.name;
  EXPECT_EQ(again.values.size(), function->values.size());
  EXPECT_TRUE(verify(again));
}

TEST(Text, RoundTripsEveryKernelOfTheTextTests) {
  size_t kernels = 0;
  for (const auto& file : std::filesystem::directory_iterator(ORDITO_PTX_TESTS)) {
    if (file.path().extension() != ".ptx") continue;
    std::ifstream stream(file.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto module = ptx::parse(text, file.path().filename().string());
    if (!module) continue;  // a test of a refusal
    for (const ptx::Function& f : module->functions)
      if (f.isEntry && f.hasBody) expectRoundTrip(*module, f, false), expectRoundTrip(*module, f, true), ++kernels;
  }
  EXPECT_GT(kernels, 200U);
}

constexpr std::string_view kHead = ".version 8.3\n.target sm_80\n.address_size 64\n";

/// The message for a kernel with this body, without its file and line.
std::string refusal(const std::string& body) {
  const auto document = parse(std::string(kHead) + ".visible .entry k() {\n" + body + "\n}\n", "k.ir");
  return document ? "" : document.error().message;
}

TEST(Text, ReadsWhatATestWritesByHand) {
  const auto document = parse(std::string(kHead) + R"(
// Lines, predecessors and origins may be left out.
.visible .entry k(.param .u64 out) {
  .reg .u32 %a, %b, %c;
  .reg .pred %p;
  .reg .u64 %o;
B0:
  mov.u32 %a, %tid.x;
  setp.eq.u32 %p, %a, 0;
  branch !%p, B1, B2;
B1: from B0
  add.u32 %b, %a, 1;  // a comment
  jump B2;
B2: from B0, B1
  phi %c = %a, %b;
  ld.param.u64 %o, [out];
  @%p st.global.u32 [%o], %c;
  barrier B3: bar.sync 0;
B3: from B2
  exit;
})");
  ASSERT_TRUE(document) << document.error().message;
  const Function& f = document->functions.at(0);
  const auto ok = verify(f);
  EXPECT_TRUE(ok) << ok.error().message;
  ASSERT_EQ(f.blocks.size(), 4U);
  EXPECT_TRUE(f.blocks[0].end.negated);
  EXPECT_EQ(f.blocks[2].phis[0].incoming, (std::vector<ValueId>{0, 1}));
  EXPECT_EQ(f.blocks[2].end.barrier.op, isa::Op::BarSync);
}

TEST(Text, RefusesWhatItCannotRead) {
  EXPECT_EQ(refusal("B0:\n\tphi %x = %x;\n\texit;"), "k.ir:6: '%x' is not declared");
  EXPECT_EQ(refusal("B1:\n\texit;"), "k.ir:5: expected B0, found B1");
  EXPECT_EQ(refusal("\texit;"), "k.ir:5: a statement outside of a block: a label such as B0: is missing");
  EXPECT_EQ(refusal("B0:\n\tmov.b32 %a, 1;\n"), "k.ir:6:9: kernel 'k': '%a' is not declared");
  EXPECT_EQ(refusal("\t.reg .b32 %a;\nB0:\n\tmov.b32 %a, 1;"), "k.ir:7: the last block has no end");
  EXPECT_EQ(refusal("\t.reg .b32 %a<4>;\nB0:\n\texit;"), "k.ir:5: name each value: '%a<4>' names several");
  EXPECT_EQ(refusal("B0:\n\ttrap sometimes;"), "k.ir:6: 'sometimes' is no cause of a trap");
  EXPECT_EQ(refusal("B0:\n\tjump Bx;"), "k.ir:6: 'x' is no number");
}

}  // namespace
}  // namespace ordito::ir
