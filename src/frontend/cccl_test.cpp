#include "frontend/cccl.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace ordito::frontend {
namespace {
namespace fs = std::filesystem;

/// A folder with these files, empty.
fs::path folderWith(const std::string& name, const std::vector<std::string>& files) {
  const fs::path folder = fs::path(testing::TempDir()) / "cccl" / name;
  fs::remove_all(folder);
  for (const std::string& file : files) {
    fs::create_directories((folder / file).parent_path());
    std::ofstream(folder / file).flush();
  }
  return folder;
}

TEST(Cccl, IsFoundByOptionThenVariableThenToolkit) {
  const fs::path clone =
      folderWith("clone", {"thrust/thrust/version.h", "cub/cub/cub.cuh", "libcudacxx/include/cuda/atomic"});
  const fs::path installed = folderWith("installed", {"include/thrust/version.h"});
  const fs::path toolkit = folderWith("toolkit", {"include/cccl/thrust/version.h"});
  const std::vector<fs::path> ofClone = {clone / "thrust", clone / "cub", clone / "libcudacxx" / "include"};
  unsetenv("CCCL_ROOT");
  EXPECT_EQ(*ccclFolders(toolkit, ""), std::vector{toolkit / "include" / "cccl"});
  EXPECT_TRUE(ccclFolders(folderWith("bare", {"include/cuda.h"}), "")->empty());
  setenv("CCCL_ROOT", clone.c_str(), 1);
  EXPECT_EQ(*ccclFolders(toolkit, ""), ofClone);
  EXPECT_EQ(*ccclFolders(toolkit, installed), std::vector{installed / "include"});
  setenv("CCCL_ROOT", "/nowhere", 1);
  EXPECT_EQ(ccclFolders(toolkit, "").error().message,
            "CCCL_ROOT names /nowhere, where no Thrust, CUB and libcu++ are; it should be a clone of NVIDIA's CCCL");
  unsetenv("CCCL_ROOT");
}

TEST(Cccl, AMissingHeaderNamesItsPackage) {
  auto advice = [](const std::string& header) {
    return adviceOnMissingCccl("a.cu:1:10: fatal error: '" + header + "' file not found\n    1 | #include\n");
  };
  EXPECT_EQ(advice("thrust/sort.h"),
            "Thrust is not installed, or has no such header: apt install libthrust-dev libcub-dev, or clone "
            "NVIDIA/cccl (tag v2.8.5) and name its folder in CCCL_ROOT");
  EXPECT_TRUE(advice("cub/cub.cuh").starts_with("CUB is not installed"));
  EXPECT_TRUE(advice("cuda/std/tuple").starts_with("this header is part of libcu++"));
  EXPECT_EQ(advice("mine.h"), "");
  EXPECT_EQ(adviceOnMissingCccl("'thrust/sort.h' is fine, 'mine.h' file not found"), "");
}

}  // namespace
}  // namespace ordito::frontend
