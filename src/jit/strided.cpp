// Lanes that are apart by constants, like a column of a tile: each by an instruction of its own, which put together (or
// take apart) a vector, 2.4 times faster than a gather on Zen 4 (4.3 against 10.6 ns).
//
// They are written as assembly. LLVM would choose the same instructions, but it looks at each element of the vector
// again for each other one: 32 stores take it 23 million instructions of the compiler, and 1.2 as assembly, where the
// whole kernel of a transposition takes 50 (callgrind, LLVM 19).
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/InlineAsm.h>

#include "jit/assembled_lanes.hpp"
#include "jit/lane_access.hpp"

namespace ordito::jit {
namespace {

constexpr unsigned kQuarterBytes = 16;  // of a register that elements are put into

/// An access of one vector register: which instructions, for elements of `bytes` bytes.
class StridedCode {
 public:
  StridedCode(unsigned bytes, unsigned lanes) : bytes_(bytes), perQuarter_(kQuarterBytes / bytes), lanes_(lanes) {}

  unsigned quarters() const { return lanes_ / perQuarter_; }

  /// Operands: a register for each quarter, of which the first gets the vector, then the address.
  std::string load(const std::vector<int64_t>& offsets) const {
    const std::string from = fmt::format("(${})", quarters());
    std::string text;
    for (unsigned l = 0; l < lanes_; ++l) {
      const std::string to = fmt::format("${{{}:x}}", l / perQuarter_);
      text += loadElement(bytes_, l % perQuarter_, fmt::format("{}{}", offsets[l], from), to);
    }
    for (unsigned q = 0; q + 1 < quarters(); q += 2)
      text += fmt::format("vinsertf128 $$1, ${{{}:x}}, ${{{}:t}}, ${{{}:t}}\n", q + 1, q, q);
    if (quarters() == 4) text += "vinsertf64x4 $$1, ${2:t}, ${0:g}, ${0:g}\n";
    return text;
  }

  /// Operands: a register to use, the address, the vector.
  std::string store(const std::vector<int64_t>& offsets) const {
    std::string text;
    for (unsigned l = 0; l < lanes_; ++l) {
      const unsigned q = l / perQuarter_, k = l % perQuarter_;
      if (k == 0 && q > 0)
        text += quarters() == 2 ? "vextractf128 $$1, ${2:t}, ${0:x}\n"
                                : fmt::format("vextractf32x4 $${}, ${{2:g}}, ${{0:x}}\n", q);
      text += storeElement(bytes_, k, q == 0 ? "${2:x}" : "${0:x}", fmt::format("{}($1)", offsets[l]));
    }
    return text;
  }

 private:
  unsigned bytes_, perQuarter_, lanes_;
};

/// Do the offsets fit into instructions?
bool areNear(const std::vector<int64_t>& offsets) {
  return std::ranges::all_of(offsets, [](int64_t o) { return o == static_cast<int32_t>(o); });
}

}  // namespace

/// As many lanes as a register holds are one piece of assembly, if they have one base; 0: none can be.
unsigned LaneAccess::lanesOfAssembly(const Address& a, unsigned bytes) const {
  if (!c_.target.avx2 || (bytes != 4 && bytes != 8)) return 0;
  const unsigned lanes = (c_.target.avx512 ? 64 : 32) / bytes;
  return kLanes / a.segments >= lanes ? lanes : 0;
}

std::vector<int64_t> LaneAccess::offsetsOf(const Address& a, int64_t offset, unsigned first, unsigned count) {
  std::vector<int64_t> offsets;
  for (unsigned l = first; l < first + count; ++l) offsets.push_back(a.pattern[l] + offset);
  return offsets;
}

LlvmValue LaneAccess::loadStrided(const Address& a, unsigned part, int64_t offset, llvm::Type* element) {
  const unsigned bytes = element->getScalarSizeInBits() / 8, lanes = lanesOfAssembly(a, bytes);
  if (lanes == 0 || !areNear(offsetsOf(a, offset, 0, kLanes))) return loadEach(a, part, offset, element);
  const StridedCode code(bytes, lanes);
  auto* vector = llvm::FixedVectorType::get(element, lanes);
  const std::vector<llvm::Type*> results(code.quarters(), vector);
  auto* type = llvm::FunctionType::get(llvm::StructType::get(b_.getContext(), results), {b_.getPtrTy()}, false);
  std::string constraints;
  for (unsigned q = 0; q < code.quarters(); ++q) constraints += "=&x,";
  std::vector<llvm::Value*> pieces;
  for (unsigned first = 0; first < kLanes; first += lanes) {
    auto* text = llvm::InlineAsm::get(type, code.load(offsetsOf(a, offset, first, lanes)), constraints + "r,~{memory}",
                                      /*hasSideEffects=*/false);
    auto* call = b_.CreateCall(type, text, {c_.pointer(a.bases[part][first * a.segments / kLanes], 0)});
    call->setMemoryEffects(llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Ref));
    call->setDoesNotThrow();
    pieces.push_back(b_.CreateExtractValue(call, 0));
  }
  return llvm::concatenateVectors(b_, pieces);
}

void LaneAccess::storeStrided(const Address& a, unsigned part, int64_t offset, LlvmValue value) {
  const unsigned bytes = value->getType()->getScalarSizeInBits() / 8, lanes = lanesOfAssembly(a, bytes);
  if (lanes == 0 || !areNear(offsetsOf(a, offset, 0, kLanes))) return storeEach(a, part, offset, value);
  const StridedCode code(bytes, lanes);
  auto* vector = llvm::FixedVectorType::get(value->getType()->getScalarType(), lanes);
  auto* type = llvm::FunctionType::get(vector, {b_.getPtrTy(), vector}, false);
  for (unsigned first = 0; first < kLanes; first += lanes) {
    auto* text = llvm::InlineAsm::get(type, code.store(offsetsOf(a, offset, first, lanes)), "=&x,r,x,~{memory}",
                                      /*hasSideEffects=*/true);
    LlvmValue piece = b_.CreateShuffleVector(value, llvm::createSequentialMask(first, lanes, 0));
    auto* call = b_.CreateCall(type, text, {c_.pointer(a.bases[part][first * a.segments / kLanes], 0), piece});
    call->setMemoryEffects(llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Mod));
    call->setDoesNotThrow();
  }
}

LlvmValue LaneAccess::loadEach(const Address& a, unsigned part, int64_t offset, llvm::Type* element) {
  LlvmValue v = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, kLanes));
  for (unsigned l = 0; l < kLanes; ++l)
    v = b_.CreateInsertElement(
        v, loadScalar(a.bases[part][l * a.segments / kLanes], a.pattern[l] + offset, element, nullptr), uint64_t{l});
  return v;
}

void LaneAccess::storeEach(const Address& a, unsigned part, int64_t offset, LlvmValue value) {
  const llvm::Align align(std::max(1u, value->getType()->getScalarSizeInBits() / 8));
  for (unsigned l = 0; l < kLanes; ++l)
    b_.CreateAlignedStore(b_.CreateExtractElement(value, uint64_t{l}),
                          c_.pointer(a.bases[part][l * a.segments / kLanes], a.pattern[l] + offset), align);
}

}  // namespace ordito::jit
