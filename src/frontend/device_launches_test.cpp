// Which launches are rewritten and which are not, and that text, lines and arguments stay what they are.
#include "frontend/device_launches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "frontend/asm_registers.hpp"
#include "frontend/shared_alignment.hpp"

namespace ordito::frontend {
namespace {

std::string inKernel(const std::string& body) {
  return "__attribute__((global)) void parent(int* p) { " + body + " }\n";
}

/// The text behind the definition of the macro.
std::string rewritten(const std::string& source) {
  const auto text = rewriteLaunches(source);
  return text ? text->substr(text->find('\n') + 1) : "unchanged";
}

/// What the rewritten launch in a kernel's body passes to the macro.
std::string launched(const std::string& body) {
  const std::string text = rewritten(inKernel(body));
  const size_t first = text.find("LAUNCH(");
  return first == std::string::npos ? text : text.substr(first + 7, text.find(';', first) - first - 8);
}

std::string value(int i) { return "::ordito_launch::get<" + std::to_string(i) + ">(*this)"; }

TEST(DeviceLaunches, HostCodeStays) {
  EXPECT_FALSE(rewriteLaunches("void f() { kernel<<<1, 2>>>(3); }"));
  EXPECT_FALSE(rewriteLaunches("__attribute__((global)) void k() {} void f() { k<<<1, 2>>>(); }"));
  EXPECT_FALSE(rewriteLaunches("__attribute__((device)) int x; void f() { k<<<1, 2>>>(x); }"));
  EXPECT_FALSE(rewriteLaunches(inKernel("int i = 1 << 2; const char* s = \"k<<<1, 2>>>(3)\"; // k<<<1, 2>>>(3)\n")));
  EXPECT_FALSE(rewriteLaunches(inKernel("const char* s = R\"x(k<<<1, 2>>>(3))x\"; char c = '\"';")));
}

TEST(DeviceLaunches, NamesAreTaken) {
  EXPECT_EQ(launched("k<<<1, 2>>>(p);"), "(1, 2), (p), 1, (" + value(0) + "), k");
  EXPECT_EQ(launched("if (p) a::b::k<int, (3 > 2)><<<1, 2>>>();"), "(1, 2), (), 0, (), a::b::k<int, (3 > 2)>");
  EXPECT_EQ(launched("else ::k<A<B>><<<1, 2, 3, s>>>(p);"), "(1, 2, 3, s), (p), 1, (" + value(0) + "), ::k<A<B>>");
  EXPECT_EQ(launched("A<T>::template k<3><<<1, 2>>>();"), "(1, 2), (), 0, (), A<T>::template k<3>");
}

TEST(DeviceLaunches, ArgumentsAreCounted) {
  auto arguments = [](const std::string& list) {
    const std::string text = launched("k<<<1, 2>>>(" + list + ");");
    int count = 0;
    for (size_t at = text.find("::get<"); at != std::string::npos; at = text.find("::get<", at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(arguments("a, b[1, 2], f(c, d), {1, 2}"), 4);
  EXPECT_EQ(arguments("f<int, 3>(a), b"), 2);
  EXPECT_EQ(arguments("a < b, c > d"), 2);
  EXPECT_EQ(arguments("a < 1, b"), 2);
  EXPECT_EQ(arguments("[=](int x, int y) { return x + y }, p->q"), 2);
  EXPECT_EQ(launched("k<<<1, 2>>>(0, __null, 1);"), "(1, 2), (0, __null, 1), 3, (0, __null, " + value(2) + "), k");
}

TEST(DeviceLaunches, TheConfigurationEndsWhereArgumentsBegin) {
  EXPECT_NE(launched("k<<<f<A<B<int>>>(x), 1>>>(p);"), "unchanged");
  EXPECT_NE(launched("k<<<(n + 31) / 32, n >> 3>>>(p);"), "unchanged");
}

TEST(DeviceLaunches, ALocalPointerComesWithTheArguments) {
  const std::string through = "(1, 2), (p, f), 2, (" + value(0) + "), " + value(1);
  EXPECT_EQ(launched("auto f = k; f<<<1, 2>>>(p);"), through);
  EXPECT_EQ(launched("void (*f)(int*) = k; f<<<1, 2>>>(p);"), through);
  EXPECT_EQ(launched("Kernel f{k}; f<<<1, 2>>>();"), "(1, 2), (f), 1, (), " + value(0));
  // No declarations: a use, and a name that is qualified.
  EXPECT_EQ(launched("g(f); f<<<1, 2>>>(p);"), "(1, 2), (p), 1, (" + value(0) + "), f");
  EXPECT_EQ(launched("int f = 1; a::f<<<1, 2>>>(p);"), "(1, 2), (p), 1, (" + value(0) + "), a::f");
  const std::string parameter =
      rewritten("__attribute__((device)) void g(void (*f)(int*), int* p) { if (p) { f<<<1, 2>>>(p); } }");
  EXPECT_NE(parameter.find(through), std::string::npos) << parameter;
}

TEST(DeviceLaunches, LinesStay) {
  const std::string text = inKernel("\n k<<<1,\n 2>>>(p,\n 3);\n\n");
  const std::string changed = rewritten(text);
  EXPECT_NE(changed.find("LAUNCH"), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(changed.begin(), changed.end(), '\n'));
}

TEST(DeviceLaunches, ALaunchMayStandInTheArgumentsOfAnother) {
  const std::string text = rewritten(inKernel("k<<<1, 2>>>([=] { j<<<3, 4>>>(p); });"));
  EXPECT_NE(text.find("LAUNCH((1, 2), ([=] { __ORDITO_LAUNCH((3, 4), (p)"), std::string::npos) << text;
}

TEST(DeviceLaunches, MarkedFunctionsOfEachKindAreDeviceCode) {
  for (const char* text : {"template <class T> __attribute__((device)) void f(T x) { k<<<1, 2>>>(x); }",
                           "struct S { __attribute__((device)) S(int x) : a{x}, b{x} { k<<<1, 2>>>(a); } int a, b; };",
                           "void f() { g([=] __attribute__((device)) (int x) { k<<<1, 2>>>(x); }); }",
                           "__attribute__((host)) __attribute__((device)) void f() { for (;;) { k<<<1, 2>>>(); } }"})
    EXPECT_TRUE(rewriteLaunches(text)) << text;
}

TEST(DeviceLaunches, SpacedBracketsAreJoined) {
  EXPECT_EQ(rewritten("void f() { k<< <1, 2>> >(3); }"), "void f() { k<<<1, 2>>>(3); }");
  EXPECT_FALSE(rewriteLaunches("void f() { operator<< <char>(a, b); c << d; }"));
}

TEST(DeviceLaunches, AQuickLookFindsThemInIncludedFiles) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "device_launches";
  std::filesystem::create_directories(folder / "include");
  auto write = [&](const char* name, const char* text) { std::ofstream(folder / name) << text; };
  write("plain.cu", "__global__ void k() {}\nint main() { k<<<1, 2>>>(); }");
  write("macro.cu", "#define KERNEL __global__\nKERNEL void k() { k<<<1, 2>>>(); }");
  write("outer.cu", "#include \"inner.h\"\n");
  write("include/inner.h", "__device__ void f() { k<<<1, 2>>>(); }");
  EXPECT_FALSE(mayNeedRewriting(folder / "plain.cu", {}));
  EXPECT_TRUE(mayNeedRewriting(folder / "macro.cu", {}));
  EXPECT_FALSE(mayNeedRewriting(folder / "outer.cu", {}));
  EXPECT_TRUE(mayNeedRewriting(folder / "outer.cu", {folder / "include"}));
  EXPECT_FALSE(mayNeedRewriting(folder / "missing.cu", {}));
}

TEST(SharedAlignment, MovesToTheFront) {
  auto moved = [](const std::string& text) { return moveSharedAlignment(text).value_or("unchanged"); };
  EXPECT_EQ(moved("{ __attribute__((shared)) alignas(16) float x[4]; }"),
            "{ alignas(16) __attribute__((shared))  float x[4]; }");
  EXPECT_EQ(moved("extern __shared__ alignas(T) char a[];"), "alignas(T) extern __shared__  char a[];");
  EXPECT_EQ(moved("__shared__ static alignas(\n8) int a, b;\n"), "alignas( 8) __shared__ static \n int a, b;\n");
  EXPECT_EQ(moved("alignas(16) __shared__ int a;"), "unchanged");
  EXPECT_EQ(moved("struct alignas(16) S {}; __shared__ S s;"), "unchanged");
}

TEST(AsmRegisters, APercentBeforeARegisterIsDoubled) {
  auto changed = [](const std::string& text) { return doubleRegisterPercents(text).value_or("unchanged"); };
  EXPECT_EQ(changed("asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(t));"),
            "asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(t));");
  EXPECT_EQ(changed("__asm__(\"mov.u32 \" \"%0, %tid.x;\" : \"=r\"(t))"),
            "__asm__(\"mov.u32 \" \"%0, %%tid.x;\" : \"=r\"(t))");
  EXPECT_EQ(changed("asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(t))"), "unchanged");
  EXPECT_EQ(changed("asm(\"mov.u32 %c0, %1;\" : \"=r\"(t))"), "unchanged");
  EXPECT_EQ(changed("asm(\"mov.u32 x, %laneid;\")"), "unchanged");  // without operands a % is a %
  EXPECT_EQ(changed("printf(\"%ld\", t);"), "unchanged");
}

}  // namespace
}  // namespace ordito::frontend
