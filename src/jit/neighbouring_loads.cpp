// Words that lie side by side, at addresses of which nothing is known: a gather costs more than a cycle for each lane,
// and again for each word. One load of 16 bytes for each lane, and a transposition, bring four words in the time of one
// gather; a gather of 8 bytes brings two.
//
// The words are those of a vector load (ld.v2, ld.v4), or of the several loads that simt/merged_loads.hpp has found.
#include <algorithm>
#include <map>

#include "jit/gather_scatter.hpp"

namespace ordito::jit {

namespace {
constexpr unsigned kWord = 4, kWordBits = 32;
}  // namespace

/// For each of `count` words from the lanes' addresses on, a vector of the lanes'.
std::vector<LlvmValue> GatherScatter::loadWords(LlvmValue addresses, unsigned count, LlvmValue mask) {
  if (mask) addresses = b_.CreateSelect(mask, addresses, values_.splat(c_.dummyAddress()));
  auto* words = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
  if (count == 2) {
    auto* pairs = llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes);
    LlvmValue pointers = b_.CreateIntToPtr(addresses, llvm::FixedVectorType::get(b_.getPtrTy(), kLanes));
    LlvmValue both = b_.CreateMaskedGather(pairs, pointers, llvm::Align(kWord), masks_.allOnes());
    return {b_.CreateTrunc(both, words), b_.CreateTrunc(b_.CreateLShr(both, kWordBits), words)};
  }
  return loadFours([&](unsigned lane) { return b_.CreateExtractElement(addresses, uint64_t{lane}); });
}

/// Four words from each lane's address on, as four vectors of the lanes'.
std::vector<LlvmValue> GatherScatter::loadFours(llvm::function_ref<LlvmValue(unsigned lane)> addressOf) {
  auto* words = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
  auto* four = llvm::FixedVectorType::get(b_.getInt32Ty(), 4);
  auto lane = [&](unsigned l) -> LlvmValue {
    return b_.CreateAlignedLoad(four, c_.pointer(addressOf(l)), llvm::Align(kWord));
  };
  auto join = [&](LlvmValue a, LlvmValue b, unsigned width) {
    std::vector<int> all(2 * width);
    for (unsigned k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
    return b_.CreateShuffleVector(a, b, all);
  };
  /// From each quarter of a and of b, the words that `pick` names: 0 to 3 of a, 4 to 7 of b.
  auto byQuarters = [&](LlvmValue a, LlvmValue b, std::array<int, 4> pick) {
    std::vector<int> all;
    for (int quarter = 0; quarter < 4; ++quarter)
      for (int k : pick) all.push_back(4 * quarter + (k & 3) + (k < 4 ? 0 : 16));
    return b_.CreateShuffleVector(a, b, all);
  };
  std::vector<LlvmValue> result(4, llvm::PoisonValue::get(words));
  for (unsigned first = 0; first < kLanes; first += 16) {
    // rows[r] has lanes r, r + 4, r + 8, r + 12 of these sixteen in its quarters.
    std::array<LlvmValue, 4> rows;
    for (unsigned r = 0; r < 4; ++r)
      rows[r] =
          join(join(lane(first + r), lane(first + r + 4), 4), join(lane(first + r + 8), lane(first + r + 12), 4), 8);
    LlvmValue low01 = byQuarters(rows[0], rows[1], {0, 4, 1, 5}), high01 = byQuarters(rows[0], rows[1], {2, 6, 3, 7});
    LlvmValue low23 = byQuarters(rows[2], rows[3], {0, 4, 1, 5}), high23 = byQuarters(rows[2], rows[3], {2, 6, 3, 7});
    const std::array<LlvmValue, 4> columns = {
        byQuarters(low01, low23, {0, 1, 4, 5}), byQuarters(low01, low23, {2, 3, 6, 7}),
        byQuarters(high01, high23, {0, 1, 4, 5}), byQuarters(high01, high23, {2, 3, 6, 7})};
    for (unsigned k = 0; k < 4; ++k)
      result[k] = b_.CreateInsertVector(words, result[k], columns[k], b_.getInt64(first));
  }
  return result;
}

/// Elements of 32 bits, or of 64, whose words these are.
std::vector<LlvmValue> GatherScatter::elementsOf(std::vector<LlvmValue> words, llvm::Type* element) {
  auto* type = llvm::FixedVectorType::get(element, kLanes);
  if (element->getScalarSizeInBits() == kWordBits) {
    for (LlvmValue& w : words) w = b_.CreateBitCast(w, type);
    return words;
  }
  auto* wide = llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes);
  std::vector<LlvmValue> elements;
  for (size_t low = 0; low < words.size(); low += 2) {
    LlvmValue high = b_.CreateShl(b_.CreateZExt(words[low + 1], wide), kWordBits);
    elements.push_back(b_.CreateBitCast(b_.CreateOr(high, b_.CreateZExt(words[low], wide)), type));
  }
  return elements;
}

/// The elements of a vector load at general addresses; none where it would gain nothing.
std::vector<LlvmValue> GatherScatter::loadVectors(LlvmValue addresses, unsigned count, llvm::Type* element,
                                                  LlvmValue mask) {
  const unsigned bits = element->getScalarSizeInBits();
  if (bits == kWordBits && (count == 2 || count == 4)) return elementsOf(loadWords(addresses, count, mask), element);
  if (bits == 2 * kWordBits && count == 2) return elementsOf(loadWords(addresses, 4, mask), element);
  return {};
}

std::vector<LlvmValue> GatherScatter::loadColumns(llvm::function_ref<LlvmValue(unsigned lane)> addressOf,
                                                  llvm::Type* element) {
  return elementsOf(loadFours(addressOf), element);
}

}  // namespace ordito::jit
