// Blocks of one grid run in the interpreter, on baseline code and on optimised code, whatever is there when they start:
// the results and the counters are those of one engine, and blocks that wait for one another meet.
#include "machine/tiers.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "interp/interpreter.hpp"
#include "jit/jit.hpp"
#include "machine/layout.hpp"
#include "machine/scheduler.hpp"
#include "ptx/parser.hpp"

namespace ordito::driver {
namespace {

/// Each thread mixes its number `turns` times, takes over what its neighbour in the block has, and adds up in `sum`.
/// With `blocks` > 0, all blocks of the grid meet three times at a barrier made by hand, in `arrived`.
constexpr const char* kPtx = R"(
.version 8.3
.target sm_80
.address_size 64
.visible .entry mixed(.param .u64 out, .param .u64 sum, .param .u64 arrived, .param .u32 turns, .param .u32 blocks) {
  .shared .align 4 .b8 values[256];
  .reg .b32 %t, %x, %k, %turns, %a, %b, %g, %goal, %seen;
  .reg .b64 %p, %o, %s;
  .reg .pred %q, %c;
  mov.u32 %t, %tid.x;
  mov.u32 %g, %ctaid.x;
  mad.lo.u32 %g, %g, 64, %t;
  ld.param.u32 %turns, [turns];
  mov.u32 %x, %g;
  mov.u32 %k, 0;
Mix:
  mad.lo.u32 %x, %x, 1664525, 1013904223;
  and.b32 %a, %x, 4096;
  setp.eq.u32 %q, %a, 0;
  @%q bra Even;
  xor.b32 %x, %x, %k;
  ld.param.u64 %p, [sum];
Even:
  add.u32 %k, %k, 1;
  setp.lt.u32 %q, %k, %turns;
  @%q bra Mix;
  shl.b32 %a, %t, 2;
  mov.u32 %b, values;
  add.u32 %b, %b, %a;
  st.shared.u32 [%b], %x;
  bar.sync 0;
  xor.b32 %a, %t, 33;
  shl.b32 %a, %a, 2;
  mov.u32 %b, values;
  add.u32 %b, %b, %a;
  ld.shared.u32 %a, [%b];
  add.u32 %x, %x, %a;
  ld.param.u64 %p, [sum];
  red.global.add.u32 [%p], %x;
  ld.param.u32 %b, [blocks];
  mov.u32 %goal, 0;
  mul.lo.u32 %k, %b, 3;
Meet:
  setp.ge.u32 %q, %goal, %k;
  @%q bra Met;
  add.u32 %goal, %goal, %b;
  bar.sync 0;
  setp.ne.u32 %c, %t, 0;
  @%c bra Others;
  ld.param.u64 %s, [arrived];
  membar.gl;
  red.global.add.u32 [%s], 1;
Wait:
  ld.volatile.global.u32 %seen, [%s];
  setp.lt.u32 %q, %seen, %goal;
  @%q bra Wait;
Others:
  bar.sync 0;
  bra Meet;
Met:
  ld.param.u64 %o, [out];
  mul.wide.u32 %p, %g, 4;
  add.u64 %o, %o, %p;
  st.global.u32 [%o], %x;
  ret;
}
)";

constexpr uint32_t kThreads = 64;

/// Results begin at the same place of a line of memory each time, or else the sectors that they touch would differ.
struct alignas(128) Line {
  uint32_t words[32] = {};
  bool operator==(const Line&) const = default;
};

struct Outcome {
  std::vector<Line> out;
  uint32_t sum = 0;
  std::vector<uint64_t> counters;
  bool operator==(const Outcome&) const = default;
};

struct Kernel {
  machine::ModulePtr module = std::make_shared<const ptx::Module>(std::move(*ptx::parse(kPtx)));
  const ptx::Function& entry = module->functions[0];
};

struct Work {
  uint32_t blocks, turns;
  bool meets = false;     // the blocks of the grid
  bool counters = false;  // how often a block looks whether others have come is not the same twice
};

Outcome run(const machine::Executable& code, const Kernel& kernel, const Work& work) {
  Outcome outcome{std::vector<Line>(size_t{work.blocks} * kThreads / 32), 0, {}};
  uint32_t arrived = 0;
  struct {
    Line* out;
    uint32_t *sum, *arrived;
    uint32_t turns, blocks;
  } parameters{outcome.out.data(), &outcome.sum, &arrived, work.turns, work.meets ? work.blocks : 0};
  const machine::KernelLayout layout = machine::layoutKernel(*kernel.module, kernel.entry);
  machine::GridLaunch grid;
  grid.executable = &code;
  grid.kernelName = "mixed";
  grid.grid = {work.blocks, 1, 1};
  grid.block = {kThreads, 1, 1};
  grid.parameters = reinterpret_cast<const std::byte*>(&parameters);
  grid.functions = kernel.module->functions.data();
  grid.totalSharedBytes = layout.staticSharedBytes;
  grid.counters = work.counters;
  grid.cooperative = work.meets;
  const machine::GridResult result = machine::scheduler().run(grid);
  EXPECT_FALSE(result.fault) << result.fault->message;
  outcome.counters.assign(result.counters, result.counters + machine::kCounterCount);
  return outcome;
}

bool isInterpreted(const machine::Executable& code) { return code.latest().scratchBytes() <= 2 * sizeof(void*); }

class TiersTest : public testing::Test {
 protected:
  /// What only one engine makes of it.
  Outcome expected(const Work& work) const {
    const auto engine = jit::makeJit();
    auto code = engine->compile(kernel_.module, kernel_.entry, {{kThreads, 1, 1}, work.counters});
    EXPECT_TRUE(code);
    return run(**code, kernel_, work);
  }

