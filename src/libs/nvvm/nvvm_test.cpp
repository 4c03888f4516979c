// libnvvm as a compiler of Python calls it.
#include "nvvm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "machine/test_sanitizer.hpp"
#include "ptx/parser.hpp"
#include "ptx/verifier.hpp"

namespace ordito {
namespace {

/// As llvmlite writes it: typed pointers, and a layout that is not quite LLVM's.
std::string module(const std::string& body, const std::string& declarations = "") {
  return "target triple = \"nvptx64-nvidia-cuda\"\n"
         "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-"
         "v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n" +
         declarations + "\ndefine void @kernel(float* %out, float %a, float %b) {\n" + body +
         "  ret void\n}\n"
         "!nvvm.annotations = !{!0}\n!0 = !{void (float*, float, float)* @kernel, !\"kernel\", i32 1}\n";
}

const std::string kQuotient = "  %q = fdiv float %a, %b\n  store float %q, float* %out\n";

class Nvvm : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(nvvmCreateProgram(&program_), NVVM_SUCCESS); }
  void TearDown() override { EXPECT_EQ(nvvmDestroyProgram(&program_), NVVM_SUCCESS); }

  void add(const std::string& text) {
    EXPECT_EQ(nvvmAddModuleToProgram(program_, text.data(), text.size(), "main"), NVVM_SUCCESS);
  }
  void addLazily(const std::string& text) {
    EXPECT_EQ(nvvmLazyAddModuleToProgram(program_, text.data(), text.size(), "lazy"), NVVM_SUCCESS);
  }
  nvvmResult compile(std::vector<const char*> options = {}) {
    return nvvmCompileProgram(program_, static_cast<int>(options.size()), options.data());
  }
  std::string made(std::vector<const char*> options = {}) {
    EXPECT_EQ(compile(std::move(options)), NVVM_SUCCESS) << log();
    size_t size = 0;
    EXPECT_EQ(nvvmGetCompiledResultSize(program_, &size), NVVM_SUCCESS);
    if (size == 0) return {};
    std::string text(size, 'x');
    EXPECT_EQ(nvvmGetCompiledResult(program_, text.data()), NVVM_SUCCESS);
    EXPECT_EQ(text.back(), '\0');
    text.pop_back();
    return text;
  }
  /// What the program compiles to: PTX that our own reader finds right.
  std::string ptx(std::vector<const char*> options = {}) {
    const std::string text = made(std::move(options));
    const auto parsed = ptx::parse(text);
    EXPECT_TRUE(parsed) << parsed.error().message << text;
    if (parsed) EXPECT_TRUE(ptx::verify(*parsed)) << text;
    return text;
  }
  std::string log() {
    size_t size = 0;
    EXPECT_EQ(nvvmGetProgramLogSize(program_, &size), NVVM_SUCCESS);
    std::string text(size, 'x');
    EXPECT_EQ(nvvmGetProgramLog(program_, text.data()), NVVM_SUCCESS);
    return text.substr(0, text.find('\0'));
  }
  static bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

  nvvmProgram program_ = nullptr;
};

TEST_F(Nvvm, AnswersVersions) {
  int a = 0, b = 0, c = 0, d = 0;
  EXPECT_EQ(nvvmVersion(&a, &b), NVVM_SUCCESS);
  EXPECT_EQ(a, 2);
  EXPECT_EQ(nvvmIRVersion(&a, &b, &c, &d), NVVM_SUCCESS);
  EXPECT_GE(a * 10 + b, 16) << "the IR of LLVM 7 and later";
  EXPECT_STREQ(nvvmGetErrorString(NVVM_ERROR_INVALID_IR), "NVVM_ERROR_INVALID_IR");
  EXPECT_EQ(nvvmVersion(nullptr, &b), NVVM_ERROR_INVALID_INPUT);
}

TEST_F(Nvvm, TypedPointersAndTheArchitecture) {
  add(module(kQuotient));
  const std::string text = ptx({"-arch=compute_86"});
  EXPECT_TRUE(has(text, ".visible .entry kernel(") && has(text, ".target sm_86") && has(text, "div.rn.f32")) << text;
}

