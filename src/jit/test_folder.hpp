// For tests: a folder for compiled kernels that goes with the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace ordito::jit {

class FolderTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ordito-kernels-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// How many kernels it keeps. Those that are not whole yet have other names.
  size_t kernels() const {
    using std::filesystem::directory_iterator;
    return static_cast<size_t>(std::count_if(directory_iterator(folder_), directory_iterator(),
                                             [](const auto& file) { return file.path().extension() == ".kernel"; }));
  }

  std::filesystem::path folder_;
};

}  // namespace ordito::jit