  static std::unique_ptr<machine::Engine> tiers(machine::TierRules rules = {}) {
    return machine::makeTiers(
        jit::makeJit({.baseline = jit::BaselineCode::First, .largeKernel = 0, .delay = std::chrono::milliseconds(60)}),
        interp::makeInterpreter(), std::move(rules));
  }

  /// A grid that begins in the interpreter and ends on code.
  void expectTheSame(const Work& work) {
    const Outcome wanted = expected(work);
    const auto engine = tiers();
    auto code = engine->compile(kernel_.module, kernel_.entry, {{kThreads, 1, 1}, work.counters});
    ASSERT_TRUE(code);
    EXPECT_TRUE(isInterpreted(**code));
    EXPECT_EQ(run(**code, kernel_, work), wanted);
    EXPECT_FALSE(isInterpreted(**code)) << "the grid was over before there was code";
    EXPECT_EQ(run(**code, kernel_, work), wanted);
  }

  Kernel kernel_;
};

TEST_F(TiersTest, ResultsAndCountersAreThoseOfOneEngine) {
  expectTheSame({.blocks = 300, .turns = 100, .counters = true});
}

TEST_F(TiersTest, BlocksMeetWhereverTheyRun) { expectTheSame({.blocks = 100, .turns = 200, .meets = true}); }

/// The interpreter alone would take a quarter of an hour for the one block that there is.
TEST_F(TiersTest, ABlockThatHasChangedNothingIsBegunAgainOnCode) { expectTheSame({.blocks = 1, .turns = 20'000'000}); }

TEST_F(TiersTest, TheInterpreterAloneLetsBlocksMeet) {
  const Work work{.blocks = 40, .turns = 1, .meets = true};
  auto code = interp::makeInterpreter()->compile(kernel_.module, kernel_.entry, {{kThreads, 1, 1}, false});
  ASSERT_TRUE(code);
  EXPECT_EQ(run(**code, kernel_, work), expected(work));
}

TEST_F(TiersTest, ALaunchWaitsForCodeThatComesSoon) {
  const auto engine = tiers({.grace = std::chrono::seconds(60)});
  auto code = engine->compile(kernel_.module, kernel_.entry, {{kThreads, 1, 1}, false});
  ASSERT_TRUE(code);
  EXPECT_FALSE(isInterpreted(**code));
}

TEST_F(TiersTest, AKernelThatTheEnginesComputeDifferentlyWaitsForItsCode) {
  auto parsed = ptx::parse(R"(
.version 8.3
.target sm_80
.address_size 64
.extern .func (.param .b32 r) __nv_sinf(.param .b32 x);
.func (.param .b32 r) inner(.param .b32 x) {
  .reg .f32 %x;
  ld.param.f32 %x, [x];
  { .param .b32 a; .param .b32 v; st.param.f32 [a], %x; call.uni (v), __nv_sinf, (a); ld.param.f32 %x, [v]; }
  st.param.f32 [r], %x;
  ret;
}
.visible .entry sine(.param .u64 out) {
  .reg .f32 %x;
  .reg .b64 %p;
  ld.param.u64 %p, [out];
  ld.global.f32 %x, [%p];
  { .param .b32 a; .param .b32 v; st.param.f32 [a], %x; call.uni (v), inner, (a); ld.param.f32 %x, [v]; }
  st.global.f32 [%p], %x;
  ret;
}
)");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
  const ptx::Function& sine = *module->findFunction("sine");
  const auto engine = tiers({.agreeOn = [](const std::string& name) { return !jit::approximates(name); }});
  const auto start = std::chrono::steady_clock::now();
  auto code = engine->compile(module, sine, {{32, 1, 1}, false});
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(60));
  EXPECT_FALSE(isInterpreted(**code));
}

}  // namespace
}  // namespace ordito::driver
