// The options that programs give to NVRTC, in every way of writing them.
#include "libs/nvrtc/options.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ordito::nvrtc {
namespace {

using Strings = std::vector<std::string>;

Options read(const std::vector<const char*>& words) {
  auto options = readOptions(words);
  EXPECT_TRUE(options) << options.error().message;
  return options.value_or(Options{});
}

std::string refusal(const std::vector<const char*>& words) {
  const auto options = readOptions(words);
  return options ? "accepted" : options.error().message;
}

TEST(NvrtcOptions, AnArchitectureIsVirtualOrReal) {
  EXPECT_EQ(read({}).compile.arch, 52);
  EXPECT_EQ(read({"--gpu-architecture=compute_80"}).compile.arch, 80);
  EXPECT_FALSE(read({"--gpu-architecture=compute_80"}).isReal);
  EXPECT_TRUE(read({"-arch=sm_86"}).isReal);
  EXPECT_EQ(read({"-arch", "sm_86"}).compile.arch, 86);
  EXPECT_TRUE(read({"--gpu-architecture", "sm_90a"}).compile.archIsSpecific);
  EXPECT_EQ(read({"-arch=compute_120"}).compile.arch, 120);
  EXPECT_EQ(refusal({"-arch=native"}), "invalid value for --gpu-architecture (-arch): native");
  for (const char* none : {"compute_73", "sm_83", "compute_99"})
    EXPECT_EQ(refusal({"-arch", none}), std::string("invalid value for --gpu-architecture (-arch): ") + none);
}

TEST(NvrtcOptions, ThePreprocessorsComeInOneWordOrTwo) {
  EXPECT_EQ(read({"-DA=1", "-D", "B=f(x,y)", "--define-macro=C", "--define-macro", "D=2", "-UA"}).compile.preprocessor,
            (Strings{"-DA=1", "-DB=f(x,y)", "-DC", "-DD=2", "-UA"}));
  EXPECT_EQ(read({"-Iinc", "-I", "more", "--include-path=third", "-I fourth"}).compile.preprocessor,
            (Strings{"-Iinc", "-Imore", "-Ithird", "-Ifourth"}));
  EXPECT_EQ(refusal({"-D"}), "-D: the option's value is missing");
}

TEST(NvrtcOptions, MathIsAsNvccMakesIt) {
  const auto fast = read({"--use_fast_math"}).compile;
  EXPECT_TRUE(fast.fastMath && fast.flushToZero && fast.contract && !fast.preciseDivision && !fast.preciseSqrt);
  EXPECT_TRUE(read({"-ftz=true"}).compile.flushToZero);
  EXPECT_FALSE(read({"--fmad=false"}).compile.contract);
  EXPECT_FALSE(read({"-fmad", "false"}).compile.contract);
  EXPECT_EQ(read({"--std=c++14"}).compile.standard, "c++14");
}

TEST(NvrtcOptions, TheRestIsKnown) {
  const Options options =
      read({"-lineinfo", "--generate-line-info", "-G", "-dopt=on", "--maxrregcount=32", "-rdc=true",
            "--device-as-default-execution-space", "--restrict", "-w", "--device-int128", "--modify-stack-limit=false",
            "--optimization-info=inline", "-no-source-include", "--ptxas-options=-v", "--split-compile=2", "-minimal",
            "--no-cache", "--diag-suppress=20012"});
  EXPECT_TRUE(options.isDeviceDefault && options.compile.relocatable);
  EXPECT_FALSE(options.searchesOwnFolder || options.compile.warns);
  EXPECT_TRUE(read({"-default-device"}).isDeviceDefault);
  EXPECT_TRUE(read({"-dlto"}).isForLto && read({"--dlink-time-opt"}).compile.relocatable);
  EXPECT_TRUE(read({"-fdevice-syntax-only"}).isForSyntax);
  EXPECT_FALSE(options.isForLto || options.isForSyntax);
  EXPECT_TRUE(options.hasInitializerList);
  EXPECT_TRUE(options.hasMoveForward);
  EXPECT_FALSE(read({"--builtin-move-forward=false"}).hasMoveForward);
  EXPECT_FALSE(read({"--builtin-initializer-list=false"}).hasInitializerList);
  EXPECT_FALSE(read({"-builtin-initializer-list", "false"}).hasInitializerList);
}

TEST(NvrtcOptions, OthersAreRefused) {
  EXPECT_EQ(refusal({"--no-such-thing"}), "unrecognized option --no-such-thing found");
  EXPECT_EQ(refusal({"-c"}), "unrecognized option -c found");  // nvcc's alone
  EXPECT_EQ(refusal({"file.cu"}), "unrecognized option file.cu found");
  EXPECT_EQ(refusal({"--builtin-initializer-list=no"}), "--builtin-initializer-list=no: true or false");
  EXPECT_EQ(refusal({"--use_fast_math=yes"}), "--use_fast_math=yes: the option takes no value");
}

}  // namespace
}  // namespace ordito::nvrtc
