// How many counters a graph needs, and that what follows from them is right: the functions are read as text, and run.
#include "jit/counter_flow.hpp"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>

namespace ordito::jit {
namespace {

constexpr const char* kHead =
    "declare void @ordito_runs(i32)\n"
    "declare void @ordito_add_counters(ptr, ptr, i64)\n"
    "define i32 @f(ptr %out, i32 %n, i32 %m) {\n"
    "entry:\n  %words = alloca [8 x i64]\n  store [8 x i64] zeroinitializer, ptr %words\n  br label %head\n";

struct Counted {
  std::array<uint64_t, 8> words{};
  size_t counters = 0;
};

extern "C" void addWords(uint64_t* out, const uint64_t* words, uint64_t count) {
  for (uint64_t k = 0; k < count; ++k) out[k] += words[k];
}

/// Places counters in `f`, and calls it.
Counted run(const std::string& body, uint32_t n, uint32_t m) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic problem;
  auto module = llvm::parseAssemblyString(kHead + body, problem, *context);
  if (!module) ADD_FAILURE() << problem.getMessage().str();
  llvm::Function& f = *module->getFunction("f");
  placeCounters(f);
  EXPECT_FALSE(llvm::verifyFunction(f, &llvm::errs()));
  Counted result;
  for (llvm::Instruction& i : llvm::instructions(f))
    if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&i); alloca && alloca->getName() == "edges")
      result.counters = llvm::cast<llvm::ConstantInt>(alloca->getArraySize())->getZExtValue();
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  llvm::orc::SymbolMap symbols;
  symbols[jit->mangleAndIntern("ordito_add_counters")] = {llvm::orc::ExecutorAddr::fromPtr(&addWords),
                                                          llvm::JITSymbolFlags::Exported};
  llvm::cantFail(jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))));
  llvm::cantFail(jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  auto* code = llvm::cantFail(jit->lookup("f")).toPtr<int (*)(uint64_t*, uint32_t, uint32_t)>();
  code(result.words.data(), n, m);
  return result;
}

std::string mark(int word) { return "  call void @ordito_runs(i32 " + std::to_string(word) + ")\n"; }

const std::string kFlush = "  call void @ordito_add_counters(ptr %out, ptr %words, i64 8)\n";

/// One counter for a loop and its exit.
TEST(CounterFlow, ALoopTakesOneCounter) {
  const Counted c = run("head:\n  %i = phi i32 [0, %entry], [%next, %head]\n" + mark(0) +
                            "  %next = add i32 %i, 1\n  %more = icmp ult i32 %next, %n\n"
                            "  br i1 %more, label %head, label %end\nend:\n" +
                            mark(1) + kFlush + "  ret i32 0\n}\n",
                        5, 0);
  EXPECT_EQ(c.words[0], 5u);
  EXPECT_EQ(c.words[1], 1u);
  EXPECT_EQ(c.counters, 1u);
}

/// The sides of a condition that nobody asks for take none; nor do blocks that never return.
TEST(CounterFlow, WhatNobodyAsksForTakesNone) {
  const Counted c = run("head:\n" + mark(0) +
                            "  %c = icmp eq i32 %m, 0\n  br i1 %c, label %a, label %b\n"
                            "a:\n  br label %join\nb:\n  %d = icmp eq i32 %m, 7\n"
                            "  br i1 %d, label %fault, label %join\nfault:\n" +
                            mark(3) + "  unreachable\njoin:\n" + mark(1) + kFlush + "  ret i32 0\n}\n",
                        0, 3);
  EXPECT_EQ(c.words[0], 1u);
  EXPECT_EQ(c.words[1], 1u);
  EXPECT_EQ(c.words[3], 0u);
  EXPECT_EQ(c.counters, 0u);
}

/// A switch with two cases to one block, a mark that was copied, and two returns.
TEST(CounterFlow, SwitchesCopiesAndReturns) {
  const std::string body =
      "head:\n  %i = phi i32 [0, %entry], [%next, %on]\n" + mark(0) +
      "  %k = urem i32 %i, 5\n"
      "  switch i32 %k, label %other [i32 0, label %two i32 1, label %two i32 2, label %one]\n"
      "two:\n" +
      mark(1) + mark(5) + "  br label %on\none:\n" + mark(2) + mark(5) + "  br label %on\nother:\n" +
      "  %stop = icmp eq i32 %i, %m\n  br i1 %stop, label %early, label %on\nearly:\n" + mark(3) + kFlush +
      "  ret i32 1\non:\n  %next = add i32 %i, 1\n  %more = icmp ult i32 %next, %n\n"
      "  br i1 %more, label %head, label %end\nend:\n" +
      mark(4) + kFlush + "  ret i32 0\n}\n";
  const Counted whole = run(body, 13, 100), part = run(body, 13, 9);
  EXPECT_EQ(whole.words, (std::array<uint64_t, 8>{13, 6, 3, 0, 1, 9, 0, 0}));
  EXPECT_EQ(part.words, (std::array<uint64_t, 8>{10, 4, 2, 1, 0, 6, 0, 0}));
  EXPECT_LE(whole.counters, 3u);
}

/// Random graphs, against the same graph that counts each mark where it stands.
TEST(CounterFlow, AgreesWithCountingEachBlock) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    const unsigned blocks = 3 + random() % 12;
    std::string body = "head:\n  br label %b0\n";
    std::array<uint64_t, 8> expected{};
    std::vector<int> words(blocks);
    std::vector<std::array<unsigned, 2>> next(blocks);
    // The state of a generator decides each branch; a counter of steps ends the walk.
    for (unsigned k = 0; k < blocks; ++k) {
      words[k] = random() % 3 ? static_cast<int>(random() % 8) : -1;
      next[k] = {static_cast<unsigned>(random() % blocks), static_cast<unsigned>(random() % blocks)};
      const std::string s = std::to_string(k);
      body += "b" + s + ":\n" + (words[k] < 0 ? "" : mark(words[k])) + "  %x" + s + " = load i32, ptr %state\n  %y" +
              s + " = mul i32 %x" + s + ", 1664525\n  %z" + s + " = add i32 %y" + s + ", 1013904223\n  store i32 %z" +
              s + ", ptr %state\n  %t" + s + " = load i32, ptr %steps\n  %u" + s + " = sub i32 %t" + s +
              ", 1\n  store i32 %u" + s + ", ptr %steps\n  %e" + s + " = icmp eq i32 %u" + s + ", 0\n  br i1 %e" + s +
              ", label %end, label %c" + s + "\nc" + s + ":\n  %h" + s + " = lshr i32 %z" + s + ", 31\n  %g" + s +
              " = icmp eq i32 %h" + s + ", 0\n  br i1 %g" + s + ", label %b" + std::to_string(next[k][0]) +
              ", label %b" + std::to_string(next[k][1]) + "\n";
    }
    body += "end:\n" + kFlush + "  ret i32 0\n}\n";
    body.replace(body.find("head:\n"), 6,
                 "head:\n  %state = alloca i32\n  %steps = alloca i32\n  store i32 %m, ptr %state\n  store i32 %n, ptr "
                 "%steps\n");
    uint32_t state = seed;
    for (unsigned step = 0, at = 0; step < 200; ++step) {
      if (words[at] >= 0) ++expected[static_cast<size_t>(words[at])];
      state = state * 1664525 + 1013904223;
      at = next[at][state >> 31];
    }
    EXPECT_EQ(run(body, 200, seed).words, expected) << seed;
  }
}

}  // namespace
}  // namespace ordito::jit