TEST_F(Nvvm, TheTargetIsTheOneAskedFor) {
  add(module(kQuotient));
  for (const auto& [option, version, target] : {std::tuple{"-arch=compute_90a", ".version 8.3", ".target sm_90a\n"},
                                                {"-arch=compute_100f", ".version 8.8", ".target sm_100f\n"},
                                                {"-arch=compute_120", ".version 8.7", ".target sm_120\n"}}) {
    const std::string text = ptx({option});
    EXPECT_TRUE(has(text, version) && has(text, target)) << text;
  }
  EXPECT_EQ(compile({"-arch=compute_90b"}), NVVM_ERROR_INVALID_OPTION);
  EXPECT_EQ(compile({"-arch=compute_90aa"}), NVVM_ERROR_INVALID_OPTION);
}

TEST_F(Nvvm, PropertiesOfAKernel) {
  std::string text = module(kQuotient);
  text.replace(text.find("{!0}"), 4, "{!0, !1, !2, !3}");
  const std::string kernel = " = !{void (float*, float, float)* @kernel, ";
  add(text + "!1" + kernel + "!\"maxntidx\", i32 128}\n!2" + kernel + "!\"minctasm\", i32 2}\n!3" + kernel +
      "!\"cluster_max_blocks\", i32 4}\n");
  const std::string made = ptx({"-arch=compute_90"});
  EXPECT_TRUE(has(made, ".maxntid 128") && has(made, ".minnctapersm 2") && has(made, ".maxclusterrank 4")) << made;
}

TEST_F(Nvvm, NoinlineMeansNothingForAKernel) {
  std::string text = module(kQuotient);
  text.replace(text.find(" {\n"), 3, " noinline {\n");
  add(text);
  EXPECT_EQ(compile(), NVVM_SUCCESS);
  EXPECT_TRUE(has(log(), "warning: overriding noinline attribute of kernel kernel")) << log();
}

TEST_F(Nvvm, OptionsOfArithmetic) {
  add(
      module("  %p = fmul float %a, %b\n  %s = fadd float %p, %a\n  %q = fdiv float %s, %b\n"
             "  %r = call float @llvm.sqrt.f32(float %q)\n  store float %r, float* %out\n",
             "declare float @llvm.sqrt.f32(float)"));
  const std::string precise = ptx({"-fma=0"});
  EXPECT_TRUE(has(precise, "mul.rn.f32") && has(precise, "div.rn.f32") && has(precise, "sqrt.rn.f32")) << precise;
  const std::string fast = ptx({"-ftz=1", "-prec-div=0", "-prec-sqrt=0", "-fma=1"});
  EXPECT_TRUE(has(fast, "fma.rn.ftz.f32") && has(fast, "div.full.ftz.f32") && has(fast, "sqrt.approx.ftz.f32")) << fast;
  EXPECT_FALSE(has(ptx({"-opt=0"}), "fma.rn")) << "nothing is fused where nothing is optimised";
  EXPECT_EQ(ptx({"-fma=0"}), precise) << "options of one compilation do not stay for the next";
}

TEST_F(Nvvm, LibdeviceIsLinkedAsFarAsItIsCalled) {
  std::ifstream file(ORDITO_LIBDEVICE, std::ios::binary);
  const std::string libdevice{std::istreambuf_iterator<char>(file), {}};
  ASSERT_TRUE(libdevice.starts_with("BC\xc0\xde"));
  add(
      module("  %m = call float @__nv_fmaf_rz(float %a, float %b, float %a)\n"
             "  %s = call float @__nv_sinf(float %m)\n  %e = call float @__nv_expf(float %s)\n"
             "  store float %e, float* %out\n",
             "declare float @__nv_fmaf_rz(float, float, float)\ndeclare float @__nv_sinf(float)\n"
             "declare float @__nv_expf(float)"));
  addLazily(libdevice);
  const std::string text = ptx();
  EXPECT_TRUE(has(text, "fma.rz.f32") && has(text, ".extern .func") && has(text, "__nv_sinf")) << text;
  EXPECT_TRUE(has(text, "fma.rn.f32") && !has(text, "__nv_expf")) << text;
  EXPECT_FALSE(has(text, "__nv_popc")) << text;
  const std::string slow = ptx({"-opt=0"});
  EXPECT_TRUE(has(slow, "fma.rz.f32")) << slow;
  EXPECT_FALSE(has(slow, ".visible .func")) << slow;
}

