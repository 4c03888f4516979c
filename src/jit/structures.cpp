// Members of an array of structures (simt/structures.hpp): vectors as they lie in memory, and shuffles that sort the
// members out.
//
// This goes by as many lanes as a vector has elements, whose structures fill as many vectors as these have members
// (shuffler.hpp).
#include <algorithm>
#include <functional>
#include <numeric>

#include "jit/lane_access.hpp"
#include "jit/shuffler.hpp"

namespace ordito::jit {

using Vectors = Shuffler::Vectors;

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
  const Shuffler shuffle(b_, s.width, c_.target.avx512);
  auto* type = llvm::FixedVectorType::get(b_.getIntNTy(8 * s.bytes), kLanes);
  Vectors members(s.words, nullptr);
  for (unsigned lane = 0; lane < kLanes; lane += s.width) {
    const Vectors rows = loadRows(base, offset, s, lane * s.words);
    const auto parted = shuffle.members(rows);
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
  const Shuffler shuffle(b_, s.width, c_.target.avx512);
  auto* type = llvm::FixedVectorType::get(b_.getIntNTy(8 * s.bytes), s.width);
  LlvmValue none = llvm::PoisonValue::get(type);
  for (unsigned lane = 0; lane < kLanes; lane += s.width) {
    Vectors columns;  // by place
    for (LlvmValue m : members) columns.push_back(m ? b_.CreateExtractVector(type, m, b_.getInt64(lane)) : none);
    const auto joined = shuffle.structures(columns);
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
