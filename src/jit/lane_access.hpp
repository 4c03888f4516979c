// Loads and stores of all lanes of a warp, by the pattern of their addresses: scalar loads, broadcasts, contiguous
// vectors, vectors put together by shuffles, and only for general addresses gathers and scatters.
#pragma once

#include <algorithm>

#include "jit/addresses.hpp"
#include "jit/gather_scatter.hpp"
#include "simt/access_pattern.hpp"

namespace ordito::jit {

using simt::classify;
using simt::PermuteTable;
using simt::permuteTableOf;
using simt::Run;
using simt::Transfer;

/// Structures of a warp's lanes, one behind the other.
struct StructureShape {
  unsigned width;              // elements of a vector
  unsigned words, bytes;       // of a structure, in elements, and of an element
  std::vector<bool> isMember;  // by place
  /// Elements from the first member of the first lane to the last of the last.
  unsigned count() const {
    const auto last = std::find(isMember.rbegin(), isMember.rend(), true) - isMember.rbegin();
    return kLanes * words - static_cast<unsigned>(last);
  }
};

class LaneAccess : private Emitting {
 public:
  LaneAccess(EmissionContext& context, Masks& masks, Values& values, Addresses& addresses, GatherScatter& general)
      : Emitting(context), masks_(masks), values_(values), addresses_(addresses), general_(general) {}

  LlvmValue loadScalar(LlvmValue address, int64_t offset, llvm::Type* element, LlvmValue any);
  /// An element for each lane; `access` is what the plan says of the instruction.
  LlvmValue load(const Address& a, unsigned part, int64_t offset, llvm::Type* element, LlvmValue mask,
                 const simt::Access& access);
  void store(const Address& a, unsigned part, int64_t offset, LlvmValue value, LlvmValue mask,
             const simt::Access& access);
  LlvmValue maskOfElements(LlvmValue mask, unsigned first, unsigned width, unsigned count);
  std::vector<LlvmValue> loadInterleaved(const Address& a, unsigned part, unsigned count, llvm::Type* element,
                                         LlvmValue mask);
  void storeInterleaved(const Address& a, unsigned part, const std::vector<LlvmValue>& values, LlvmValue mask);
  std::vector<LlvmValue> loadStructure(LlvmValue base, int64_t offset, const StructureShape& s);
  void storeStructure(LlvmValue base, int64_t offset, const StructureShape& s, const std::vector<LlvmValue>& members);
  std::vector<LlvmValue> loadPermuted(const Address& a, unsigned part, unsigned count, llvm::Type* element);

 private:
  LlvmValue loadRuns(const Address& a, unsigned part, int64_t offset, llvm::Type* element, LlvmValue mask,
                     unsigned width);
  void storeRuns(const Address& a, unsigned part, int64_t offset, LlvmValue value, LlvmValue mask, unsigned width,
                 bool isNonTemporal);
  LlvmValue loadStrided(const Address& a, unsigned part, int64_t offset, llvm::Type* element);
  void storeStrided(const Address& a, unsigned part, int64_t offset, LlvmValue value);
  LlvmValue loadEach(const Address& a, unsigned part, int64_t offset, llvm::Type* element);
  void storeEach(const Address& a, unsigned part, int64_t offset, LlvmValue value);
  unsigned lanesOfAssembly(const Address& a, unsigned bytes) const;
  static std::vector<int64_t> offsetsOf(const Address& a, int64_t offset, unsigned first, unsigned count);
  LlvmValue loadWindow(const Address& a, unsigned part, int64_t offset, llvm::Type* element, LlvmValue mask);
  void storeWindow(const Address& a, unsigned part, int64_t offset, LlvmValue value, LlvmValue mask);
  LlvmValue pick(const std::vector<LlvmValue>& from, const std::vector<int>& order);
  LlvmValue elementsOn(const std::vector<int>& lanes, LlvmValue mask);
  void storeSame(LlvmValue p, LlvmValue run, LlvmValue lanes);
  void storeWhole(LlvmValue address, LlvmValue value);
  llvm::Function* sparseStore(unsigned width);
  std::vector<LlvmValue> loadRows(LlvmValue base, int64_t offset, const StructureShape& s, unsigned first);
  std::vector<LlvmValue> loadSmallStructure(LlvmValue base, int64_t offset, const StructureShape& s);
  void storeSmallStructure(LlvmValue base, int64_t offset, const StructureShape& s,
                           const std::vector<LlvmValue>& members);
  void storeRow(LlvmValue row, LlvmValue p, unsigned bytes, const std::vector<bool>& isMember);

  Masks& masks_;
  Values& values_;
  Addresses& addresses_;
  GatherScatter& general_;
};

}  // namespace ordito::jit
