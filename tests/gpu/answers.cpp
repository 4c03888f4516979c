#include "answers.hpp"

#include <zstd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace ordito::gpu {

namespace {

constexpr std::string_view kMagic = "ordito answers 1\n";
constexpr size_t kLargest = 256 << 20;  // of a file when unpacked

/// Results by significance, or back.
std::vector<uint8_t> regrouped(const Item& item, const std::vector<uint8_t>& bytes, bool back) {
  std::vector<uint8_t> out(bytes.size());
  if (bytes.size() != item.bytes()) return bytes;
  for (const Results& r : item.results) {
    const size_t base = r.offset - item.begin(), width = r.width();
    for (size_t k = 0; k < r.count; ++k)
      for (size_t b = 0; b < width; ++b) {
        const size_t memory = base + k * width + b, grouped = base + b * r.count + k;
        (back ? out[memory] : out[grouped]) = bytes[back ? grouped : memory];
      }
  }
  return out;
}

class Output {
 public:
  std::vector<uint8_t> bytes;
  void number(uint64_t n) {
    for (int k = 0; k < 8; ++k) bytes.push_back(static_cast<uint8_t>(n >> 8 * k));
  }
  template <class Range>
  void block(const Range& range) {
    number(range.size());
    bytes.insert(bytes.end(), range.begin(), range.end());
  }
};

class Input {
 public:
  explicit Input(const std::vector<uint8_t>& bytes) : bytes_(bytes) {}
  bool atEnd() const { return position_ >= bytes_.size(); }
  uint64_t number() {
    uint64_t n = 0;
    for (int k = 0; k < 8 && position_ < bytes_.size(); ++k) n |= uint64_t{bytes_[position_++]} << 8 * k;
    return n;
  }
  template <class Range>
  Range block() {
    const size_t size = std::min<uint64_t>(number(), bytes_.size() - position_);
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(position_);
    position_ += size;
    return Range(begin, begin + static_cast<std::ptrdiff_t>(size));
  }

 private:
  const std::vector<uint8_t>& bytes_;
  size_t position_ = 0;
};

std::map<std::string, const Item*> itemsByKey(const std::vector<Experiment>& experiments) {
  std::map<std::string, const Item*> items;
  for (const Experiment& e : experiments)
    for (const Item& i : e.items) items[i.key] = &i;
  return items;
}

}  // namespace

Expected<> writeAnswers(const std::string& path, const Answers& answers, const std::vector<Experiment>& experiments) {
  Output out;
  out.block(answers.device);
  const auto items = itemsByKey(experiments);
  for (const auto& [key, answer] : answers.byKey) {
    out.block(key);
    out.number(answer.fingerprint);
    const auto item = items.find(key);
    out.block(item == items.end() ? answer.bytes : regrouped(*item->second, answer.bytes, false));
  }
  std::vector<uint8_t> packed(ZSTD_compressBound(out.bytes.size()));
  packed.resize(ZSTD_compress(packed.data(), packed.size(), out.bytes.data(), out.bytes.size(), 19));
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path, std::ios::binary);
  file << kMagic;
  file.write(reinterpret_cast<const char*>(packed.data()), static_cast<std::streamsize>(packed.size()));
  if (!file.flush()) return fail("cannot write {}", path);
  return {};
}

Expected<std::optional<Answers>> readAnswers(const std::string& path, const std::vector<Experiment>& experiments) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  if (!all.starts_with(kMagic)) return fail("{} holds no answers of a GPU", path);
  const char* packed = all.data() + kMagic.size();
  const size_t packedSize = all.size() - kMagic.size();
  const unsigned long long size = ZSTD_getFrameContentSize(packed, packedSize);
  if (size > kLargest) return fail("{} is damaged", path);
  std::vector<uint8_t> bytes(size);
  if (ZSTD_decompress(bytes.data(), bytes.size(), packed, packedSize) != size) return fail("{} is damaged", path);
  const auto items = itemsByKey(experiments);
  Answers answers;
  Input in(bytes);
  answers.device = in.block<std::string>();
  while (!in.atEnd()) {
    const auto key = in.block<std::string>();
    Answer& a = answers.byKey[key];
    a.fingerprint = in.number();
    a.bytes = in.block<std::vector<uint8_t>>();
    if (const auto item = items.find(key); item != items.end()) a.bytes = regrouped(*item->second, a.bytes, true);
  }
  return answers;
}

}  // namespace ordito::gpu
