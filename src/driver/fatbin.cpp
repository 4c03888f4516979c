// Fat binaries, read and written. See fatbin.hpp; the layout is the two structures below.
#include "driver/fatbin.hpp"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <string_view>

namespace ordito::driver {
namespace {

constexpr uint32_t kFatbinMagic = 0xba55ed50;

struct Header {
  uint32_t magic;
  uint16_t version;
  uint16_t headerSize;
  uint64_t size;  // of the entries that follow
};
static_assert(sizeof(Header) == 16);

struct EntryHeader {
  uint16_t kind;
  uint16_t version;
  uint32_t headerSize;   // the payload begins here
  uint64_t payloadSize;  // padded: the next entry begins after it
  uint32_t compressedSize;
  uint32_t optionsOffset;
  uint16_t minor;
  uint16_t major;
  uint32_t arch;
  uint32_t nameOffset;
  uint32_t nameLength;
  uint64_t flags;
  uint64_t reserved;
  uint64_t uncompressedSize;
};
static_assert(sizeof(EntryHeader) == 64);

constexpr uint16_t kKindPtx = 1;
constexpr uint16_t kKindElf = 2;
constexpr uint64_t kFlagsBase = 0x11;  // 64-bit addresses, Linux
constexpr uint64_t kFlagLz4 = 0x2000;
constexpr uint64_t kFlagZstd = 0x8000;

// No compiler writes so much PTX; a damaged size must not make us ask for all memory.
constexpr uint64_t kLargestPtx = uint64_t{1} << 30;

struct Wrapper {
  uint32_t magic;
  uint32_t version;
  const void* data;
  const void* const* prelinked;  // version 2: one fat binary per object file, the last null
};

template <class T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view asText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string withoutPadding(std::string_view text) { return std::string(text.substr(0, text.find('\0'))); }

Expected<std::string> unpackLz4(std::string_view packed, uint64_t size) {
  // A byte of LZ4 stands for 255 at most, which bounds the memory that a damaged size can ask for.
  if (size > kLargestPtx || size > packed.size() * 255 + 64) {
    return fail("LZ4: {} bytes cannot unpack to {}", packed.size(), size);
  }
  std::string text(size, '\0');
  const int got =
      LZ4_decompress_safe(packed.data(), text.data(), static_cast<int>(packed.size()), static_cast<int>(size));
  if (got < 0 || static_cast<uint64_t>(got) != size) return fail("LZ4: the compressed text is damaged");
  return text;
}

Expected<std::string> unpackZstd(std::string_view packed, uint64_t size) {
  // In pieces, so that memory grows with what is really there rather than with what a header claims.
  if (size > kLargestPtx) return fail("zstd: {} bytes of PTX is more than can be", size);
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::string text;
  std::string piece(ZSTD_DStreamOutSize(), '\0');
  for (;;) {
    ZSTD_outBuffer out{piece.data(), piece.size(), 0};
    const std::size_t left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left)) return fail("zstd: {}", ZSTD_getErrorName(left));
    text.append(piece.data(), out.pos);
    if (text.size() > size) return fail("zstd: more text than the {} bytes announced", size);
    if (left == 0) break;
    if (out.pos < out.size && in.pos == in.size) return fail("zstd: the compressed text is cut short");
  }
  if (text.size() != size) return fail("zstd: {} bytes of text where {} were announced", text.size(), size);
  return text;
}

Expected<std::string> unpackPtx(const EntryHeader& header, std::span<const std::byte> payload) {
  const bool lz4 = header.flags & kFlagLz4;
  const bool zstd = header.flags & kFlagZstd;
  if (!lz4 && !zstd) return withoutPadding(asText(payload));
  if (header.compressedSize > payload.size()) {
    return fail("{} compressed bytes in a payload of {}", header.compressedSize, payload.size());
  }
  const std::string_view packed = asText(payload).substr(0, header.compressedSize);
  const auto text = zstd ? unpackZstd(packed, header.uncompressedSize) : unpackLz4(packed, header.uncompressedSize);
  if (!text) return text;
  return withoutPadding(*text);
}

