// See code_cache.hpp. A file is a header and the object; it is written under another name and then renamed, and carries
// a digest of the object, so that a reader sees all of it or none. Reading sets the file's time, which trim() goes by.
#include "jit/code_cache.hpp"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

namespace ordito::jit {

namespace fs = std::filesystem;

namespace {

struct Header {
  char magic[8] = {'O', 'R', 'D', 'I', 'T', 'O', 'K', '4'};
  uint64_t scratchBytes = 0, localBytes = 0, nonTemporalBytes = 0, objectBytes = 0;
  uint64_t counterWords = 0, counterTerms = 0, runsRanges = 0, choice = 0;
  double blockNanoseconds = 0;
  Digest object;  // and of the terms
};

std::string_view bytesOf(const CounterTerms& counters) {
  return {reinterpret_cast<const char*>(counters.terms.data()), counters.terms.size() * sizeof(CounterTerm)};
}

}  // namespace

CodeCache::CodeCache(fs::path folder, uint64_t limit) : folder_(std::move(folder)), limit_(limit) {
  std::error_code failed;
  if (folder_.empty()) return;
  fs::create_directories(folder_, failed);
  if (failed) folder_.clear();
}

std::optional<CompiledObject> CodeCache::find(const Digest& key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(fileOf(key), std::ios::binary);
  Header header;
  const Header expected;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0) return std::nullopt;
  if (header.objectBytes > limit_ || header.counterTerms > limit_ / sizeof(CounterTerm)) return std::nullopt;
  CompiledObject found{std::string(header.objectBytes, '\0'),
                       header.scratchBytes,
                       header.localBytes,
                       header.nonTemporalBytes,
                       {static_cast<uint32_t>(header.counterWords), {}},
                       header.runsRanges != 0,
                       static_cast<Choice>(header.choice),
                       header.blockNanoseconds};
  found.counters.terms.resize(header.counterTerms);
  if (!file.read(found.object.data(), static_cast<std::streamsize>(header.objectBytes))) return std::nullopt;
  if (!file.read(reinterpret_cast<char*>(found.counters.terms.data()),
                 static_cast<std::streamsize>(bytesOf(found.counters).size())))
    return std::nullopt;
  if (!(Digest().add(found.object).add(bytesOf(found.counters)) == header.object)) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(fileOf(key), fs::file_time_type::clock::now(), ignored);
  return found;
}

void CodeCache::add(const Digest& key, const CompiledObject& object) const {
  if (folder_.empty()) return;
  Header header;
  header.scratchBytes = object.scratchBytes;
  header.localBytes = object.localBytes;
  header.nonTemporalBytes = object.nonTemporalBytes;
  header.objectBytes = object.object.size();
  header.counterWords = object.counters.words;
  header.counterTerms = object.counters.terms.size();
  header.runsRanges = object.runsRanges;
  header.choice = static_cast<uint64_t>(object.choice);
  header.blockNanoseconds = object.blockNanoseconds;
  const std::string_view terms = bytesOf(object.counters);
  header.object = Digest().add(object.object).add(terms);
  std::string temporary = (folder_ / "new-XXXXXX").string();
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return;
  auto write = [&](const void* data, size_t bytes) {
    return ::write(descriptor, data, bytes) == static_cast<ssize_t>(bytes);
  };
  const bool whole = write(&header, sizeof header) && write(object.object.data(), object.object.size()) &&
                     write(terms.data(), terms.size());
  ::close(descriptor);
  std::error_code failed;
  if (whole) fs::rename(temporary, fileOf(key), failed);
  if (!whole || failed) fs::remove(temporary, failed);
}

void CodeCache::remove(const Digest& key) const {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove(fileOf(key), ignored);
}

void CodeCache::trim() const {
  if (folder_.empty()) return;
  struct File {
    fs::file_time_type used;
    uint64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  uint64_t sum = 0;
  std::error_code failed;
  for (fs::directory_iterator it(folder_, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code gone;
    const uint64_t bytes = it->file_size(gone);
    const auto used = it->last_write_time(gone);
    if (gone) continue;
    files.push_back({used, bytes, it->path()});
    sum += bytes;
  }
  if (sum <= limit_) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  for (const File& file : files) {
    if (sum <= limit_ / 4 * 3) break;
    fs::remove(file.path, failed);
    sum -= file.bytes;
  }
}

Digest buildDigest() {
  Digest digest;
  Dl_info info{};
  struct stat status{};
  if (!dladdr(reinterpret_cast<const void*>(&buildDigest), &info) || !info.dli_fname || stat(info.dli_fname, &status))
    return digest;
  return digest.add(info.dli_fname)
      .add(static_cast<uint64_t>(status.st_size))
      .add(static_cast<uint64_t>(status.st_mtim.tv_sec))
      .add(static_cast<uint64_t>(status.st_mtim.tv_nsec));
}

}  // namespace ordito::jit
