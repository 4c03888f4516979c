// Code made in a hurry gives the same results as optimised code, and gives way to it, in the process and on the disk.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "jit/jit.hpp"
#include "jit/test_folder.hpp"
#include "machine/test_background.hpp"
#include "ptx/parser.hpp"

namespace ordito::jit {
namespace {

using Code = std::shared_ptr<const machine::Executable>;

/// Thread t of 40 writes the sum of 0, 1, … t if t is odd, else 7: loops, divergence and a barrier.
constexpr const char* kPtx = R"(
.version 8.3
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 out) {
  .reg .b32 %t, %k, %sum;
  .reg .b64 %p, %o;
  .reg .pred %q;
  mov.u32 %t, %tid.x;
  ld.param.u64 %p, [out];
  mul.wide.u32 %o, %t, 4;
  add.u64 %p, %p, %o;
  mov.u32 %sum, 7;
  and.b32 %k, %t, 1;
  setp.eq.u32 %q, %k, 0;
  @%q bra Done;
  mov.u32 %sum, 0;
  mov.u32 %k, 0;
Loop:
  add.u32 %sum, %sum, %k;
  add.u32 %k, %k, 1;
  setp.le.u32 %q, %k, %t;
  @%q bra Loop;
Done:
  bar.sync 0;
  st.global.u32 [%p], %sum;
  ret;
}
)";
constexpr unsigned kThreads = 40;

std::vector<uint32_t> run(const machine::Executable& kernel) {
  const machine::Executable& code = kernel.latest();
  std::vector<uint32_t> results(kThreads, 0);
  uint32_t* address = results.data();
  std::vector<std::byte> memory(code.scratchBytes() + 64);
  machine::BlockFrame frame{};
  frame.parameters = reinterpret_cast<const std::byte*>(&address);
  void* start = memory.data();
  size_t room = memory.size();
  frame.scratch = static_cast<std::byte*>(std::align(64, code.scratchBytes(), start, room));
  code.runBlock(frame);
  return results;
}

std::vector<uint32_t> expected() {
  std::vector<uint32_t> sums(kThreads, 7);
  for (uint32_t t = 1; t < kThreads; t += 2) sums[t] = t * (t + 1) / 2;
  return sums;
}

class BaselineCodeTest : public FolderTest {
 protected:
  static machine::ModulePtr load() { return std::make_shared<const ptx::Module>(std::move(*ptx::parse(kPtx))); }
  static Code compile(machine::Engine& engine, const machine::ModulePtr& module) {
    auto code = engine.compile(module, module->functions[0], {{kThreads, 1, 1}, false});
    EXPECT_TRUE(code) << code.error().message;
    return code ? *code : nullptr;
  }
  static Code compile(machine::Engine& engine) {
    static const auto module = load();
    return compile(engine, module);
  }

  /// Has optimised code come within a minute?
  static bool tiersUp(const Code& code) {
    for (int k = 0; k < 6000 && &code->latest() == code.get(); ++k)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return &code->latest() != code.get();
  }
};

TEST_F(BaselineCodeTest, ComputesTheSame) {
  auto engine = makeJit({.baseline = BaselineCode::Only});
  const Code code = compile(*engine);
  ASSERT_TRUE(code);
  EXPECT_EQ(run(*code), expected());
}

/// Thread t of 40 writes t if t is odd; behind the barrier the product is made again from the thread's place. Listeners
/// hear of it where it stands, from the lanes of a mask that is unknown behind the barrier.
constexpr const char* kMadeAgain = R"(
.version 8.3
.target sm_80
.address_size 64
.visible .entry again(.param .u64 out) {
  .reg .b32 %t, %k;
  .reg .b64 %p, %o;
  .reg .pred %q;
  mov.u32 %t, %tid.x;
  ld.param.u64 %p, [out];
  and.b32 %k, %t, 1;
  setp.eq.u32 %q, %k, 0;
  @%q bra Done;
  mul.wide.u32 %o, %t, 4;
  bar.sync 0;
  add.u64 %p, %p, %o;
  st.global.u32 [%p], %t;
Done:
  ret;
}
)";

