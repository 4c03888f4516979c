// Members of an array of structures (simt/structures.hpp): vectors as they lie in memory, and shuffles that sort the
// members out.
//
// The words of a warp's structures are numbered with the member's number in the low digits and the lane's in the high
// ones; a vector of one member wants it the other way round. Where a structure has a power of two words, the digits are
// bits: to move the lowest bit to the top, the even and the odd words of each two vectors go to two other vectors, and
// as often as a member's number has bits. Otherwise each vector of a member is picked from the vectors that it lies in.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

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

  /// Each element of the result is the one that `source` names, a vector and a place in it. They come from a vector
  /// after the other: what has been picked so far keeps its places.
  template <class F>
  LlvmValue gather(const Vectors& v, F source) const {
    LlvmValue result = nullptr;
    for (size_t from = 0; from < v.size(); ++from) {
      bool isAsked = false;
      for (unsigned e = 0; e < width_; ++e) isAsked |= source(e).first == from;
      if (!isAsked || !v[from]) continue;
      if (!result) result = llvm::PoisonValue::get(v[from]->getType());
      result = pick(result, v[from], [&](unsigned e) {
        const auto [vector, place] = source(e);
        return vector == from ? width_ + place : e;
      });
    }
    return result;
  }

 private:
  llvm::IRBuilder<>& b_;
  const unsigned width_;
};

}  // namespace

/// The words of a warp's structures as they lie in memory. What lies behind the last member is not ours to read.
Vectors LaneAccess::loadRows(LlvmValue base, int64_t offset, const StructureShape& s) {
  auto* type = llvm::FixedVectorType::get(b_.getIntNTy(8 * s.bytes), s.width);
  Vectors rows;
  for (unsigned k = 0; k < s.vectors(); ++k) {
    LlvmValue p = c_.pointer(base, offset + int64_t{k} * s.width * s.bytes);
    std::vector<llvm::Constant*> isOurs;
    for (unsigned e = 0; e < s.width; ++e) isOurs.push_back(b_.getInt1(k * s.width + e < s.count()));
    if (k * s.width >= s.count())
      rows.push_back(llvm::PoisonValue::get(type));
    else if ((k + 1) * s.width <= s.count())
      rows.push_back(b_.CreateAlignedLoad(type, p, llvm::Align(s.bytes)));
    else
      rows.push_back(b_.CreateMaskedLoad(type, p, llvm::Align(s.bytes), llvm::ConstantVector::get(isOurs),
                                         llvm::PoisonValue::get(type)));
  }
  return rows;
}

/// For each place of `s`, the words of all lanes; null where there is no member.
Vectors LaneAccess::loadStructure(LlvmValue base, int64_t offset, const StructureShape& s) {
  const Shuffler shuffle(b_, s.width);
  Vectors rows = loadRows(base, offset, s);
  const bool isByBits = std::has_single_bit(s.words);
  for (unsigned words = s.words; isByBits && words > 1; words /= 2) rows = shuffle.part(rows);
  Vectors members(s.words);
  for (unsigned m = 0; m < s.words; ++m) {
    if (!s.isMember[m]) continue;
    const unsigned parts = kLanes / s.width;
    members[m] = llvm::PoisonValue::get(llvm::FixedVectorType::get(b_.getIntNTy(8 * s.bytes), kLanes));
    for (unsigned h = 0; h < parts; ++h) {
      LlvmValue lanes = isByBits ? rows[m * parts + h] : shuffle.gather(rows, [&](unsigned e) {
        const unsigned word = (h * s.width + e) * s.words + m;
        return std::pair<size_t, unsigned>{word / s.width, word % s.width};
      });
      members[m] = b_.CreateInsertVector(members[m]->getType(), members[m], lanes, b_.getInt64(uint64_t{h} * s.width));
    }
  }
  return members;
}

/// `members`: for each place the words of all lanes; null where there is no member.
void LaneAccess::storeStructure(LlvmValue base, int64_t offset, const StructureShape& s, const Vectors& members) {
  const Shuffler shuffle(b_, s.width);
  const unsigned parts = kLanes / s.width;
  auto* type = llvm::FixedVectorType::get(b_.getIntNTy(8 * s.bytes), s.width);
  const bool isByBits = std::has_single_bit(s.words);
  Vectors rows;  // by place, then by lane
  for (LlvmValue m : members)
    for (unsigned h = 0; h < parts; ++h) {
      LlvmValue none = isByBits ? llvm::PoisonValue::get(type) : nullptr;
      rows.push_back(m ? b_.CreateExtractVector(type, m, b_.getInt64(uint64_t{h} * s.width)) : none);
    }
  for (unsigned words = s.words; isByBits && words > 1; words /= 2) rows = shuffle.interleave(rows);
  for (unsigned k = 0; k < s.vectors(); ++k) {
    auto wordOf = [&](unsigned e) { return k * s.width + e; };
    LlvmValue row = isByBits ? rows[k] : shuffle.gather(rows, [&](unsigned e) {
      const unsigned lane = wordOf(e) / s.words;
      return std::pair<size_t, unsigned>{wordOf(e) % s.words * parts + lane / s.width, lane % s.width};
    });
    std::vector<bool> isOurs;
    for (unsigned e = 0; e < s.width; ++e) isOurs.push_back(s.isMember[wordOf(e) % s.words]);
    storeRow(row, c_.pointer(base, offset + int64_t{k} * s.width * s.bytes), s.bytes, isOurs);
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
