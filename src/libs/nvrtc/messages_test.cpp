// What programs find in NVRTC's log.
#include "libs/nvrtc/messages.hpp"

#include <gtest/gtest.h>

namespace ordito::nvrtc {
namespace {

TEST(NvrtcMessages, APlaceIsAFileAndALine) {
  EXPECT_EQ(asNvrtcs("k.cu:3:10: error: no member named 'x'\n    3 | a.x;\n      |   ^\n", "k.cu"),
            "k.cu(3): error: no member named 'x'\n    3 | a.x;\n      |   ^\n");
  EXPECT_EQ(asNvrtcs("C:/a b/k.cu:3:1: warning: hello [-W#warnings]\n", "k.cu"),
            "C:/a b/k.cu(3): warning: hello [-W#warnings]\n");
}

TEST(NvrtcMessages, ShownSourceStaysAsItIs) {
  const char* const shown = "   12 | // k.cu:3:10: error: use of undeclared identifier 'x'\n";
  EXPECT_EQ(asNvrtcs(shown, "k.cu"), shown);
}

TEST(NvrtcMessages, UndefinedIdentifiers) {
  EXPECT_EQ(asNvrtcs("k.cu:1:2: error: use of undeclared identifier 'y'\n", "k.cu"),
            "k.cu(1): error: identifier \"y\" is undefined\n");
  EXPECT_EQ(asNvrtcs("k.cu:1:2: error: unknown type name 'T'\n", "k.cu"),
            "k.cu(1): error: identifier \"T\" is undefined\n");
}

TEST(NvrtcMessages, ErrorsAreCounted) {
  EXPECT_EQ(asNvrtcs("1 error generated when compiling for sm_86.\n", "k.cu"),
            "\n1 error detected in the compilation of \"k.cu\".\n");
  EXPECT_EQ(asNvrtcs("2 warnings and 3 errors generated when compiling for sm_86.\n", "k.cu"),
            "\n3 errors detected in the compilation of \"k.cu\".\n");
  EXPECT_EQ(asNvrtcs("2 warnings generated when compiling for sm_86.\n", "k.cu"), "");
}

// Programs that bring headers as text try again with the header that is named here.
TEST(NvrtcMessages, AMissingHeader) {
  EXPECT_EQ(asNvrtcs("In file included from k.cu:1:\na.h:2:10: fatal error: 'b/c.h' file not found\n"
                     "1 error generated when compiling for sm_86.\n",
                     "k.cu"),
            "In file included from k.cu:1:\na.h(2): catastrophic error: cannot open source file \"b/c.h\"\n"
            "\n1 catastrophic error detected in the compilation of \"k.cu\".\nCompilation terminated.\n");
}

TEST(NvrtcMessages, UnusedVariables) {
  EXPECT_EQ(asNvrtcs("k.cu:4:7: warning: unused variable 'n' [-Wunused-variable]\n", "k.cu"),
            "k.cu(4): warning: variable \"n\" was declared but never referenced [-Wunused-variable]\n");
}

}  // namespace
}  // namespace ordito::nvrtc
