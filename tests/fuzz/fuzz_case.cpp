#include "fuzz_case.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <bit>
#include <fstream>
#include <sstream>

namespace ordito::fuzz {

test::Case caseOf(machine::Dim3 grid, machine::Dim3 block, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto buffer = [](std::string name, isa::Type type) {
    test::Buffer b;
    b.name = std::move(name);
    b.type = type;
    return b;
  };
  test::Buffer in32 = buffer("in32", isa::Type::u32), in64 = buffer("in64", isa::Type::u64),
               inF64 = buffer("inf64", isa::Type::u64), out = buffer("out", isa::Type::u32),
               sums = buffer("sums", isa::Type::u32);
  for (unsigned k = 0; k < 2 * kInputs; ++k) {
    // Small numbers, ordinary floats and any bits; quiet NaNs only, since conversions may or may not quieten a
    // signalling one.
    const uint64_t bits = random();
    const unsigned kind = bits >> 60;
    uint32_t word = kind < 5    ? bits & 31
                    : kind < 10 ? std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(bits)) / 65536)
                                : static_cast<uint32_t>(bits);
    if ((word & 0x7F800000) == 0x7F800000 && (word & 0x7FFFFF)) word |= 0x400000;
    in32.initial.push_back(word);
    in64.initial.push_back(kind < 8 ? bits & 1023 : random());
    inF64.initial.push_back(
        std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(random())) * (kind < 8 ? 0x1p-60 : 0x1p-30)));
  }
  out.initial.assign(grid.count() * block.count() * kOutWords, 0);
  sums.initial.assign(kSums, 0);
  test::Case c;
  c.grid = grid;
  c.block = block;
  c.parameters = {in32, in64, inF64, out, sums};
  return c;
}

std::string unfused(const std::string& text) {
  std::istringstream lines(text);
  std::string out, line;
  while (std::getline(lines, line)) {
    const size_t end = line.find(' ', line.find_first_not_of(' '));
    // The opcode is the first word, or the second behind a guard.
    size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos && line[begin] == '@' && end != std::string::npos) begin = end + 1;
    const std::string opcode = begin == std::string::npos ? "" : line.substr(begin, line.find(' ', begin) - begin);
    const std::string name = opcode.substr(0, 4), type = opcode.substr(opcode.rfind('.') + 1);
    const bool isFloat = type.starts_with("f") || type.starts_with("bf");
    const bool sums = name == "add." || name == "sub." || name == "mul.";
    const bool rounds = opcode.size() > 6 && opcode[4] == 'r' && opcode[6] == '.';
    if (sums && isFloat && !rounds) line.insert(begin + 3, ".rn");
    out += line + "\n";
  }
  return out;
}

uint64_t resultOf(const test::Outcome& outcome) {
  uint64_t h = 0xCBF29CE484222325u;
  for (const auto& buffer : outcome.buffers)
    for (uint64_t word : buffer) h = (h ^ word) * 0x100000001B3u;
  return h;
}

Expected<> writeRecorded(const std::string& path, const std::vector<Recorded>& all) {
  std::string text;
  for (const Recorded& r : all)
    text += fmt::format("{} {} {} {} {} {} {}\n{}", r.seed, r.result, r.grid.x, r.block.x, r.block.y, r.block.z,
                        r.text.size(), r.text);
  std::string packed(ZSTD_compressBound(text.size()), 0);
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 19));
  std::ofstream file(path, std::ios::binary);
  file << packed;
  if (!file.flush()) return fail("cannot write {}", path);
  return {};
}

Expected<std::vector<Recorded>> readRecorded(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string packed{std::istreambuf_iterator<char>(file), {}};
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (!file || size > 1u << 28) return fail("{} holds no recorded kernels", path);
  std::string text(size, 0);
  if (ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size()) != size)
    return fail("{} is damaged", path);
  std::istringstream in(text);
  std::vector<Recorded> all;
  Recorded r;
  size_t length;
  while (in >> r.seed >> r.result >> r.grid.x >> r.block.x >> r.block.y >> r.block.z >> length && length <= size) {
    in.get();
    r.text.resize(length);
    in.read(r.text.data(), static_cast<std::streamsize>(length));
    all.push_back(r);
  }
  return all;
}

}  // namespace ordito::fuzz
