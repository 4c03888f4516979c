// What the addresses of a warp's lanes have to do with each other, where that is known when the kernel is compiled.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "ir/shape.hpp"

namespace ordito::simt {

using ir::kLanes;

/// How the lanes [first, first + width) of a pattern can be accessed at once.
struct Run {
  enum class Kind : uint8_t { Contiguous, Same, Scattered } kind = Kind::Scattered;
  unsigned width = 0;
};

inline Run::Kind classify(const ir::Pattern& p, unsigned first, unsigned width, int64_t step) {
  bool same = true, contiguous = true;
  for (unsigned l = 1; l < width; ++l) {
    same &= p[first + l] == p[first];
    contiguous &= p[first + l] == p[first] + step * l;
  }
  return same ? Run::Kind::Same : contiguous ? Run::Kind::Contiguous : Run::Kind::Scattered;
}

/// The widest run length (a power of two, at least 4) that cuts each segment into runs.
inline unsigned runWidth(const ir::Pattern& p, unsigned segments, int64_t step) {
  for (unsigned width = kLanes / segments; width >= 4; width /= 2) {
    bool fits = true;
    for (unsigned first = 0; first < kLanes; first += width)
      fits &= classify(p, first, width, step) != Run::Kind::Scattered;
    if (fits) return width;
  }
  return 0;
}

/// The places that some lanes read, each once: pieces of neighbouring elements, and where each lane finds its own.
struct PermuteTable {
  struct Piece {
    unsigned segment;  // whose base
    int64_t offset;    // bytes from there
    unsigned length;   // elements, a power of two
    unsigned first;    // its place in the table that the pieces make, a multiple of its length
  };
  std::vector<Piece> pieces;
  unsigned length = 0;          // of the table
  std::vector<unsigned> found;  // by lane and element: where in the table it lies
};

/// For lanes that read `count` neighbouring elements of `bytes` each, cut into pieces of up to `longest`; empty if they
/// do not lie at multiples of an element from each other.
inline PermuteTable permuteTableOf(const ir::Pattern& p, unsigned segments, unsigned count, unsigned bytes,
                                   unsigned longest) {
  struct Element {
    unsigned segment;
    int64_t offset;
    auto operator<=>(const Element&) const = default;
  };
  std::map<Element, unsigned> elements;  // to the place in the table
  for (unsigned l = 0; l < kLanes; ++l) {
    const unsigned segment = l * segments / kLanes;
    if ((p[l] - p[segment * kLanes / segments]) % bytes) return {};
    for (unsigned k = 0; k < count; ++k) elements[{segment, p[l] + int64_t{k} * bytes}] = 0;
  }
  PermuteTable table;
  for (auto it = elements.begin(); it != elements.end();) {
    auto end = std::next(it);
    unsigned length = 1;
    while (end != elements.end() &&
           end->first == Element{it->first.segment, it->first.offset + int64_t{length} * bytes})
      ++length, ++end;
    for (int64_t at = it->first.offset; length;) {
      const unsigned piece = std::min(longest, std::bit_floor(length));
      table.pieces.push_back({it->first.segment, at, piece, 0});
      at += int64_t{piece} * bytes, length -= piece;
    }
    it = end;
  }
  // Long pieces first, so that each begins at a multiple of its length.
  std::sort(table.pieces.begin(), table.pieces.end(), [](const PermuteTable::Piece& a, const PermuteTable::Piece& b) {
    return std::tie(b.length, a.segment, a.offset) < std::tie(a.length, b.segment, b.offset);
  });
  for (PermuteTable::Piece& piece : table.pieces) {
    piece.first = table.length;
    for (unsigned k = 0; k < piece.length; ++k)
      elements[{piece.segment, piece.offset + int64_t{k} * bytes}] = table.length++;
  }
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned k = 0; k < count; ++k)
      table.found.push_back(elements[{l * segments / kLanes, p[l] + int64_t{k} * bytes}]);
  return table;
}

}  // namespace ordito::simt
