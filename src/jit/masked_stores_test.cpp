// Code for processors that are slow at masked stores, on any host: it is made and not run. That it computes the right
// thing, the texts of tests/ptx show where such a processor runs them.
#include <gtest/gtest.h>

#include <memory>

#include "jit/jit.hpp"
#include "ptx/parser.hpp"

namespace ordito::jit {
namespace {

constexpr const char* kTwoTypes = R"(
.version 8.3
.target sm_80
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 floats) {
  .reg .pred %some;
  .reg .b32 %i, %word;
  .reg .f32 %x;
  .reg .b64 %o, %w, %f;
  mov.u32 %i, %tid.x;
  mul.wide.u32 %o, %i, 4;
  ld.param.u64 %w, [words];
  ld.param.u64 %f, [floats];
  add.u64 %w, %w, %o;
  add.u64 %f, %f, %o;
  setp.gt.u32 %some, %i, 5;
  mov.u32 %word, 7;
  mov.f32 %x, 0f40000000;
  @%some st.global.u32 [%w], %word;
  @%some st.global.f32 [%f], %x;
  ret;
}
)";

TEST(MaskedStoresTest, WordsAndFloatsGoThroughOneFunction) {
  const auto engine = makeJit({.cpu = "znver3"});
  const auto module = std::make_shared<const ptx::Module>(std::move(*ptx::parse(kTwoTypes)));
  const auto code = engine->compile(module, module->functions[0], {{32, 1, 1}, false});
  EXPECT_TRUE(code) << code.error().message;
}

}  // namespace
}  // namespace ordito::jit
