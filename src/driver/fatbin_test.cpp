// Fat binaries: what is written reads back; damaged ones give an error and never more.
#include "driver/fatbin.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace ordito::driver {
namespace {

using Kind = FatbinEntry::Kind;

std::string samplePtx(int kernels) {
  std::string text = ".version 8.3\n.target sm_80\n.address_size 64\n";
  for (int i = 0; i < kernels; ++i) {
    text += ".visible .entry kernel" + std::to_string(i) + "(.param .u64 p)\n{\n  ld.param.u64 %rd1, [p];\n  ret;\n}\n";
  }
  return text;
}

FatbinImage ptxImage(FatbinPacking packing, int kernels = 5, uint32_t arch = 80) {
  return {Kind::Ptx, arch, "reduce.cu", samplePtx(kernels), packing};
}

std::vector<std::byte> toBytes(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

TEST(Fatbin, EveryPackingReadsBack) {
  for (const auto packing : {FatbinPacking::Plain, FatbinPacking::Lz4, FatbinPacking::Zstd}) {
    const FatbinImage image = ptxImage(packing, 400);
    const auto entries = readFatbin(writeFatbin({&image, 1}));
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), 1u);
    EXPECT_EQ((*entries)[0].kind, Kind::Ptx);
    EXPECT_EQ((*entries)[0].arch, 80u);
    EXPECT_EQ((*entries)[0].name, "reduce.cu");
    EXPECT_EQ((*entries)[0].ptx, image.bytes);
  }
}

TEST(Fatbin, CompressedIsSmaller) {
  const FatbinImage plain = ptxImage(FatbinPacking::Plain, 400);
  for (const auto packing : {FatbinPacking::Lz4, FatbinPacking::Zstd}) {
    const FatbinImage packed = ptxImage(packing, 400);
    EXPECT_LT(writeFatbin({&packed, 1}).size() * 3, writeFatbin({&plain, 1}).size());
  }
}

TEST(Fatbin, SamePtxForTwoArchitecturesIsOneEntry) {
  const FatbinImage images[] = {ptxImage(FatbinPacking::Plain, 3, 80), ptxImage(FatbinPacking::Zstd, 3, 90)};
  const auto entries = readFatbin(writeFatbin(images));
  ASSERT_TRUE(entries);
  EXPECT_EQ(entries->size(), 1u);
}

TEST(Fatbin, MachineCodeIsReportedWithItsArchitecture) {
  const FatbinImage images[] = {{Kind::Elf, 75, "", "\177ELF....", FatbinPacking::Plain},
                                ptxImage(FatbinPacking::Plain)};
  const auto entries = readFatbin(writeFatbin(images));
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[0].kind, Kind::Elf);
  EXPECT_EQ((*entries)[0].arch, 75u);
  EXPECT_TRUE((*entries)[0].ptx.empty());
}

TEST(Fatbin, SeveralInARowWithPaddingBetween) {
  const FatbinImage first = ptxImage(FatbinPacking::Plain, 1);
  const FatbinImage second = ptxImage(FatbinPacking::Lz4, 2);
  auto bytes = writeFatbin({&first, 1});
  bytes.resize(bytes.size() + 24);
  const auto empty = writeFatbin({});
  bytes.insert(bytes.end(), empty.begin(), empty.end());
  const auto more = writeFatbin({&second, 1});
  bytes.insert(bytes.end(), more.begin(), more.end());
  const auto entries = readFatbin(bytes);
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[1].ptx, second.bytes);
}

TEST(Fatbin, LengthComesFromTheHeader) {
  const FatbinImage image = ptxImage(FatbinPacking::Plain);
  const auto bytes = writeFatbin({&image, 1});
  EXPECT_EQ(fatbinBytes(bytes.data()), bytes.size());
  EXPECT_EQ(fatbinBytes("this is sixteen bytes"), 0u);
}

struct TestWrapper {
  uint32_t magic = kWrapperMagic;
  uint32_t version = 1;
  const void* data = nullptr;
  const void* const* prelinked = nullptr;
};

TEST(Fatbin, WrapperLeadsToPrelinkedParts) {
  const FatbinImage one = ptxImage(FatbinPacking::Plain, 1);
  FatbinImage runtime = ptxImage(FatbinPacking::Plain, 9);
  runtime.name = "cuda_device_runtime";
  const auto main = writeFatbin({});
  const auto part = writeFatbin({&one, 1});
  const auto library = writeFatbin({&runtime, 1});
  const void* parts[] = {part.data(), library.data(), nullptr};
  TestWrapper wrapper{.version = 2, .data = main.data(), .prelinked = parts};
  const auto entries = readFatbinWrapper(&wrapper);
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ((*entries)[0].ptx, one.bytes);
  wrapper.version = 1;
  EXPECT_TRUE(readFatbinWrapper(&wrapper)->empty());
  wrapper.magic = 7;
  EXPECT_FALSE(readFatbinWrapper(&wrapper));
}

TEST(Fatbin, TextIsRefused) {
  EXPECT_FALSE(readFatbin(toBytes("\n.version 8.3\n.target sm_80")));
  EXPECT_FALSE(readFatbin(toBytes("short")));
}

