#include "frontend/include_order.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ordito::frontend {
namespace {
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::string toolkit(const std::string& name) {
  const fs::path folder = fs::path(testing::TempDir()) / "include_order" / name;
  fs::create_directories(folder / "include");
  for (const char* header : {"cuda_runtime.h", "cuda_runtime_api.h"})
    std::ofstream(folder / "include" / header).flush();
  return folder.string();
}

TEST(IncludeOrder, ToolkitsComeLast) {
  const std::string theirs = toolkit("other") + "/include";
  EXPECT_EQ(toolkitsLast({"-I", theirs, "-DN=1", "-Imine", "-isystem", "more"}),
            (Words{"-DN=1", "-Imine", "-isystem", "more", "-idirafter", theirs}));
  EXPECT_EQ(toolkitsLast({"-I" + theirs, "-isystem", theirs, "-include", "a.h"}),
            (Words{"-include", "a.h", "-idirafter", theirs, "-idirafter", theirs}));
  const Words same = {"-I", "/nowhere", "-I"};
  EXPECT_EQ(toolkitsLast(same), same);
}

TEST(IncludeOrder, ToolkitsOfCpathComeLast) {
  const std::string theirs = toolkit("other") + "/include";
  const auto changed = [&](std::vector<const char*> variables) {
    variables.push_back(nullptr);
    return compilerEnvironment(variables.data());
  };
  const std::string path = "CPATH=/mine:" + theirs + "::/more", alone = "CPATH=" + theirs;
  EXPECT_EQ(changed({"A=1", path.c_str(), "CPLUS_INCLUDE_PATH=/plus"}),
            (Words{"A=1", "CPATH=/mine:.:/more", "CPLUS_INCLUDE_PATH=/plus:" + theirs, "C_INCLUDE_PATH=" + theirs}));
  EXPECT_EQ(changed({alone.c_str()}), (Words{"C_INCLUDE_PATH=" + theirs, "CPLUS_INCLUDE_PATH=" + theirs}));
  EXPECT_EQ(changed({"CPATH=/mine", "B="}), (Words{"CPATH=/mine", "B="}));
}

}  // namespace
}  // namespace ordito::frontend
