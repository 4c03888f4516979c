// Programs that answer as the wrappers of Open MPI and of MPICH do, and one that does not.
#include "frontend/compiler_wrapper.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "frontend/nvcc_options.hpp"

namespace ordito::frontend {
namespace {

using Strings = std::vector<std::string>;

class CompilerWrapper : public testing::Test {
 protected:
  CompilerWrapper() { std::filesystem::create_directory(folder_); }
  ~CompilerWrapper() override { std::filesystem::remove_all(folder_); }

  std::string wrapper(const std::string& name, const std::string& script) const {
    const auto path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("ordito_wrapper_" + std::to_string(getpid()));
};

constexpr char kOpenMpi[] =
    "case $1 in\n"
    "  --showme:compile) echo -I/mpi/include -isystem /mpi/other -DMPI=1 -pthread;;\n"
    "  --showme:link) echo -L/mpi/lib -Wl,--enable-new-dtags -lmpi_cxx -lmpi;;\n"
    "  *) exit 1;;\n"
    "esac\n";
constexpr char kMpich[] =
    "[ \"$1\" = -show ] || exit 1\n"
    "echo g++ -O2 -I/mpich/include -L/mpich/lib -lmpichcxx -lmpich\n";

TEST_F(CompilerWrapper, OfOpenMpi) {
  const auto options = parseNvccOptions({"-ccbin", wrapper("mpicxx", kOpenMpi), "ring.cu", "-lm"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->preprocessor, (Strings{"-I", "/mpi/include", "-isystem", "/mpi/other", "-DMPI=1"}));
  EXPECT_EQ(options->host, Strings{"-pthread"});
  EXPECT_EQ(options->linker, Strings{"-L/mpi/lib"});
  Strings items;
  for (const auto& item : options->items) items.push_back(item.text);
  EXPECT_EQ(items, (Strings{"ring.cu", "-lm", "-Xlinker", "--enable-new-dtags", "-lmpi_cxx", "-lmpi"}));
}

TEST_F(CompilerWrapper, OfMpich) {
  const auto options = mpiWrapperOptions(wrapper("mpic++", kMpich));
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(*options, (Strings{"-I/mpich/include", "-L/mpich/lib", "-lmpichcxx", "-lmpich"}));
}

TEST_F(CompilerWrapper, ThatSaysNothing) {
  EXPECT_FALSE(parseNvccOptions({"-ccbin", wrapper("mpiCC", "exit 1\n"), "ring.cu"}));
  EXPECT_FALSE(parseNvccOptions({"-ccbin", "/nowhere/mpicxx", "ring.cu"}));
  EXPECT_TRUE(parseNvccOptions({"-ccbin", "/nowhere/g++", "ring.cu"}));
}

}  // namespace
}  // namespace ordito::frontend
