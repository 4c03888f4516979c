// Members of an array of structures (simt/structures.hpp): vectors as they lie in memory, and shuffles that sort the
// members out.
//
// This goes by as many lanes as a vector has elements, whose structures fill as many vectors as these have members.
//
// The words of the structures are numbered with the member's number in the low digits and the lane's in the high
// ones; a vector of one member wants it the other way round. Where a structure has a power of two words, the digits are
// bits: to move the lowest bit to the top, the even and the odd words of each two vectors go to two other vectors, and
// as often as a member's number has bits. Hosts with vectors of 256 bits have no single instruction for that, and
// transpose squares. Otherwise each vector of a member is picked from the vectors that it lies in.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <optional>

#include "jit/lane_access.hpp"

namespace ordito::jit {

namespace {

using Vectors = std::vector<LlvmValue>;

/// Shuffles of vectors of equal width.
class Shuffler {
 public:
  Shuffler(llvm::IRBuilder<>& b, unsigned width) : b_(b), width_(width) {}

  /// Element `k` of the result is element `source(k)` of `a`, or of `b` from `width` on.
  template <class F>
  LlvmValue pick(LlvmValue a, LlvmValue b, F source) const {
    std::vector<int> order;
    for (unsigned k = 0; k < width_; ++k) order.push_back(static_cast<int>(source(k)));
    return b_.CreateShuffleVector(a, b, order);
  }

  /// The lowest bit of each element's number goes to the top.
  Vectors part(const Vectors& v) const {
    Vectors parted(v.size());
    for (size_t k = 0; k < v.size() / 2; ++k) {
      parted[k] = pick(v[2 * k], v[2 * k + 1], [](unsigned e) { return 2 * e; });
      parted[k + v.size() / 2] = pick(v[2 * k], v[2 * k + 1], [](unsigned e) { return 2 * e + 1; });
    }
    return parted;
  }

  /// The highest goes to the bottom.
  Vectors interleave(const Vectors& v) const {
    Vectors joined(v.size());
    for (size_t k = 0; k < v.size(); ++k)
      joined[k] = pick(v[k / 2], v[k / 2 + v.size() / 2],
                       [&](unsigned e) { return e / 2 + k % 2 * width_ / 2 + e % 2 * width_; });
    return joined;
  }