TEST_F(Nvvm, ShufflesAndVotesOfTheSpecification) {
  const std::string declarations =
      "declare {i32, i1} @llvm.nvvm.shfl.sync.i32(i32, i32, i32, i32, i32)\n"
      "declare {i32, i1} @llvm.nvvm.vote.sync(i32, i32, i1)\n";
  add(
      module("  %s = call {i32, i1} @llvm.nvvm.shfl.sync.i32(i32 -1, i32 2, i32 7, i32 1, i32 31)\n"
             "  %x = extractvalue {i32, i1} %s, 0\n"
             "  %v = call {i32, i1} @llvm.nvvm.vote.sync(i32 -1, i32 3, i1 true)\n"
             "  %y = extractvalue {i32, i1} %v, 0\n"
             "  %w = call {i32, i1} @llvm.nvvm.vote.sync(i32 -1, i32 1, i1 true)\n"
             "  %z = extractvalue {i32, i1} %w, 1\n"
             "  %o = zext i1 %z to i32\n"
             "  %t = add i32 %x, %y\n  %u = add i32 %t, %o\n  %f = bitcast i32 %u to float\n"
             "  store float %f, float* %out\n",
             declarations));
  const std::string text = ptx();
  EXPECT_TRUE(has(text, "shfl.sync.down.b32") && has(text, "vote.sync.ballot.b32") && has(text, "vote.sync.any.pred"))
      << text;
}

TEST_F(Nvvm, TheKindOfAShuffleMayBeAVariable) {
  add(
      module("  %k = alloca i32\n  store i32 3, i32* %k\n  %l = load i32, i32* %k\n"
             "  %s = call {i32, i1} @llvm.nvvm.shfl.sync.i32(i32 -1, i32 %l, i32 7, i32 1, i32 31)\n"
             "  %x = extractvalue {i32, i1} %s, 0\n"
             "  %m = call {i32, i1} @llvm.nvvm.match.all.sync.i32(i32 -1, i32 %x)\n"
             "  %y = extractvalue {i32, i1} %m, 0\n  %f = bitcast i32 %y to float\n  store float %f, float* %out\n",
             "declare {i32, i1} @llvm.nvvm.shfl.sync.i32(i32, i32, i32, i32, i32)\n"
             "declare {i32, i1} @llvm.nvvm.match.all.sync.i32(i32, i32)\n"));
  const std::string text = ptx();
  EXPECT_TRUE(has(text, "shfl.sync.bfly.b32") && has(text, "match.all.sync.b32")) << text;
  EXPECT_FALSE(has(text, "shfl.sync.up")) << text;
  EXPECT_TRUE(has(ptx({"-opt=0"}), "shfl.sync.bfly.b32"));
}

TEST_F(Nvvm, InlinePtxStaysInItsBranch) {
  const char* const ask = "call i32 asm sideeffect \"activemask.b32 $0;\", \"=r\"()\n";
  add(module(std::string("  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %c = icmp eq i32 %i, 3\n"
                         "  br i1 %c, label %yes, label %no\nyes:\n  %a1 = ") +
                 ask + "  br label %end\nno:\n  %a2 = " + ask +
                 "  br label %end\nend:\n  %m = phi i32 [%a1, %yes], [%a2, %no]\n  %f = bitcast i32 %m to float\n"
                 "  store float %f, float* %out\n",
             "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"));
  const std::string text = ptx();
  const size_t first = text.find("activemask");
  EXPECT_NE(text.find("activemask", first + 1), std::string::npos) << text;
}

