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

/// The widest run length (a power of two, at least 4) that cuts each group into runs.
inline unsigned runWidth(const ir::Pattern& p, unsigned groups, int64_t step) {
  for (unsigned width = kLanes / groups; width >= 4; width /= 2) {
    bool fits = true;
    for (unsigned first = 0; first < kLanes; first += width)
      fits &= classify(p, first, width, step) != Run::Kind::Scattered;
    if (fits) return width;
  }
  return 0;
}

/// The places that some lanes read, each once: pieces of neighbouring elements, and where each lane finds its own.
struct Places {
  struct Piece {
    unsigned group;   // whose base
    int64_t offset;   // bytes from there
    unsigned length;  // elements, a power of two
    unsigned first;   // its place in the table that the pieces make, a multiple of its length
  };
  std::vector<Piece> pieces;
  unsigned length = 0;          // of the table
  std::vector<unsigned> found;  // by lane and element: where in the table it lies
};

/// For lanes that read `count` neighbouring elements of `bytes` each, cut into pieces of up to `longest`; empty if they
/// do not lie at multiples of an element from each other.
inline Places placesOf(const ir::Pattern& p, unsigned groups, unsigned count, unsigned bytes, unsigned longest) {
  struct Element {
    unsigned group;
    int64_t offset;
    auto operator<=>(const Element&) const = default;
  };
  std::map<Element, unsigned> elements;  // to the place in the table
  for (unsigned l = 0; l < kLanes; ++l) {
    const unsigned group = l * groups / kLanes;
    if ((p[l] - p[group * kLanes / groups]) % bytes) return {};
    for (unsigned k = 0; k < count; ++k) elements[{group, p[l] + int64_t{k} * bytes}] = 0;
  }
  Places places;
  for (auto it = elements.begin(); it != elements.end();) {
    auto end = std::next(it);
    unsigned length = 1;
    while (end != elements.end() && end->first == Element{it->first.group, it->first.offset + int64_t{length} * bytes})
      ++length, ++end;
    for (int64_t at = it->first.offset; length;) {
      const unsigned piece = std::min(longest, std::bit_floor(length));
      places.pieces.push_back({it->first.group, at, piece, 0});
      at += int64_t{piece} * bytes, length -= piece;
    }
    it = end;
  }
  // Long pieces first, so that each begins at a multiple of its length.
  std::sort(places.pieces.begin(), places.pieces.end(), [](const Places::Piece& a, const Places::Piece& b) {
    return std::tie(b.length, a.group, a.offset) < std::tie(a.length, b.group, b.offset);
  });
  for (Places::Piece& piece : places.pieces) {
    piece.first = places.length;
    for (unsigned k = 0; k < piece.length; ++k)
      elements[{piece.group, piece.offset + int64_t{k} * bytes}] = places.length++;
  }
  for (unsigned l = 0; l < kLanes; ++l)
    for (unsigned k = 0; k < count; ++k)
      places.found.push_back(elements[{l * groups / kLanes, p[l] + int64_t{k} * bytes}]);
  return places;
}

}  // namespace ordito::simt