std::string entryName(const EntryHeader& header, std::span<const std::byte> entry) {
  if (header.nameLength == 0 || header.nameOffset > entry.size()) return {};
  return withoutPadding(asText(entry).substr(header.nameOffset, header.nameLength));
}

/// The entry at the start of `bytes`; `length` becomes the bytes up to the next.
Expected<FatbinEntry> readEntry(std::span<const std::byte> bytes, std::size_t& length) {
  if (bytes.size() < sizeof(EntryHeader)) return fail("an entry's header is cut short");
  const auto header = load<EntryHeader>(bytes, 0);
  if (header.headerSize < sizeof(EntryHeader) || header.headerSize > bytes.size()) {
    return fail("an entry's header of {} bytes", header.headerSize);
  }
  if (header.payloadSize > bytes.size() - header.headerSize) {
    return fail("an entry of {} bytes where {} are left", header.payloadSize, bytes.size() - header.headerSize);
  }
  length = header.headerSize + header.payloadSize;
  FatbinEntry entry;
  entry.arch = header.arch;
  entry.name = entryName(header, bytes.first(length));
  if (header.kind == kKindElf) entry.kind = FatbinEntry::Kind::Elf;
  if (header.kind != kKindPtx) return entry;
  auto text = unpackPtx(header, bytes.subspan(header.headerSize, header.payloadSize));
  if (!text) return tl::unexpected(text.error());
  entry.kind = FatbinEntry::Kind::Ptx;
  entry.ptx = std::move(*text);
  return entry;
}

void addUnlessSeen(std::vector<FatbinEntry>& entries, FatbinEntry entry) {
  const auto same = [&](const FatbinEntry& other) {
    return other.kind == entry.kind && other.ptx == entry.ptx &&
           (entry.kind == FatbinEntry::Kind::Ptx || other.arch == entry.arch);
  };
  if (std::none_of(entries.begin(), entries.end(), same)) entries.push_back(std::move(entry));
}

void pad(std::vector<std::byte>& bytes, std::size_t multiple) {
  bytes.resize((bytes.size() + multiple - 1) / multiple * multiple);
}

void append(std::vector<std::byte>& bytes, std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  bytes.insert(bytes.end(), first, first + text.size());
}

template <class T>
void store(std::vector<std::byte>& bytes, std::size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

std::string packLz4(std::string_view text) {
  std::string packed(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))), '\0');
  const int size =
      LZ4_compress_default(text.data(), packed.data(), static_cast<int>(text.size()), static_cast<int>(packed.size()));
  packed.resize(static_cast<std::size_t>(size));
  return packed;
}

std::string packZstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), ZSTD_CLEVEL_DEFAULT));
  return packed;
}

/// The PTX version that the text itself states, `.version 8.3`.
void setPtxVersion(EntryHeader& header, std::string_view ptx) {
  const auto at = ptx.find(".version ");
  if (at == std::string_view::npos) return;
  unsigned parts[2] = {0, 0};
  int part = 0;
  for (const char c : ptx.substr(at + 9, 8)) {
    if (c == '.' && part == 0) {
      part = 1;
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      parts[part] = parts[part] * 10 + static_cast<unsigned>(c - '0');
    } else {
      break;
    }
  }
  header.major = static_cast<uint16_t>(parts[0]);
  header.minor = static_cast<uint16_t>(parts[1]);
}

void writeEntry(std::vector<std::byte>& bytes, const FatbinImage& image) {
  const std::size_t start = bytes.size();
  EntryHeader header{};
  header.version = 0x101;
  header.arch = image.arch;
  header.flags = kFlagsBase;
  std::string payload = image.bytes;
  header.kind = image.kind == FatbinEntry::Kind::Ptx ? kKindPtx : kKindElf;
  if (image.kind == FatbinEntry::Kind::Ptx) {
    setPtxVersion(header, image.bytes);
    payload.push_back('\0');
    const bool packed = image.packing != FatbinPacking::Plain;
    if (packed) {
      header.uncompressedSize = payload.size();
      header.flags |= image.packing == FatbinPacking::Lz4 ? kFlagLz4 : kFlagZstd;
      payload = image.packing == FatbinPacking::Lz4 ? packLz4(payload) : packZstd(payload);
      header.compressedSize = static_cast<uint32_t>(payload.size());
    }
  }
  bytes.resize(start + sizeof header);
  if (!image.name.empty()) {
    header.nameOffset = sizeof header;
    header.nameLength = static_cast<uint32_t>(image.name.size());
    append(bytes, image.name);
    bytes.push_back(std::byte{0});
    pad(bytes, 8);
  }
  header.headerSize = static_cast<uint32_t>(bytes.size() - start);
  append(bytes, payload);
  pad(bytes, 8);
  header.payloadSize = bytes.size() - start - header.headerSize;
  store(bytes, start, header);
}