TEST_F(Nvvm, AddressesThatConversionsMakeKeepTheirSpace) {
  const std::string declarations =
      "@tile = internal addrspace(3) global [32 x float] undef\n"
      "@table = internal addrspace(4) constant [2 x float] [float 3.0, float 4.0]\n"
      "declare i8* @llvm.nvvm.ptr.shared.to.gen.p0i8.p3i8(i8 addrspace(3)*)\n"
      "declare i8* @llvm.nvvm.ptr.constant.to.gen.p0i8.p4i8(i8 addrspace(4)*)\n"
      "declare i8 addrspace(1)* @llvm.nvvm.ptr.gen.to.global.p1i8.p0i8(i8*)\n"
      "declare void @llvm.nvvm.barrier0()\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
  add(
      module("  %s = call i8* @llvm.nvvm.ptr.shared.to.gen.p0i8.p3i8(i8 addrspace(3)* bitcast ([32 x float] "
             "addrspace(3)* @tile to i8 addrspace(3)*))\n"
             "  %t = bitcast i8* %s to float*\n"
             "  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %j = and i32 %i, 1\n"
             "  %p = getelementptr float, float* %t, i32 %i\n  store float %a, float* %p\n"
             "  call void @llvm.nvvm.barrier0()\n"
             "  %q = getelementptr float, float* %t, i32 %j\n  %x = load float, float* %q\n"
             "  %c = call i8* @llvm.nvvm.ptr.constant.to.gen.p0i8.p4i8(i8 addrspace(4)* bitcast ([2 x float] "
             "addrspace(4)* @table to i8 addrspace(4)*))\n"
             "  %d = bitcast i8* %c to float*\n  %e = getelementptr float, float* %d, i32 %j\n"
             "  %y = load float, float* %e\n  %z = fadd float %x, %y\n"
             "  %o = bitcast float* %out to i8*\n"
             "  %g = call i8 addrspace(1)* @llvm.nvvm.ptr.gen.to.global.p1i8.p0i8(i8* %o)\n"
             "  %h = bitcast i8 addrspace(1)* %g to float addrspace(1)*\n  store float %z, float addrspace(1)* %h\n",
             declarations));
  const std::string text = ptx();
  EXPECT_TRUE(has(text, "st.shared.f32") && has(text, "ld.shared.f32") && has(text, "ld.const.f32")) << text;
  EXPECT_FALSE(has(text, "\tld.f32") || has(text, "\tst.f32")) << "no access is generic\n" << text;
  EXPECT_TRUE(has(ptx({"-opt=0"}), "cvta.shared")) << "the lowest level converts addresses";
}

TEST_F(Nvvm, ConstantsSideBySideAreReadAtOnce) {
  add(
      module("  %g = call i8* @llvm.nvvm.ptr.constant.to.gen.p0i8.p4i8(i8 addrspace(4)* bitcast ([8 x float] "
             "addrspace(4)* @table to i8 addrspace(4)*))\n"
             "  %t = bitcast i8* %g to float*\n  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
             "  %j = shl i32 %i, 1\n  %k = or i32 %j, 1\n"
             "  %p = getelementptr inbounds float, float* %t, i32 %j\n  %x = load float, float* %p\n"
             "  %q = getelementptr inbounds float, float* %t, i32 %k\n  %y = load float, float* %q\n"
             "  %z = fadd float %x, %y\n  store float %z, float* %out\n",
             "@table = internal addrspace(4) constant [8 x float] [float 1.0, float 2.0, float 3.0, float 4.0, "
             "float 5.0, float 6.0, float 7.0, float 8.0], align 8\n"
             "declare i8* @llvm.nvvm.ptr.constant.to.gen.p0i8.p4i8(i8 addrspace(4)*)\n"
             "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"));
  EXPECT_TRUE(has(ptx(), "ld.const.v2.f32"));
}

