// What lies in memory by structures, as vectors by members, and back: transpositions of matrices that have a row for
// each lane, by shuffles of vectors of equal width.
//
// The elements are numbered with the member's number in the low digits and the lane's in the high ones; a vector of one
// member wants it the other way round. Where a structure has a power of two members, the digits are bits: to move the
// lowest bit to the top, the even and the odd elements of each two vectors go to two other vectors, and as often as a
// member's number has bits. With 512 bits one instruction takes any elements of two vectors. Narrower hosts have single
// instructions for other steps only (exchange halves, unpack within halves), by which they transpose squares, or two or
// four members. Otherwise each vector of a member is picked from the vectors that it lies in.
#pragma once

#include <optional>
#include <vector>

#include "jit/emission_context.hpp"

namespace ordito::jit {

class Shuffler {
 public:
  using Vectors = std::vector<LlvmValue>;

  /// `width`: elements of a vector; `isWide`: the host has vectors of 512 bits.
  Shuffler(llvm::IRBuilder<>& b, unsigned width, bool isWide) : b_(b), width_(width), isWide_(isWide) {}

  /// Vectors that hold the structures of as many lanes as a vector has elements, one behind the other, become a vector
  /// of each member, if there is a way that takes few instructions for each of them.
  std::optional<Vectors> members(const Vectors& rows) const;
  /// The other way round.
  std::optional<Vectors> structures(const Vectors& members) const;

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
  /// Element `k` of the result is element `source(k)` of `a`, or of `b` from `width` on.
  template <class F>
  LlvmValue pick(LlvmValue a, LlvmValue b, F source) const {
    std::vector<int> order;
    for (unsigned k = 0; k < width_; ++k) order.push_back(static_cast<int>(source(k)));
    return b_.CreateShuffleVector(a, b, order);
  }

  Vectors part(const Vectors& v) const;
  Vectors interleave(const Vectors& v) const;
  Vectors transpose(const Vectors& rows) const;
  Vectors bySquares(const Vectors& v, unsigned apart, unsigned after) const;
  Vectors partEights(const Vectors& rows) const;
  LlvmValue pick(LlvmValue a, LlvmValue b, std::initializer_list<int> elements) const {
    return b_.CreateShuffleVector(a, b, llvm::ArrayRef<int>(elements));
  }

  llvm::IRBuilder<>& b_;
  const unsigned width_;
  const bool isWide_;
};

}  // namespace ordito::jit
