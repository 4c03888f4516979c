// A deterministic fuzzer that runs with the unit tests: plans that cuDNN's tests made, damaged in one to four places,
// are refused or run. tests/fuzz has the coverage-guided version.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "libs/cudnn/graph/test_plans.hpp"
#include "libs/stream_task.hpp"

namespace ordito::libs::cudnn::graph {
namespace {

using nlohmann::json;

std::vector<std::string> samples() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(ORDITO_PLANS)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const auto& file : files) {
    std::ifstream in(file);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return texts;
}

/// Numbers at which something may overflow or be divided by 0.
constexpr int64_t kNasty[] = {0,         1,        2, 3, 255, -1, int64_t{1} << 31, int64_t{1} << 32, int64_t{1} << 62,
                              INT64_MAX, INT64_MIN};

class Damage {
 public:
  explicit Damage(unsigned seed) : random_(seed) {}

  std::string to(const std::string& text) {
    if (below(4) == 0) return toText(text);
    json plan = json::parse(text);
    for (size_t i = 0; i <= below(4); ++i) toAttribute(plan["descriptors"]);
    return plan.dump();
  }

 private:
  size_t below(size_t most) { return random_() % most; }
  json& any(json& list) { return list[below(list.size())]; }

  std::string toText(std::string text) {
    for (size_t i = 0; i <= below(4); ++i) {
      const size_t at = below(text.size());
      if (below(2) == 0)
        text[at] = "0123456789-\"[]{},:e."[below(20)];
      else
        text.erase(at, 1 + below(30));
      if (text.empty()) text = "{";
    }
    return text;
  }

  void toAttribute(json& descriptors) {
    json& descriptor = any(descriptors);
    json& attributes = descriptor["attributes"];
    if (attributes.empty() || below(20) == 0) {
      descriptor["type"] = below(40);
      return;
    }
    json& attribute = any(attributes);
    switch (below(6)) {
      case 0: attributes.erase(below(attributes.size())); return;
      case 1: attributes.push_back(any(any(descriptors)["attributes"])); return;
      default: break;
    }
    if (attribute.contains("of")) {
      if (attribute["of"].empty() || below(8) == 0) return attribute["of"].push_back(below(descriptors.size()));
      any(attribute["of"]) = below(descriptors.size());
    } else {
      toBytes(attribute["bytes"]);
    }
  }
  void toBytes(json& bytes) {
    if (bytes.size() < 8 || below(3) == 0) {
      if (!bytes.empty()) any(bytes) = below(2) ? below(4) : below(256);
      return;
    }
    // One of the numbers of 64 bits.
    const size_t at = below(bytes.size() / 8) * 8;
    const int64_t value = kNasty[below(std::size(kNasty))];
    for (size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<uint64_t>(value) >> 8 * i & 255;
  }

  std::mt19937 random_;
};

TEST(Plans, DamagedOnesAreRefusedOrRun) {
  if (!hasContext()) GTEST_SKIP() << "no device";
  const auto texts = samples();
  ASSERT_FALSE(texts.empty());
  for (const std::string& text : texts) EXPECT_TRUE(tryPlan(text));
  int good = 0;
  constexpr int kMutants = 6000;
  for (int i = 0; i < kMutants; ++i) {
    const std::string text = Damage(static_cast<unsigned>(i)).to(texts[static_cast<size_t>(i) % texts.size()]);
    SCOPED_TRACE(i);
    good += tryPlan(text);
  }
  EXPECT_GT(good, kMutants / 50);
  EXPECT_LT(good, kMutants);
}

}  // namespace
}  // namespace ordito::libs::cudnn::graph