TEST_F(BaselineCodeTest, ListensWhereValuesAreMadeAgain) {
  for (const BaselineCode kind : {BaselineCode::Only, BaselineCode::Never}) {
    auto engine = makeJit({.baseline = kind});
    const auto module = std::make_shared<const ptx::Module>(std::move(*ptx::parse(kMadeAgain)));
    const auto code = engine->compile(module, module->functions[0], {{kThreads, 1, 1}, false, true});
    EXPECT_TRUE(code) << code.error().message;
  }
}

/// A thousand numbers that differ between lanes and live to the end take 128 bytes each; a thread has 8 MB of stack.
std::string kernelWithNumbers(unsigned count) {
  std::string loads, stores;
  for (unsigned k = 0; k < count; ++k) {
    loads += fmt::format("ld.volatile.global.u32 %v{}, [%p+{}];\n", k, 4 * k);
    stores += fmt::format("st.volatile.global.u32 [%p+{}], %v{};\n", 4 * k, count - 1 - k);
  }
  return fmt::format(
      ".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n"
      ".reg .b32 %t, %v<{}>;\n.reg .b64 %p, %o;\nmov.u32 %t, %tid.x;\nld.param.u64 %p, [out];\n"
      "mul.wide.u32 %o, %t, 4;\nadd.u64 %p, %p, %o;\n{}{}ret;\n}}\n",
      count, loads, stores);
}

TEST_F(BaselineCodeTest, IsRefusedWhereItsFrameIsLargerThanAStack) {
  for (const auto& [count, fits] : {std::pair(1000u, true), std::pair(8500u, false)}) {
    auto engine = makeJit({.baseline = BaselineCode::Only});
    const auto module = std::make_shared<const ptx::Module>(std::move(*ptx::parse(kernelWithNumbers(count))));
    const auto code = engine->compile(module, module->functions[0], {{kThreads, 1, 1}, false});
    ASSERT_EQ(code.has_value(), fits) << count;
    if (fits) continue;
    EXPECT_EQ(code.error().code, 801) << code.error().message;
    EXPECT_NE(code.error().message.find("MB of stack"), std::string::npos) << code.error().message;
  }
}

