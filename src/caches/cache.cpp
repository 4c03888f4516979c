// See cache.hpp.
#include "caches/cache.hpp"

#include <algorithm>
#include <bit>

namespace ordito::caches {

namespace {

uint8_t sectorBit(uint64_t address) { return static_cast<uint8_t>(1u << address % kLineBytes / kSectorBytes); }

constexpr uint8_t kAllSectors = (1u << kLineBytes / kSectorBytes) - 1;

}  // namespace

Cache::Cache(uint64_t bytes, uint32_t ways, bool fillsLines)
    : ways_(ways), sets_(bytes / kLineBytes / ways), fillsLines_(fillsLines), lines_(sets_ * ways) {}

Cache::Line* Cache::find(uint64_t number) {
  if (sets_ == 0) return nullptr;
  Line* const set = setOf(number);
  Line* const found = std::find_if(set, set + ways_, [&](const Line& line) { return line.number == number; });
  return found == set + ways_ ? nullptr : found;
}

Cache::Line& Cache::bring(uint64_t number) {
  Line* const set = setOf(number);
  Line* place = find(number);
  if (!place) {
    place = set + ways_ - 1;
    writtenBack_ += static_cast<uint64_t>(std::popcount(place->dirty));
    *place = {.number = number};
  }
  std::rotate(set, place, place + 1);
  return *set;
}

bool Cache::touch(uint64_t address, bool isWrite) {
  if (sets_ == 0) {
    writtenBack_ += isWrite;
    return false;
  }
  Line& line = bring(address / kLineBytes);
  const uint8_t sector = sectorBit(address);
  const bool hit = line.present & sector;
  line.present |= fillsLines_ ? kAllSectors : sector;
  if (isWrite) line.dirty |= sector;
  return hit;
}

void Cache::drop(uint64_t address) {
  if (Line* line = find(address / kLineBytes)) line->present &= static_cast<uint8_t>(~sectorBit(address));
}

void Cache::clear() { std::fill(lines_.begin(), lines_.end(), Line{}); }

}  // namespace ordito::caches