TEST(Fatbin, EveryTruncationIsRefused) {
  for (const auto packing : {FatbinPacking::Plain, FatbinPacking::Lz4, FatbinPacking::Zstd}) {
    const FatbinImage image = ptxImage(packing, 3);
    const auto bytes = writeFatbin({&image, 1});
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      EXPECT_FALSE(readFatbin(std::span(bytes).first(size))) << size;
    }
  }
}

TEST(Fatbin, AnnouncedSizesAreNotBelieved) {
  for (const auto packing : {FatbinPacking::Lz4, FatbinPacking::Zstd}) {
    const FatbinImage image = ptxImage(packing, 3);
    auto bytes = writeFatbin({&image, 1});
    const std::size_t uncompressedSize = 16 + 56;
    for (const uint64_t claim : {uint64_t{0}, uint64_t{10}, uint64_t{1} << 31, uint64_t{1} << 62, ~uint64_t{0}}) {
      std::memcpy(bytes.data() + uncompressedSize, &claim, sizeof claim);
      EXPECT_FALSE(readFatbin(bytes)) << claim;
    }
  }
}

TEST(Fatbin, WhatNvccWrites) {
  const std::string nvcc = std::filesystem::exists("/usr/local/cuda/bin/cudafe++") ? "/usr/local/cuda/bin/nvcc" : "";
  if (nvcc.empty()) GTEST_SKIP() << "NVIDIA's nvcc is not installed";
  const auto folder = std::filesystem::temp_directory_path() / "ordito_fatbin_test";
  std::filesystem::create_directories(folder);
  const std::string source = (folder / "k.cu").string();
  const std::string output = (folder / "k.fatbin").string();
  std::ofstream(source) << "__global__ void nvccKernel(float* p) { p[threadIdx.x] = sinf(p[1]); }\n";
  for (const char* mode : {"none", "speed", "size", "balance"}) {
    const std::string command = nvcc +
                                " -fatbin -gencode arch=compute_80,code=[sm_80,compute_80] --compress-mode=" + mode +
                                " " + source + " -o " + output + " 2>/dev/null";
    // An nvcc that is older knows no modes and writes its default.
    if (std::system(command.c_str()) != 0) continue;
    std::ifstream file(output, std::ios::binary);
    const auto entries = readFatbin(toBytes({std::istreambuf_iterator<char>(file), {}}));
    ASSERT_TRUE(entries) << mode << ": " << entries.error().message;
    ASSERT_EQ(entries->size(), 2u) << mode;
    EXPECT_EQ((*entries)[0].kind, Kind::Elf);
    EXPECT_EQ((*entries)[1].kind, Kind::Ptx);
    EXPECT_EQ((*entries)[1].arch, 80u);
    EXPECT_NE((*entries)[1].ptx.find("nvccKernel"), std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

/// Changes a few bytes or fields of a valid fat binary, or its length.
std::vector<std::byte> mutate(std::vector<std::byte> bytes, std::mt19937_64& random) {
  const int changes = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < changes && !bytes.empty(); ++i) {
    // Headers are where damage hurts; half of the changes go there.
    const std::size_t at = random() % (random() % 2 ? bytes.size() : std::min<std::size_t>(bytes.size(), 192));
    switch (random() % 5) {
      case 0: bytes[at] = static_cast<std::byte>(random()); break;
      case 1: bytes[at] ^= static_cast<std::byte>(1u << random() % 8); break;
      case 2: {
        const uint64_t extremes[] = {0, 1, 0x7fffffff, 0xffffffff, ~uint64_t{0}, uint64_t{1} << 63, bytes.size()};
        const uint64_t value = extremes[random() % std::size(extremes)];
        const std::size_t size = std::min(sizeof value, bytes.size() - at);
        std::memcpy(bytes.data() + at, &value, size);
        break;
      }
      case 3: bytes.resize(at); break;
      default: bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), random() % 40, std::byte{0});
    }
  }
  return bytes;
}

TEST(Fatbin, HundredThousandMutantsNeverCrash) {
  std::vector<std::vector<std::byte>> originals;
  for (const auto packing : {FatbinPacking::Plain, FatbinPacking::Lz4, FatbinPacking::Zstd}) {
    const FatbinImage images[] = {{Kind::Elf, 75, "", "\177ELF....", FatbinPacking::Plain}, ptxImage(packing, 2)};
    originals.push_back(writeFatbin(images));
  }
  std::mt19937_64 random(20240229);
  int accepted = 0;
  for (int i = 0; i < 100000; ++i) {
    // A copy on the heap of exactly the right size, so that a sanitizer sees every byte read beyond it.
    const auto mutant = mutate(originals[random() % originals.size()], random);
    const auto entries = readFatbin(mutant);
    if (entries) {
      ++accepted;
    } else {
      ASSERT_FALSE(entries.error().message.empty());
    }
  }
  // Some damage is invisible to the container (a letter of plain PTX); most is not.
  EXPECT_GT(accepted, 1000);
  EXPECT_LT(accepted, 90000);
}

TEST(Fatbin, RandomBytesAreRefused) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> bytes(1 + random() % 300);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    EXPECT_FALSE(readFatbin(bytes));
  }
}

}  // namespace
}  // namespace ordito::driver