  /// As many vectors as they have elements, four or eight, become the columns of the matrix whose rows they are: in
  /// steps that hosts with 256 bits have single instructions for (unpack words, unpack pairs, exchange halves).
  Vectors transpose(const Vectors& rows) const {
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

  /// Vectors that hold the structures of as many lanes as a vector has elements, one behind the other, become a vector
  /// of each member, if there is a way that takes few instructions for each of them.
  std::optional<Vectors> members(const Vectors& rows, bool isWide) const {
    const auto words = static_cast<unsigned>(rows.size());
    if (!isWide && words % width_ == 0) return bySquares(rows, words / width_, 1);
    if (!std::has_single_bit(words)) return std::nullopt;
    Vectors v = rows;
    for (unsigned left = words; left > 1; left /= 2) v = part(v);
    return v;
  }

  /// The other way round.
  std::optional<Vectors> structures(const Vectors& members, bool isWide) const {
    const auto words = static_cast<unsigned>(members.size());
    if (!isWide && words % width_ == 0) return bySquares(members, 1, words / width_);
    if (!std::has_single_bit(words)) return std::nullopt;
    Vectors v = members;
    for (unsigned left = words; left > 1; left /= 2) v = interleave(v);
    return v;
  }

  /// Each element of the result is the one that `source` names, a vector and a place in it. They come from a vector
  /// after the other: what has been picked so far keeps its places.
  template <class F>
  LlvmValue gather(const Vectors& v, F source) const {
    LlvmValue result = llvm::PoisonValue::get(v[0]->getType());
    for (size_t from = 0; from < v.size(); ++from) {
      bool isAsked = false;
      for (unsigned e = 0; e < width_; ++e) isAsked |= source(e).first == from;
      if (!isAsked || llvm::isa<llvm::PoisonValue>(v[from])) continue;
      result = pick(result, v[from], [&](unsigned e) {
        const auto [vector, place] = source(e);
        return vector == from ? width_ + place : e;
      });
    }
    return result;
  }

 private:
  /// Square after square is transposed. The rows of one are `apart` vectors apart; its columns will be `after` apart.
  Vectors bySquares(const Vectors& v, unsigned apart, unsigned after) const {
    Vectors result(v.size());
    for (unsigned square = 0; square < v.size() / width_; ++square) {
      Vectors rows;
      for (unsigned r = 0; r < width_; ++r) rows.push_back(v[apart == 1 ? square * width_ + r : r * apart + square]);
      const Vectors columns = transpose(rows);
      for (unsigned c = 0; c < width_; ++c) result[after == 1 ? square * width_ + c : c * after + square] = columns[c];
    }
    return result;
  }

  llvm::IRBuilder<>& b_;
  const unsigned width_;
};

}  // namespace

/// The words of the structures of as many lanes as a vector has, as they lie in memory from `first` on. What lies
/// behind the last member of the warp is not ours to read.
Vectors LaneAccess::loadRows(LlvmValue base, int64_t offset, const StructureShape& s, unsigned first) {
  auto* type = llvm::FixedVectorType::get(b_.getIntNTy(8 * s.bytes), s.width);
  Vectors rows;
  for (unsigned word = first; word < first + s.width * s.words; word += s.width) {
    LlvmValue p = c_.pointer(base, offset + int64_t{word} * s.bytes);
    std::vector<llvm::Constant*> isOurs;
    for (unsigned e = 0; e < s.width; ++e) isOurs.push_back(b_.getInt1(word + e < s.count()));
    if (word >= s.count())
      rows.push_back(llvm::PoisonValue::get(type));
    else if (word + s.width <= s.count())
      rows.push_back(b_.CreateAlignedLoad(type, p, llvm::Align(s.bytes)));
    else
      rows.push_back(b_.CreateMaskedLoad(type, p, llvm::Align(s.bytes), llvm::ConstantVector::get(isOurs),
                                         llvm::PoisonValue::get(type)));
  }
  return rows;
}

/// Bytes and halves: LLVM has shuffles of its own for what is apart by two, three or four of them.
Vectors LaneAccess::loadSmallStructure(LlvmValue base, int64_t offset, const StructureShape& s) {
  auto* type = llvm::FixedVectorType::get(b_.getIntNTy(8 * s.bytes), kLanes * s.words);
  LlvmValue all = b_.CreateAlignedLoad(type, c_.pointer(base, offset), llvm::Align(s.bytes));
  Vectors members;
  for (unsigned m = 0; m < s.words; ++m) {
    std::vector<int> order;
    for (unsigned lane = 0; lane < kLanes; ++lane) order.push_back(static_cast<int>(lane * s.words + m));
    members.push_back(b_.CreateShuffleVector(all, order));
  }
  return members;
}

void LaneAccess::storeSmallStructure(LlvmValue base, int64_t offset, const StructureShape& s, const Vectors& members) {
  std::vector<int> both(2 * kLanes), order;
  std::iota(both.begin(), both.end(), 0);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned m = 0; m < s.words; ++m) order.push_back(static_cast<int>(m * kLanes + lane));
  LlvmValue none = llvm::PoisonValue::get(members[0]->getType());
  auto member = [&](unsigned m) { return m < s.words ? members[m] : none; };
  LlvmValue first = s.words == 2 ? members[0] : b_.CreateShuffleVector(member(0), member(1), both);
  LlvmValue second = s.words == 2 ? members[1] : b_.CreateShuffleVector(member(2), member(3), both);
  b_.CreateAlignedStore(b_.CreateShuffleVector(first, second, order), c_.pointer(base, offset), llvm::Align(s.bytes));
}

/// For each place of `s`, the words of all lanes; null where there is no member.
Vectors LaneAccess::loadStructure(LlvmValue base, int64_t offset, const StructureShape& s) {
  if (s.bytes < 4) return loadSmallStructure(base, offset, s);
  const Shuffler shuffle(b_, s.width);
  auto* type = llvm::FixedVectorType::get(b_.getIntNTy(8 * s.bytes), kLanes);
  Vectors members(s.words, nullptr);
  for (unsigned lane = 0; lane < kLanes; lane += s.width) {
    const Vectors rows = loadRows(base, offset, s, lane * s.words);
    const auto parted = shuffle.members(rows, c_.target.avx512);
    for (unsigned m = 0; m < s.words; ++m) {
      if (!s.isMember[m]) continue;
      LlvmValue lanes = parted ? (*parted)[m] : shuffle.gather(rows, [&](unsigned e) {
        return std::pair<size_t, unsigned>{(e * s.words + m) / s.width, (e * s.words + m) % s.width};
      });
      LlvmValue before = members[m] ? members[m] : llvm::PoisonValue::get(type);
      members[m] = b_.CreateInsertVector(type, before, lanes, b_.getInt64(lane));
    }
  }
  return members;
}

/// `members`: for each place the words of all lanes; null where there is no member.
void LaneAccess::storeStructure(LlvmValue base, int64_t offset, const StructureShape& s, const Vectors& members) {
  if (s.bytes < 4) return storeSmallStructure(base, offset, s, members);
  const Shuffler shuffle(b_, s.width);
  auto* type = llvm::FixedVectorType::get(b_.getIntNTy(8 * s.bytes), s.width);
  LlvmValue none = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < kLanes; lane += s.width) {
    Vectors columns;  // by place
    for (LlvmValue m : members) columns.push_back(m ? b_.CreateExtractVector(type, m, b_.getInt64(lane)) : none);
    const auto joined = shuffle.structures(columns, c_.target.avx512);
    for (unsigned k = 0; k < s.words; ++k) {
      auto wordOf = [&](unsigned e) { return k * s.width + e; };
      LlvmValue row = joined ? (*joined)[k] : shuffle.gather(columns, [&](unsigned e) {
        return std::pair<size_t, unsigned>{wordOf(e) % s.words, wordOf(e) / s.words};
      });
      std::vector<bool> isOurs;
      for (unsigned e = 0; e < s.width; ++e) isOurs.push_back(s.isMember[wordOf(e) % s.words]);
      const int64_t place = int64_t{lane * s.words + k * s.width} * s.bytes;
      storeRow(row, c_.pointer(base, offset + place), s.bytes, isOurs);
    }
  }
}