TEST_F(Nvvm, LinesAndDebugInformation) {
  std::string text = module("  store float %a, float* %out, !dbg !9\n");
  text.replace(text.find(" {\n"), 3, " !dbg !5 {\n");
  text +=
      "!llvm.dbg.cu = !{!2}\n!llvm.module.flags = !{!4}\n"
      "!2 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !3, producer: \"test\", emissionKind: "
      "FullDebug)\n"
      "!3 = !DIFile(filename: \"a.py\", directory: \"/tmp\")\n"
      "!4 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
      "!5 = distinct !DISubprogram(name: \"kernel\", file: !3, line: 3, type: !6, unit: !2, spFlags: "
      "DISPFlagDefinition)\n"
      "!6 = !DISubroutineType(types: !7)\n!7 = !{null}\n!9 = !DILocation(line: 4, column: 1, scope: !5)\n";
  add(text);
  const std::string plain = ptx(), lines = ptx({"-generate-line-info"}), debug = ptx({"-g", "-opt=0"});
  EXPECT_FALSE(has(plain, ".loc")) << plain;
  EXPECT_TRUE(has(lines, ".loc") && has(lines, "a.py") && !has(lines, ".debug_info")) << lines;
  EXPECT_TRUE(has(debug, ".debug_info") && has(debug, ", debug")) << debug;
  EXPECT_EQ(nvvmDestroyProgram(&program_), NVVM_SUCCESS);
  EXPECT_EQ(nvvmCreateProgram(&program_), NVVM_SUCCESS);
  text.replace(text.find("FullDebug"), 9, "DebugDirectivesOnly");
  add(text);
  EXPECT_EQ(ptx(), lines) << "a compile unit can ask for lines itself";
}

TEST_F(Nvvm, LinesOfInlinedFunctionsNameTheirCalls) {
  std::string text = module("  call void @outer(float* %out, float %a), !dbg !10\n",
                            "define internal void @inner(float* %p, float %x) alwaysinline !dbg !7 {\n"
                            "  store float %x, float* %p, !dbg !12\n  ret void, !dbg !12\n}\n"
                            "define internal void @outer(float* %p, float %x) alwaysinline !dbg !6 {\n"
                            "  call void @inner(float* %p, float %x), !dbg !11\n  ret void, !dbg !11\n}\n");
  text.replace(text.find("%b) {\n"), 6, "%b) !dbg !5 {\n");
  text +=
      "!llvm.dbg.cu = !{!2}\n!llvm.module.flags = !{!4}\n"
      "!2 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !3, producer: \"test\", emissionKind: "
      "DebugDirectivesOnly)\n"
      "!3 = !DIFile(filename: \"a.py\", directory: \"/tmp\")\n!13 = !DIFile(filename: \"b.py\", directory: \"/lib\")\n"
      "!4 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
      "!5 = distinct !DISubprogram(name: \"kernel\", file: !3, line: 3, type: !8, unit: !2, spFlags: "
      "DISPFlagDefinition)\n"
      "!6 = distinct !DISubprogram(name: \"outer\", file: !3, line: 5, type: !8, unit: !2, spFlags: "
      "DISPFlagDefinition)\n"
      "!7 = distinct !DISubprogram(name: \"inner\", file: !13, line: 7, type: !8, unit: !2, "
      "spFlags: DISPFlagDefinition)\n"
      "!8 = !DISubroutineType(types: !9)\n!9 = !{null}\n!10 = !DILocation(line: 4, column: 1, scope: !5)\n"
      "!11 = !DILocation(line: 6, column: 2, scope: !6)\n!12 = !DILocation(line: 8, column: 3, scope: !7)\n";
  add(text);
  const std::string lines = ptx();
  EXPECT_TRUE(has(lines, " 6 2, function_name ") && has(lines, " 8 3, function_name ")) << lines;
  EXPECT_TRUE(has(lines, ", inlined_at 1 4 1\n") && !has(lines, "ordito inlined")) << lines;
  EXPECT_TRUE(has(lines, ".b8 105,110,110,101,114,0\n")) << lines;
  const auto parsed = ptx::parse(lines);
  ASSERT_TRUE(parsed);
  std::vector<std::string> places;
  for (const auto& instruction : parsed->functions.front().instructions) {
    const auto& at = parsed->locations[instruction.location];
    places.push_back(parsed->files[at.file] + ":" + std::to_string(at.line));
  }
  EXPECT_NE(std::find(places.begin(), places.end(), "/tmp/a.py:4 > a.py:6 > b.py:8"), places.end()) << lines;
}

