#include "jit/code_cache.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "jit/jit.hpp"
#include "jit/test_folder.hpp"
#include "ptx/parser.hpp"

namespace ordito::jit {
namespace {

namespace fs = std::filesystem;

class CodeCacheTest : public FolderTest {
 protected:
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder_)) all.push_back(entry.path());
    return all;
  }

  const Digest key_ = Digest().add("a kernel");
  const CompiledObject object_{std::string(1000, 'x'), 1, 2, 3, {1, {{0, 7, 2, machine::Counter::Branches}}}, true};
};

TEST_F(CodeCacheTest, FindsWhatWasAdded) {
  const CodeCache cache(folder_);
  EXPECT_FALSE(cache.find(key_));
  cache.add(key_, object_);
  const auto found = cache.find(key_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->object, object_.object);
  EXPECT_EQ(found->scratchBytes, 1u);
  EXPECT_EQ(found->localBytes, 2u);
  EXPECT_EQ(found->nonTemporalBytes, 3u);
  EXPECT_TRUE(found->runsRanges);
  EXPECT_FALSE(cache.find(Digest().add("another")));
}

TEST_F(CodeCacheTest, DoesNotFindWhatIsNotWhole) {
  const CodeCache cache(folder_);
  cache.add(key_, object_);
  ASSERT_EQ(files().size(), 1u);
  const fs::path file = files()[0];
  for (uint64_t bytes : {0u, 10u, 100u, 1000u}) {
    fs::resize_file(file, bytes);
    EXPECT_FALSE(cache.find(key_)) << bytes;
  }
  cache.add(key_, object_);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).seekp(-1, std::ios::end).put('y');
  EXPECT_FALSE(cache.find(key_)) << "a changed byte";
}

TEST_F(CodeCacheTest, ForgetsWhatWasUnusedForLongest) {
  const CodeCache cache(folder_, 4000);
  for (uint64_t i = 0; i < 5; ++i) {
    const Digest key = Digest().add(i);
    cache.add(key, object_);
    const auto then = fs::file_time_type::clock::now() - std::chrono::hours(5 - i);
    fs::last_write_time(folder_ / (key.hex() + ".kernel"), then);
  }
  cache.find(Digest().add(uint64_t{0}));  // used now
  cache.trim();
  EXPECT_TRUE(cache.find(Digest().add(uint64_t{0})));
  EXPECT_FALSE(cache.find(Digest().add(uint64_t{1})));
  EXPECT_TRUE(cache.find(Digest().add(uint64_t{4})));
}

TEST_F(CodeCacheTest, NoFolderCachesNothing) {
  const CodeCache cache({});
  cache.add(key_, object_);
  EXPECT_FALSE(cache.find(key_));
  const CodeCache unwritable("/proc/no/such/folder");
  unwritable.add(key_, object_);
  EXPECT_FALSE(unwritable.find(key_));
}

constexpr const char* kPtx = R"(
.version 8.3
.target sm_80
.address_size 64
.visible .entry one(.param .u64 out) {
  .reg .b64 %p;
  ld.param.u64 %p, [out];
  st.global.u32 [%p], 1;
  ret;
}
)";

TEST_F(CodeCacheTest, ASecondEngineCompilesNothing) {
  auto parsed = ptx::parse(kPtx);
  ASSERT_TRUE(parsed);
  const auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
  Options options;
  options.caches = true;
  options.cacheFolder = folder_;
  for (int round = 0; round < 2; ++round) {
    auto engine = makeJit(options);
    auto executable = engine->compile(module, module->functions[0], {{32, 1, 1}, false});
    ASSERT_TRUE(executable) << executable.error().message;
    ASSERT_EQ(files().size(), 1u);
    uint32_t result = 0;
    uint32_t* address = &result;
    std::vector<std::byte> scratch((*executable)->scratchBytes() + 64);
    machine::BlockFrame frame{};
    frame.parameters = reinterpret_cast<const std::byte*>(&address);
    void* start = scratch.data();
    size_t room = scratch.size();
    frame.scratch = static_cast<std::byte*>(std::align(64, room - 64, start, room));
    (*executable)->runBlock(frame);
    EXPECT_EQ(result, 1u);
    // The second time, an object that does not even have the right name inside would show.
    std::ifstream file(files()[0], std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    EXPECT_NE(bytes.find("ordito_" + files()[0].stem().string()), std::string::npos);
  }
  auto engine = makeJit(options);
  ASSERT_TRUE(engine->compile(module, module->functions[0], {{64, 1, 1}, false}));
  EXPECT_EQ(files().size(), 2u) << "another block shape is another kernel";
}

}  // namespace
}  // namespace ordito::jit