/// Of a vector, the elements of members. Hosts without AVX-512 may take their time for a masked store.
void LaneAccess::storeRow(LlvmValue row, LlvmValue p, unsigned bytes, const std::vector<bool>& isMember) {
  const auto width = static_cast<unsigned>(isMember.size());
  const auto members = std::ranges::count(isMember, true);
  const llvm::Align align(bytes);
  if (members == width) return void(b_.CreateAlignedStore(row, p, align));
  if (members && c_.target.avx512) {
    std::vector<llvm::Constant*> mask;
    for (const bool is : isMember) mask.push_back(b_.getInt1(is));
    return void(b_.CreateMaskedStore(row, p, align, llvm::ConstantVector::get(mask)));
  }
  for (unsigned first = 0; first < width;) {
    unsigned length = 1;  // of a piece: a power of two that begins at a multiple of it
    if (!isMember[first]) {
      first += length;
      continue;
    }
    auto isAll = [&](unsigned n) {
      return first % n == 0 && std::all_of(isMember.begin() + first, isMember.begin() + first + n, std::identity());
    };
    while (isAll(2 * length)) length *= 2;
    std::vector<int> piece(length);
    std::iota(piece.begin(), piece.end(), static_cast<int>(first));
    b_.CreateAlignedStore(b_.CreateShuffleVector(row, piece),
                          b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), p, uint64_t{first} * bytes), align);
    first += length;
  }
}

}  // namespace ordito::jit
