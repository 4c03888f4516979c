// Lanes that lie close together in an order that is known when the kernel is compiled, as the partners of a butterfly
// do: the vectors that cover all of them, and permutations.
#include <algorithm>

#include "jit/lane_access.hpp"

namespace ordito::jit {
namespace {

/// A window of memory in vectors.
struct Window {
  int64_t low = 0;          // bytes from the base
  unsigned each = 0;        // elements of a vector
  unsigned length = 0;      // elements in all
  std::vector<int> places;  // by lane: its element
  std::vector<int> lanes;   // by element: a lane that has it, or -1
};

Window windowOf(const ir::Pattern& p, unsigned bits, unsigned vectorBits) {
  const auto [low, high] = std::ranges::minmax(p);
  const int64_t bytes = bits / 8;
  Window w{low, vectorBits / bits, static_cast<unsigned>((high - low) / bytes + 1), {}, {}};
  w.lanes.assign(llvm::alignTo(w.length, w.each), -1);
  for (unsigned l = 0; l < kLanes; ++l) {
    w.places.push_back(static_cast<int>((p[l] - low) / bytes));
    w.lanes[static_cast<size_t>(w.places.back())] = static_cast<int>(l);
  }
  return w;
}

std::vector<int> slice(const std::vector<int>& all, size_t first, size_t count) {
  return {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(first + count)};
}

}  // namespace

/// The elements of `from`, vectors of one length, that `order` names; -1 for any.
LlvmValue LaneAccess::pick(const std::vector<LlvmValue>& from, const std::vector<int>& order) {
  const int width = static_cast<int>(order.size());
  const int each = static_cast<int>(llvm::cast<llvm::FixedVectorType>(from[0]->getType())->getNumElements());
  LlvmValue result = nullptr;
  for (int v = 0; v < static_cast<int>(from.size()); v += 2) {
    std::vector<int> here, merged;
    for (int k = 0; k < width; ++k) {
      const int at = order[static_cast<size_t>(k)] - v * each;
      const bool isHere = order[static_cast<size_t>(k)] >= 0 && at >= 0 && at < 2 * each;
      here.push_back(isHere ? at : -1);
      merged.push_back(isHere ? width + k : k);
    }
    if (std::ranges::max(here) < 0) continue;
    const auto second = static_cast<size_t>(v) + 1;
    LlvmValue other = second < from.size() ? from[second] : llvm::PoisonValue::get(from[0]->getType());
    LlvmValue found = b_.CreateShuffleVector(from[static_cast<size_t>(v)], other, here);
    result = result ? b_.CreateShuffleVector(result, found, merged) : found;
  }
  return result;
}

/// Which elements a lane of `mask` has (null: all lanes), of those from `first` on; null if that are all of them.
LlvmValue LaneAccess::elementsOn(const std::vector<int>& lanes, LlvmValue mask) {
  const bool isFull = std::ranges::min(lanes) >= 0;
  if (isFull && !mask) return nullptr;
  std::vector<int> order;
  for (int lane : lanes) order.push_back(lane >= 0 ? lane : static_cast<int>(kLanes));
  return b_.CreateShuffleVector(mask ? mask : masks_.allOnes(), masks_.noLanes(), order);
}

/// What lies between the lanes is read too: the first and the last element of the window are a lane's, and no page ends
/// between two that are as near as this without one in each.
LlvmValue LaneAccess::loadWindow(const Address& a, unsigned part, int64_t offset, llvm::Type* element, LlvmValue mask) {
  const unsigned bits = element->getScalarSizeInBits();
  Window w = windowOf(a.pattern, bits, c_.target.avx512 ? 512 : 256);
  auto* type = llvm::FixedVectorType::get(element, w.each);
  if (!mask) std::fill_n(w.lanes.begin(), w.length, 0);
  std::vector<LlvmValue> loaded;
  for (unsigned first = 0; first < w.length; first += w.each) {
    LlvmValue p = c_.pointer(a.bases[part][0], w.low + offset + int64_t{first} * bits / 8);
    LlvmValue on = elementsOn(slice(w.lanes, first, w.each), mask);
    const llvm::Align align(bits / 8);
    loaded.push_back(on ? LlvmValue(b_.CreateMaskedLoad(type, p, align, on, llvm::Constant::getNullValue(type)))
                        : b_.CreateAlignedLoad(type, p, align));
  }
  LlvmValue result = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, kLanes));
  for (unsigned first = 0; first < kLanes; first += w.each)
    result = b_.CreateInsertVector(result->getType(), result, pick(loaded, slice(w.places, first, w.each)),
                                   b_.getInt64(first));
  return result;
}

void LaneAccess::storeWindow(const Address& a, unsigned part, int64_t offset, LlvmValue value, LlvmValue mask) {
  const unsigned bits = value->getType()->getScalarSizeInBits();
  const Window w = windowOf(a.pattern, bits, c_.target.avx512 ? 512 : 256);
  std::vector<LlvmValue> from;
  for (unsigned first = 0; first < kLanes; first += w.each) from.push_back(values_.lanesOf(value, first, w.each));
  for (unsigned first = 0; first < w.length; first += w.each) {
    const std::vector<int> lanes = slice(w.lanes, first, w.each);
    if (std::ranges::max(lanes) < 0) continue;
    LlvmValue p = c_.pointer(a.bases[part][0], w.low + offset + int64_t{first} * bits / 8);
    LlvmValue on = elementsOn(lanes, mask), data = pick(from, lanes);
    const llvm::Align align(bits / 8);
    if (on)
      b_.CreateMaskedStore(data, p, align, on);
    else
      b_.CreateAlignedStore(data, p, align);
  }
}

}  // namespace ordito::jit