bool isDeviceRuntime(const FatbinEntry& entry) { return entry.name.find("cuda_device_runtime") != std::string::npos; }

}  // namespace

bool beginsWithMagic(const void* data, uint32_t magic) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (unsigned k = 0; k < sizeof magic; ++k)
    if (bytes[k] != (magic >> 8 * k & 0xff)) return false;
  return true;
}

bool isFatbin(std::span<const std::byte> data) {
  return data.size() >= sizeof(Header) && beginsWithMagic(data.data(), kFatbinMagic);
}

std::size_t fatbinBytes(const void* header) {
  const std::span bytes(static_cast<const std::byte*>(header), sizeof(Header));
  if (!isFatbin(bytes)) return 0;
  const auto fields = load<Header>(bytes, 0);
  return fields.headerSize + fields.size;
}

Expected<std::vector<FatbinEntry>> readFatbin(std::span<const std::byte> bytes) {
  std::vector<FatbinEntry> entries;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto rest = bytes.subspan(at);
    if (!isFatbin(rest)) {
      // Linkers fill the space between two fat binaries with zeroes.
      const bool padding = at != 0 && rest[0] == std::byte{0};
      if (!padding) return fail("byte {}: not a fat binary (no header with its mark)", at);
      ++at;
      continue;
    }
    const auto header = load<Header>(rest, 0);
    if (header.headerSize < sizeof(Header) || header.headerSize > rest.size() ||
        header.size > rest.size() - header.headerSize) {
      return fail("byte {}: a fat binary of {} bytes where {} are left", at, header.size, rest.size());
    }
    const auto body = rest.subspan(header.headerSize, header.size);
    for (std::size_t inBody = 0; inBody < body.size();) {
      std::size_t length = 0;
      auto entry = readEntry(body.subspan(inBody), length);
      if (!entry) return fail("byte {}: {}", at + header.headerSize + inBody, entry.error().message);
      addUnlessSeen(entries, std::move(*entry));
      inBody += length;
    }
    at += header.headerSize + header.size;
  }
  return entries;
}

Expected<std::vector<FatbinEntry>> readFatbinWrapper(const void* wrapper) {
  Wrapper fields;
  std::memcpy(&fields, wrapper, sizeof fields);
  if (fields.magic != kWrapperMagic || fields.data == nullptr) {
    return fail("the registered kernels are not in a fat binary (mark {:#x} instead of {:#x})", fields.magic,
                kWrapperMagic);
  }
  std::vector<const void*> binaries{fields.data};
  if (fields.version >= 2 && fields.prelinked != nullptr) {
    for (const void* const* binary = fields.prelinked; *binary != nullptr; ++binary) binaries.push_back(*binary);
  }
  std::vector<FatbinEntry> all;
  for (const void* binary : binaries) {
    auto entries = readFatbin({static_cast<const std::byte*>(binary), fatbinBytes(binary)});
    if (!entries) return entries;
    for (auto& entry : *entries) {
      if (!isDeviceRuntime(entry)) addUnlessSeen(all, std::move(entry));
    }
  }
  return all;
}

std::vector<std::byte> writeFatbin(std::span<const FatbinImage> images) {
  std::vector<std::byte> bytes(sizeof(Header));
  for (const auto& image : images) writeEntry(bytes, image);
  store(bytes, 0, Header{kFatbinMagic, 1, sizeof(Header), bytes.size() - sizeof(Header)});
  return bytes;
}

}  // namespace ordito::driver
