// Faults of every origin end the block and come back as values; what lies outside a block keeps its own handlers.
#include "machine/fault.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "machine/memory.hpp"
#include "machine/test_sanitizer.hpp"

using namespace ordito::machine;

namespace {

class Block : public Executable {
 public:
  explicit Block(std::function<void(const BlockFrame&)> body) : body_(std::move(body)) {}
  BlockStatus runBlock(const BlockFrame& frame) const override {
    body_(frame);
    return BlockStatus::Ended;
  }
  size_t scratchBytes() const override { return 0; }
  size_t localBytes() const override { return 0; }

 private:
  std::function<void(const BlockFrame&)> body_;
};

std::optional<Fault> run(std::function<void(const BlockFrame&)> body) {
  BlockFrame frame{};
  frame.kernelName = "probe";
  frame.ctaid[0] = 7;
  return runGuarded(Block(std::move(body)), frame);
}

/// Not instrumented: the thread sanitizer would look up its shadow of the bad address first, and fail there.
__attribute__((noinline, no_sanitize("thread"))) void poke(uint64_t address) {
  *reinterpret_cast<volatile int*>(address) = 1;
}

TEST(Fault, AGoodBlockHasNone) {
  EXPECT_FALSE(run([](const BlockFrame&) {}));
}

TEST(Fault, ABadAddressIsDescribed) {
  DeviceMemory memory(0, 64 << 20);
  uint64_t address = memory.allocate(8192).value();
  auto fault = run([&](const BlockFrame&) { poke(address + 8192 + 64); });
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::IllegalAddress);
  EXPECT_EQ(fault->address, address + 8192 + 64);
  EXPECT_NE(fault->message.find("kernel 'probe', block (7,0,0)"), std::string::npos) << fault->message;
  EXPECT_NE(fault->message.find("64 bytes past the end of the 8192-byte device allocation"), std::string::npos)
      << fault->message;
}

TEST(Fault, ANonCanonicalAddressHasNoNumber) {
  SKIP_UNDER_THREAD_SANITIZER("a second hardware fault in one thread");
  auto fault = run([](const BlockFrame&) { poke(0x1234567812345678); });
  ASSERT_TRUE(fault);
  EXPECT_EQ(cudaResult(fault->kind), 700);
}

TEST(Fault, RaisedFaultsCarryTheirLine) {
  auto fault = run([](const BlockFrame& frame) { raiseFault(frame, FaultKind::Trap, 42, 0, "trap;"); });
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->ptxLine, 42u);
  EXPECT_EQ(cudaResult(fault->kind), 719);
  EXPECT_NE(fault->message.find("PTX line 42"), std::string::npos) << fault->message;
}

TEST(Fault, AnEngineMapsItsCodeToLines) {
  SKIP_UNDER_THREAD_SANITIZER("a second hardware fault in one thread");
  auto pc = reinterpret_cast<uintptr_t>(&poke);
  registerCodeRange(pc, pc + 64, [](uintptr_t) { return 99u; });
  auto fault = run([](const BlockFrame&) { poke(16); });
  unregisterCodeRange(pc);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->ptxLine, 99u);
  EXPECT_NE(fault->message.find("a null pointer plus 16"), std::string::npos) << fault->message;
}

TEST(Fault, ABlockInsideOfAnotherLeavesItItsOwn) {
  SKIP_UNDER_THREAD_SANITIZER("a second hardware fault in one thread");
  std::optional<Fault> inner;
  auto outer = run([&](const BlockFrame&) {
    inner = run([](const BlockFrame&) { poke(16); });
    poke(24);
  });
  ASSERT_TRUE(inner && outer);
  EXPECT_EQ(inner->address, 16u);
  EXPECT_EQ(outer->address, 24u);
}

TEST(Fault, AnyoneMayAskForTheLineOfGeneratedCode) {
  static const char code[64] = {};
  const auto begin = reinterpret_cast<uintptr_t>(code);
  registerCodeRange(begin, begin + 64, [=](uintptr_t pc) { return static_cast<uint32_t>(pc - begin) + 1; });
  EXPECT_EQ(lineOf(begin), 1u);
  EXPECT_EQ(lineOf(begin + 63), 64u);
  EXPECT_EQ(lineOf(begin + 64), 0u);
  unregisterCodeRange(begin);
  EXPECT_EQ(lineOf(begin), 0u);
}

TEST(Fault, ManyInARowAreCaught) {
  SKIP_UNDER_THREAD_SANITIZER("a second hardware fault in one thread");
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(run([](const BlockFrame&) { poke(16); }));
}

TEST(Fault, OutsideABlockTheProcessDiesAsBefore) {
  run([](const BlockFrame&) {});
  EXPECT_DEATH(poke(16), "");
}

}  // namespace
