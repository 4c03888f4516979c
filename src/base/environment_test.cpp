// The environment variables: what they may be, that users can read of each, and that the code reads no other.
#include "base/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace ordito {
namespace {

namespace fs = std::filesystem;

Environment readWith(const char* name, const char* value) {
  setenv(name, value, 1);
  Environment e = readEnvironment();
  unsetenv(name);
  return e;
}

TEST(EnvironmentVariables, AreReadIntoFields) {
  EXPECT_EQ(readWith("ORDITO_THREADS", "3").threads, 3u);
  EXPECT_EQ(readWith("ORDITO_DUMP", "times").dump, "times");
  EXPECT_EQ(readWith("ORDITO_CACHE", "/tmp/x y").cache, "/tmp/x y");
  EXPECT_EQ(readWith("ORDITO_THREADS", "").threads, 0u);
  EXPECT_EQ(readWith("ORDITO_THREADS", "").problem, "");
}

TEST(EnvironmentVariables, WithOtherValuesAreErrorsThatListWhatIsAllowed) {
  const Environment engine = readWith("ORDITO_ENGINE", "fast");
  EXPECT_EQ(engine.problem, "ORDITO_ENGINE is 'fast'; it can be jit, interp");
  EXPECT_EQ(engine.engine, "");
  EXPECT_EQ(readWith("ORDITO_THREADS", "many").problem, "ORDITO_THREADS is 'many'; it can be a number from 0 to 1024");
  EXPECT_EQ(readWith("ORDITO_THREADS", "4x").threads, 0u);
  EXPECT_EQ(readWith("ORDITO_QUIET", "-1").problem, "ORDITO_QUIET is '-1'; it can be a number from 0 to 1");
}

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(EnvironmentVariables, StandInTheDocuments) {
  const std::string page = contents(fs::path(ORDITO_SOURCE_DIR) / "docs" / "environment.md");
  for (const EnvironmentVariable& v : environmentVariables())
    EXPECT_NE(page.find("| `" + std::string(v.name) + "` |"), std::string::npos) << v.name;
}

TEST(EnvironmentVariables, AreAllInTheTable) {
  std::set<std::string, std::less<>> known;
  for (const EnvironmentVariable& v : environmentVariables()) known.emplace(v.name);
  const std::regex reading("getenv\\(\"(ORDITO_[A-Z_]+)\"");
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(ORDITO_SOURCE_DIR) / "src")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = contents(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), reading), end; at != end; ++at)
      EXPECT_TRUE(known.contains((*at)[1].str())) << (*at)[1] << " in " << entry.path();
  }
}

}  // namespace
}  // namespace ordito