TEST_F(Nvvm, WhatIsLinkedLaterIsPtxAndBitcodeBehindANumber) {
  add(module(kQuotient));
  const std::string code = made({"-gen-lto"});
  EXPECT_TRUE(code.starts_with("\xed\x43\x4e\x7f"));
  const std::string plain = ptx();
  EXPECT_TRUE(has(code, plain.c_str()));
  const std::string_view bitcode = std::string_view(code).substr(code.find('\0') + 1);
  EXPECT_TRUE(bitcode.starts_with("BC")) << bitcode.substr(0, 8);
}

TEST_F(Nvvm, ProgramsKnowItsPtxByNvidiasWords) {
  add(module(kQuotient));
  EXPECT_TRUE(has(ptx(), "\"Generated by NVIDIA NVVM Compiler\""));
}

TEST_F(Nvvm, MistakesAreNamed) {
  EXPECT_EQ(compile(), NVVM_ERROR_NO_MODULE_IN_PROGRAM);
  size_t size = 0;
  EXPECT_EQ(nvvmGetCompiledResultSize(program_, &size), NVVM_SUCCESS);
  EXPECT_EQ(size, 1u) << "no result is an empty text";
  add(module(kQuotient));
  EXPECT_EQ(compile({"-arch=sm_80"}), NVVM_ERROR_INVALID_OPTION);
  EXPECT_EQ(log(), "libnvvm : error: -arch=sm_80 is an unsupported option");
  EXPECT_EQ(compile({"-numba-debug"}), NVVM_ERROR_INVALID_OPTION);
  EXPECT_EQ(compile({"-opt=9"}), NVVM_ERROR_INVALID_OPTION);
  EXPECT_EQ(nvvmAddModuleToProgram(program_, nullptr, 4, "x"), NVVM_ERROR_INVALID_INPUT);
  EXPECT_EQ(nvvmVerifyProgram(program_, 0, nullptr), NVVM_SUCCESS) << log();
  add("define void @f( {\n");
  EXPECT_EQ(nvvmVerifyProgram(program_, 0, nullptr), NVVM_ERROR_INVALID_IR);
  EXPECT_EQ(compile(), NVVM_ERROR_COMPILATION);
  EXPECT_TRUE(has(log(), "main (2, 0): parse expected")) << log();
}

TEST_F(Nvvm, WhatLlvmCannotLowerIsAnError) {
  SKIP_UNDER_LEAK_SANITIZER();  // LLVM's code generator is left where it gave up
  add(
      module("  %c = call i32 @llvm.x86.sse42.crc32.32.8(i32 1, i8 2)\n  %f = bitcast i32 %c to float\n"
             "  store float %f, float* %out\n",
             "declare i32 @llvm.x86.sse42.crc32.32.8(i32, i8)"));
  EXPECT_EQ(compile(), NVVM_ERROR_COMPILATION);
  EXPECT_FALSE(log().empty());
}

TEST_F(Nvvm, AnUnknownIntrinsicIsNamed) {
  add(module("  call void @llvm.nvvm.frobnicate()\n", "declare void @llvm.nvvm.frobnicate()"));
  EXPECT_EQ(compile(), NVVM_ERROR_COMPILATION);
  EXPECT_TRUE(has(log(), "llvm.nvvm.frobnicate")) << log();
}

TEST_F(Nvvm, AModuleForAnotherMachineIsNotVerified) {
  add("target triple = \"x86_64-linux-gnu\"\ndefine void @f() {\n  ret void\n}\n");
  EXPECT_EQ(nvvmVerifyProgram(program_, 0, nullptr), NVVM_ERROR_INVALID_IR);
  EXPECT_TRUE(has(log(), "Invalid target triple")) << log();
}

}  // namespace
}  // namespace ordito
