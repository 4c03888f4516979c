// See shuffler.hpp.
#include "jit/shuffler.hpp"

#include <bit>

namespace ordito::jit {

using Vectors = Shuffler::Vectors;

std::optional<Vectors> Shuffler::members(const Vectors& rows) const {
  const auto words = static_cast<unsigned>(rows.size());
  if (!isWide_ && words % width_ == 0) return bySquares(rows, words / width_, 1);
  if (!std::has_single_bit(words)) return std::nullopt;
  if (!isWide_ && width_ == 8) return partEights(rows);
  Vectors v = rows;
  for (unsigned left = words; left > 1; left /= 2) v = part(v);
  return v;
}

std::optional<Vectors> Shuffler::structures(const Vectors& members) const {
  const auto words = static_cast<unsigned>(members.size());
  if (!isWide_ && words % width_ == 0) return bySquares(members, 1, words / width_);
  if (!std::has_single_bit(words)) return std::nullopt;
  Vectors v = members;
  for (unsigned left = words; left > 1; left /= 2) v = interleave(v);
  return v;
}

/// The lowest bit of each element's number goes to the top.
Vectors Shuffler::part(const Vectors& v) const {
  Vectors parted(v.size());
  for (size_t k = 0; k < v.size() / 2; ++k) {
    parted[k] = pick(v[2 * k], v[2 * k + 1], [](unsigned e) { return 2 * e; });
    parted[k + v.size() / 2] = pick(v[2 * k], v[2 * k + 1], [](unsigned e) { return 2 * e + 1; });
  }
  return parted;
}

/// The highest goes to the bottom.
Vectors Shuffler::interleave(const Vectors& v) const {
  Vectors joined(v.size());
  for (size_t k = 0; k < v.size(); ++k)
    joined[k] = pick(v[k / 2], v[k / 2 + v.size() / 2],
                     [&](unsigned e) { return e / 2 + k % 2 * width_ / 2 + e % 2 * width_; });
  return joined;
}

/// Two or four members of eight lanes, by exchanging halves and then unpacking.
Vectors Shuffler::partEights(const Vectors& rows) const {
  if (rows.size() == 2) {
    LlvmValue t0 = pick(rows[0], rows[1], {0, 1, 2, 3, 8, 9, 10, 11}),
              t1 = pick(rows[0], rows[1], {4, 5, 6, 7, 12, 13, 14, 15});
    return {pick(t0, t1, {0, 2, 8, 10, 4, 6, 12, 14}), pick(t0, t1, {1, 3, 9, 11, 5, 7, 13, 15})};
  }
  LlvmValue t0 = pick(rows[0], rows[2], {0, 1, 2, 3, 8, 9, 10, 11}),
            t1 = pick(rows[0], rows[2], {4, 5, 6, 7, 12, 13, 14, 15});
  LlvmValue t2 = pick(rows[1], rows[3], {0, 1, 2, 3, 8, 9, 10, 11}),
            t3 = pick(rows[1], rows[3], {4, 5, 6, 7, 12, 13, 14, 15});
  LlvmValue low01 = pick(t0, t1, {0, 8, 1, 9, 4, 12, 5, 13}), low23 = pick(t2, t3, {0, 8, 1, 9, 4, 12, 5, 13});
  LlvmValue high01 = pick(t0, t1, {2, 10, 3, 11, 6, 14, 7, 15}), high23 = pick(t2, t3, {2, 10, 3, 11, 6, 14, 7, 15});
  return {pick(low01, low23, {0, 1, 8, 9, 4, 5, 12, 13}), pick(low01, low23, {2, 3, 10, 11, 6, 7, 14, 15}),
          pick(high01, high23, {0, 1, 8, 9, 4, 5, 12, 13}), pick(high01, high23, {2, 3, 10, 11, 6, 7, 14, 15})};
}

/// As many vectors as they have elements, four or eight, become the columns of the matrix whose rows they are: unpack
/// elements, unpack pairs, exchange halves.
Vectors Shuffler::transpose(const Vectors& rows) const {
  const unsigned half = width_ / 2, quarter = width_ / 4;
  auto unpacked = [&](LlvmValue a, LlvmValue b, unsigned unit, unsigned high) {  // in each half by itself
    return pick(a, b, [&](unsigned e) {
      const unsigned place = e % half / unit;
      return e / half * half + (place / 2 + high * (half / unit / 2)) * unit + e % unit + place % 2 * width_;
    });
  };
  Vectors columns = rows;
  for (unsigned unit = 1; unit <= quarter; unit *= 2) {  // rows that are `unit` apart
    Vectors next(columns.size());
    for (unsigned r = 0; r < width_; ++r) {
      if (r & unit) continue;
      next[r] = unpacked(columns[r], columns[r + unit], unit, 0);
      next[r + unit] = unpacked(columns[r], columns[r + unit], unit, 1);
    }
    columns = std::move(next);
  }
  Vectors result(columns.size());
  for (unsigned r = 0; r < half; ++r) {
    unsigned column = 0;  // the bits of r the other way round
    for (unsigned bit = 1; bit < half; bit *= 2) column += r & bit ? half / 2 / bit : 0;
    for (unsigned high : {0u, 1u})
      result[column + high * half] =
          pick(columns[r], columns[r + half], [&](unsigned e) { return e % half + high * half + e / half * width_; });
  }
  return result;
}

/// Square after square is transposed. The rows of one are `apart` vectors apart; its columns will be `after` apart.
Vectors Shuffler::bySquares(const Vectors& v, unsigned apart, unsigned after) const {
  Vectors result(v.size());
  for (unsigned square = 0; square < v.size() / width_; ++square) {
    Vectors rows;
    for (unsigned r = 0; r < width_; ++r) rows.push_back(v[apart == 1 ? square * width_ + r : r * apart + square]);
    const Vectors columns = transpose(rows);
    for (unsigned c = 0; c < width_; ++c) result[after == 1 ? square * width_ + c : c * after + square] = columns[c];
  }
  return result;
}

}  // namespace ordito::jit
