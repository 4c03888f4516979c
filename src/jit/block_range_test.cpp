// One call runs a range of blocks: those and no others, in order, and a fault names the block that met it.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "jit/jit.hpp"
#include "machine/fault.hpp"
#include "ptx/parser.hpp"

namespace ordito::jit {
namespace {

/// Each block writes x + 100 y + 10000 z where its number says, and adds to a sum behind all of them; a block with
/// x + y + z = `bad` traps before.
constexpr const char* kPlaces = R"(
.version 8.3
.target sm_80
.address_size 64
.visible .entry places(.param .u64 out, .param .u32 bad) {
  .reg .b32 %x, %y, %z, %nx, %ny, %n, %v, %bad;
  .reg .b64 %p, %o;
  .reg .pred %q;
  mov.u32 %x, %ctaid.x;
  mov.u32 %y, %ctaid.y;
  mov.u32 %z, %ctaid.z;
  mov.u32 %nx, %nctaid.x;
  mov.u32 %ny, %nctaid.y;
  ld.param.u64 %p, [out];
  ld.param.u32 %bad, [bad];
  add.u32 %v, %x, %y;
  add.u32 %v, %v, %z;
  setp.eq.u32 %q, %v, %bad;
  @%q trap;
  mad.lo.u32 %n, %z, %ny, %y;
  mad.lo.u32 %n, %n, %nx, %x;
  mul.wide.u32 %o, %n, 4;
  add.u64 %o, %p, %o;
  mad.lo.u32 %v, %y, 100, %x;
  mad.lo.u32 %v, %z, 10000, %v;
  st.global.u32 [%o], %v;
  ret;
}
)";

/// A block with an odd x waits until somebody writes to `flag`.
constexpr const char* kWaits = R"(
.version 8.3
.target sm_80
.address_size 64
.visible .entry waits(.param .u64 flag) {
  .reg .b32 %x, %f;
  .reg .b64 %p;
  .reg .pred %q;
  ld.param.u64 %p, [flag];
  mov.u32 %x, %ctaid.x;
  and.b32 %x, %x, 1;
  setp.eq.u32 %q, %x, 0;
  @%q bra Done;
Wait:
  ld.volatile.global.u32 %f, [%p];
  setp.eq.u32 %q, %f, 0;
  @%q bra Wait;
Done:
  ret;
}
)";

class BlockRangeTest : public testing::Test {
 protected:
  void compile(const char* text) {
    module_ = std::make_shared<const ptx::Module>(std::move(*ptx::parse(text)));
    auto code = engine_->compile(module_, module_->functions[0], {{1, 1, 1}, false});
    ASSERT_TRUE(code) << code.error().message;
    code_ = *code;
    scratch_.resize(code_->scratchBytes() + 64);
    void* start = scratch_.data();
    size_t room = scratch_.size();
    frame_.scratch = static_cast<std::byte*>(std::align(64, code_->scratchBytes(), start, room));
    frame_.kernelName = "kernel";
    frame_.ntid[0] = frame_.ntid[1] = frame_.ntid[2] = 1;
    frame_.parameters = reinterpret_cast<const std::byte*>(&parameters_);
  }
  void grid(uint32_t x, uint32_t y, uint32_t z) {
    frame_.nctaid[0] = x, frame_.nctaid[1] = y, frame_.nctaid[2] = z;
    places_.assign(x * y * z, kUntouched);
    parameters_ = {places_.data(), ~0u};
  }

  static constexpr uint32_t kUntouched = ~0u;
  struct Parameters {
    uint32_t* out;
    uint32_t bad;
  };
  std::unique_ptr<machine::Engine> engine_ = makeJit({.baseline = BaselineCode::Never});
  machine::ModulePtr module_;
  std::shared_ptr<const machine::Executable> code_;
  std::vector<std::byte> scratch_;
  machine::BlockFrame frame_{};
  std::vector<uint32_t> places_;
  Parameters parameters_{};
};

TEST_F(BlockRangeTest, RunsTheBlocksOfTheRange) {
  compile(kPlaces);
  for (const auto& [first, count] : {std::pair<uint32_t, uint32_t>{0, 105}, {17, 60}, {104, 1}, {6, 1}, {33, 3}}) {
    grid(7, 5, 3);
    frame_.place(first);
    EXPECT_EQ(code_->runBlocks(frame_, count), machine::BlockStatus::Ended);
    EXPECT_EQ(frame_.block(), first + count - 1) << "the frame names the last";
    for (uint32_t b = 0; b < places_.size(); ++b) {
      const uint32_t place = b % 7 + 100 * (b / 7 % 5) + 10000 * (b / 35);
      EXPECT_EQ(places_[b], b >= first && b < first + count ? place : kUntouched) << b;
    }
  }
}

TEST_F(BlockRangeTest, AFaultNamesTheBlockThatMetIt) {
  compile(kPlaces);
  grid(7, 5, 3);
  parameters_.bad = 4 + 3 + 2;
  frame_.place(0);
  const auto fault = machine::runGuarded(*code_, frame_, 105);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->block[0] + fault->block[1] + fault->block[2], parameters_.bad);
  EXPECT_NE(places_[frame_.block() - 1], kUntouched);
  EXPECT_EQ(places_[frame_.block()], kUntouched);
}

TEST_F(BlockRangeTest, EndsAtABlockThatIsSuspended) {
  compile(kWaits);
  grid(5, 1, 1);
  places_[0] = 0;
  frame_.place(0);
  EXPECT_EQ(code_->runBlocks(frame_, 5), machine::BlockStatus::Suspended);
  EXPECT_EQ(frame_.block(), 1u);
  places_[0] = 1;
  ++frame_.resumes;
  EXPECT_EQ(code_->runBlock(frame_), machine::BlockStatus::Ended);
}

}  // namespace
}  // namespace ordito::jit
