// Code made in a hurry gives the same results as good code, gives way to it, and leaves nothing on the disk.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "jit/jit.hpp"
#include "ptx/parser.hpp"

namespace ordito::jit {
namespace {

namespace fs = std::filesystem;
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

std::vector<uint32_t> run(const machine::Executable& code) {
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

class QuickCodeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ordito-quick-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    ASSERT_EQ(setenv("ORDITO_CACHE", folder_.c_str(), 1), 0);
  }
  void TearDown() override {
    unsetenv("ORDITO_CACHE");
    fs::remove_all(folder_);
  }

  /// Those that are whole; others have another name.
  size_t files() const {
    return static_cast<size_t>(
        std::count_if(fs::directory_iterator(folder_), fs::directory_iterator(),
                      [](const fs::directory_entry& file) { return file.path().extension() == ".kernel"; }));
  }

  static Code compile(machine::Engine& engine) {
    static const auto module = ptx::parse(kPtx);
    auto code = engine.compile(*module, module->functions[0], {{kThreads, 1, 1}, false});
    EXPECT_TRUE(code) << code.error().message;
    return code ? *code : nullptr;
  }

  fs::path folder_;
};

TEST_F(QuickCodeTest, ComputesTheSame) {
  auto engine = makeJit({.quick = QuickCode::Only});
  const Code code = compile(*engine);
  ASSERT_TRUE(code);
  EXPECT_EQ(run(*code), expected());
}

TEST_F(QuickCodeTest, GivesWayToGoodCodeWhichTheDiskKeeps) {
  auto engine = makeJit({.caches = true, .quick = QuickCode::First, .largeKernel = 0});
  const Code code = compile(*engine);
  ASSERT_TRUE(code);
  for (int k = 0; k < 6000 && files() == 0; ++k) {
    EXPECT_EQ(run(*code), expected());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (int k = 0; k < 20; ++k) {
    EXPECT_EQ(run(*code), expected());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(files(), 1u);
  auto second = makeJit({.caches = true, .quick = QuickCode::First, .largeKernel = 0});
  const Code kept = compile(*second);
  ASSERT_TRUE(kept);
  EXPECT_EQ(run(*kept), expected());
  EXPECT_LT(kept->scratchBytes(), code->scratchBytes()) << "what the disk keeps has no second code";
}

TEST_F(QuickCodeTest, SmallKernelsAreCompiledWellAtOnce) {
  auto engine = makeJit({.caches = true, .quick = QuickCode::First});
  const Code code = compile(*engine);
  ASSERT_TRUE(code);
  EXPECT_EQ(files(), 1u);
}

using QuickCodeDeathTest = QuickCodeTest;

TEST_F(QuickCodeDeathTest, AProcessEndsWhileGoodCodeIsMade) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        auto engine = makeJit({.quick = QuickCode::First, .largeKernel = 0});
        for (int kernel = 0; kernel < 3; ++kernel)
          if (run(*compile(*engine)) != expected()) std::exit(1);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(QuickCodeDeathTest, AProcessThatEndsLeavesItsGoodCodeToTheNext) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  setenv("ORDITO_TEST_FOLDER", folder_.c_str(), 0);  // the child begins this test anew, with another folder
  EXPECT_EXIT(
      {
        setenv("ORDITO_CACHE", getenv("ORDITO_TEST_FOLDER"), 1);
        auto engine = makeJit({.caches = true, .quick = QuickCode::First, .largeKernel = 0});
        if (run(*compile(*engine)) != expected()) std::exit(1);
        std::exit(0);
      },
      testing::ExitedWithCode(0), "");
  unsetenv("ORDITO_TEST_FOLDER");
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace ordito::jit