TEST_F(BaselineCodeTest, GivesWayToGoodCodeWhichTheDiskKeeps) {
  auto engine = makeJit({.caches = true, .cacheFolder = folder_, .baseline = BaselineCode::First, .largeKernel = 0});
  const Code code = compile(*engine);
  ASSERT_TRUE(code);
  EXPECT_EQ(run(*code), expected());
  ASSERT_TRUE(tiersUp(code)) << "no optimised code within a minute";
  EXPECT_EQ(run(*code), expected());
  for (int k = 0; k < 1000 && kernels() != 1; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(kernels(), 1u) << "what was baseline code is gone from the disk";
  auto second = makeJit({.caches = true, .cacheFolder = folder_, .baseline = BaselineCode::First, .largeKernel = 0});
  const Code kept = compile(*second);
  ASSERT_TRUE(kept);
  EXPECT_EQ(run(*kept), expected());
  EXPECT_EQ(&kept->latest(), kept.get());
  EXPECT_EQ(kernels(), 1u) << "the optimised code was found";
}

TEST_F(BaselineCodeTest, IsNotImprovedForAModuleThatIsUnloadedButForOneThatIsLoadedAgain) {
  auto engine = makeJit({.caches = true, .cacheFolder = folder_, .baseline = BaselineCode::First, .largeKernel = 0});
  Code code;
  {
    const machine::BusyImprover busy;
    auto module = load();
    const std::weak_ptr<const ptx::Module> watched = module;
    code = compile(*engine, module);
    ASSERT_TRUE(code);
    module.reset();
    EXPECT_TRUE(watched.expired()) << "what waits for the compiler holds an unloaded module";
  }
  machine::awaitImprovements();
  EXPECT_EQ(&code->latest(), code.get()) << "code that nobody wants was made";
  const auto again = load();
  EXPECT_EQ(compile(*engine, again), code);
  EXPECT_TRUE(tiersUp(code));
  EXPECT_EQ(run(*code), expected());
}

TEST_F(BaselineCodeTest, IsImprovedForEveryModuleOfTheSameText) {
  auto engine = makeJit({.caches = true, .cacheFolder = folder_, .baseline = BaselineCode::First, .largeKernel = 0});
  const auto second = load();
  Code code;
  {
    const machine::BusyImprover busy;
    const auto first = load();
    code = compile(*engine, first);
    EXPECT_EQ(compile(*engine, second), code);
  }
  EXPECT_TRUE(tiersUp(code)) << "the module that has asked first is unloaded, but not the other";
}

TEST_F(BaselineCodeTest, IsAllThereIsWhereSsaFormCouldBeTooLarge) {
  auto engine = makeJit(
      {.caches = true, .cacheFolder = folder_, .baseline = BaselineCode::First, .largeKernel = 0, .mostPhis = 0});
  const Code code = compile(*engine);
  ASSERT_TRUE(code);
  for (int k = 0; k < 100 && &code->latest() == code.get(); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(&code->latest(), code.get()) << "good code took its place all the same";
  EXPECT_EQ(run(*code), expected());
  EXPECT_EQ(kernels(), 1u);
  auto second = makeJit({.mostPhis = 0});
  const Code atOnce = compile(*second);
  ASSERT_TRUE(atOnce) << "where nothing but good code is asked for, too";
  EXPECT_EQ(run(*atOnce), expected());
}

TEST_F(BaselineCodeTest, TheNextProcessFindsTheBaselineCodeOfOneThatEndedTooSoon) {
  const Options slow = {.caches = true,
                        .cacheFolder = folder_,
                        .baseline = BaselineCode::First,
                        .largeKernel = 0,
                        .delay = std::chrono::milliseconds(400)};
  auto engine = makeJit(slow);
  ASSERT_TRUE(compile(*engine));
  EXPECT_EQ(kernels(), 1u);
  const auto start = std::chrono::steady_clock::now();
  const Code kept = compile(*makeJit(slow));
  ASSERT_TRUE(kept);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(400));
  EXPECT_EQ(run(*kept), expected());
}

TEST_F(BaselineCodeTest, SmallKernelsAreCompiledWellAtOnce) {
  auto engine = makeJit({.caches = true, .cacheFolder = folder_, .baseline = BaselineCode::First});
  const Code code = compile(*engine);
  ASSERT_TRUE(code);
  EXPECT_EQ(kernels(), 1u);
}

using BaselineCodeDeathTest = BaselineCodeTest;

TEST_F(BaselineCodeDeathTest, AProcessEndsWhileGoodCodeIsMade) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        auto engine = makeJit({.baseline = BaselineCode::First, .largeKernel = 0});
        for (int kernel = 0; kernel < 3; ++kernel)
          if (run(*compile(*engine)) != expected()) std::exit(1);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BaselineCodeDeathTest, AProcessEndsWhileACompilationHangs) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EXIT(
      {
        const std::shared_ptr<machine::Engine> engine = makeJit({.delay = std::chrono::seconds(20)});
        machine::inBackground([engine] { compile(*engine); }, machine::Urgency::Awaited);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

/// A kernel of `n` additions of four chains, which LLVM takes long for.
std::string longKernel(int n) {
  std::string text = R"(
.version 8.3
.target sm_80
.address_size 64
.visible .entry long(.param .u64 out) {
  .reg .b32 %r<5>;
  .reg .b64 %p, %q;
  .reg .pred %c;
  ld.param.u64 %p, [out];
)";
  for (int k = 0; k < n; ++k)
    text += fmt::format(
        "  ld.global.u32 %r0, [%p+{}];\n  setp.gt.u32 %c, %r0, {};\n  @%c bra L{};\n  mul.wide.u32 %q, %r0, 4;\n"
        "  add.u64 %q, %p, %q;\n  st.global.u32 [%q], %r0;\nL{}:\n",
        4 * k, k, k, k);
  return text + "  ret;\n}\n";
}

/// Ends the process `milliseconds` after the compilation of a long kernel has begun.
[[noreturn]] void endWhileCompiling(int milliseconds) {
  const auto module = std::make_shared<const ptx::Module>(std::move(*ptx::parse(longKernel(3000))));
  const std::shared_ptr<machine::Engine> engine = makeJit();
  machine::inBackground([=] { (void)engine->compile(module, module->functions[0], {{64, 1, 1}, false}); },
                        machine::Urgency::Awaited);
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  std::exit(0);
}

TEST_F(BaselineCodeDeathTest, AProcessEndsInTheMiddleOfLlvm) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (const int milliseconds : {300, 700, 1500}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EXIT(endWhileCompiling(milliseconds), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(std::thread([=] { endWhileCompiling(milliseconds); }).join(), testing::ExitedWithCode(0), "");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  }
}

}  // namespace
}  // namespace ordito::jit
