// Threads that count in shared memory, as a histogram does, often hit the same word within a few instructions: on one
// host thread each addition then waits for the one before to pass through the store buffer. With copies, among which
// the lanes take turns, that is so many times rarer (the histogram in bench/RESULTS.md). A barrier ends the region, and
// there the copies are added up; integers may be added in any order.
#include "jit/shadows.hpp"

#include <algorithm>
#include <bit>

#include "ir/graph.hpp"
#include "jit/emitter.hpp"
#include "ptx/operands.hpp"

namespace ordito::jit {
namespace {

/// Copies are cleared and added up once for each region and block: not worth it for more.
constexpr uint32_t kMostShadowed = 4096;
constexpr size_t kPage = 4096;

bool mayTouchShared(const ir::Instruction& i) {
  const auto& info = i.info();
  if (info.effect == isa::Effect::Call || i.op == isa::Op::CpAsync) return true;
  if (info.effect != isa::Effect::Load && info.effect != isa::Effect::Store && info.effect != isa::Effect::Atomic)
    return false;
  if (info.unit == isa::Unit::Texture) return false;
  const ptx::Space space = ptx::spaceOf(i);
  return info.unit != isa::Unit::Lsu || space == ptx::Space::Shared || space == ptx::Space::Generic;
}

bool isSuited(const ir::Function& f, const ir::Graph& graph, ir::BlockId start, const std::vector<char>& isRead) {
  const auto region = ir::reversePostOrder(graph, start);
  for (const ir::BlockId b : region)
    for (const ir::Instruction& i : f.blocks[b].code)
      if (mayTouchShared(i) && !isCount(i, isRead)) return false;
  bool counts = false;
  for (const auto& component : ir::components(graph, region)) {
    if (!ir::isLoop(graph, component)) continue;
    for (const ir::BlockId b : component)
      for (const ir::Instruction& i : f.blocks[b].code) counts |= isCount(i, isRead);
  }
  return counts;
}

}  // namespace

bool isCount(const ir::Instruction& i, const std::vector<char>& isRead) {
  if ((i.op != isa::Op::Atom && i.op != isa::Op::Red) || ptx::spaceOf(i) != ptx::Space::Shared) return false;
  bool isUnread = true;
  ir::forEachDefinition(i, [&](ir::ValueId v, unsigned) { isUnread &= !isRead[v]; });
  return isUnread && (i.type[0] == isa::Type::u32 || i.type[0] == isa::Type::s32) &&
         i.mods.name(isa::ModifierKind::AtomOp) == "add";
}

std::vector<char> shadowedRegions(const ir::Function& f, const ir::Stops& stops, const machine::KernelLayout& layout,
                                  const std::vector<char>& isRead) {
  std::vector<char> result(stops.points.size(), 0);
  const bool isSmall = layout.staticSharedBytes > 0 && layout.staticSharedBytes <= kMostShadowed;
  if (stops.parks() || stops.points.size() < 2 || !isSmall) return result;
  const ir::Graph graph = ir::graphBetweenStops(f);
  for (size_t p = 0; p < stops.points.size(); ++p) result[p] = isSuited(f, graph, stops.points[p], isRead);
  return result;
}

/// The address of a copy, 0 being shared memory itself. Places in it differ from the same places in the others in their
/// last 12 bits, by which hosts judge at first whether a load has to wait for a store.
LlvmValue Emitter::shadow(unsigned copy) {
  if (copy == 0) return sharedBase();
  LlvmValue home = b_.CreatePtrToInt(scratchAddress(shadowsHome_), b_.getInt64Ty());
  LlvmValue skew = b_.CreateAnd(b_.CreateSub(sharedBase(), home), kPage - 1);
  return b_.CreateAdd(b_.CreateAdd(home, skew), b_.getInt64(copy * shadowPitch()));
}

/// What has copies: the static variables, to the end of their last 16 bytes. Shared memory is at least as long.
uint32_t Emitter::shadowedBytes() const { return static_cast<uint32_t>(llvm::alignTo(layout_.staticSharedBytes, 16)); }

/// Copies of a block's shared memory, itself included, among which neighbouring lanes take turns: as many as leave room
/// for other things in the first cache.
unsigned Emitter::shadowCopies() const {
  constexpr uint32_t kRoom = 16384, kFewest = 4, kMost = 16;
  return std::clamp(std::bit_floor(kRoom / shadowedBytes()), kFewest, kMost);
}

/// From copy to copy: the least that has room and is that share of a page more than whole pages.
size_t Emitter::shadowPitch() const {
  const size_t share = kPage / shadowCopies(), bytes = shadowedBytes();
  return bytes <= share ? share : llvm::alignTo(bytes - share, kPage) + share;
}

/// At the start of a block, whose scratch memory may hold anything.
void Emitter::clearShadows() {
  shadowed_ = shadowedRegions(f_, stops_, layout_, isRead_);
  if (quick_ || std::none_of(shadowed_.begin(), shadowed_.end(), [](char s) { return s != 0; })) {
    shadowed_.assign(points_.size(), 0);
    return;
  }
  shadowsHome_ = scratchBytes_;
  scratchBytes_ += kPage + shadowCopies() * shadowPitch();
  for (unsigned copy = 1; copy < shadowCopies(); ++copy)
    b_.CreateMemSet(pointer(shadow(copy)), b_.getInt8(0), shadowedBytes(), llvm::Align(4));
}

/// Behind the loop over the groups: what was counted in copies goes where it belongs, and the copies are zero again.
void Emitter::addShadows() {
  auto *before = b_.GetInsertBlock(), *loop = newBlock("shadows"), *after = newBlock("shadowsadded");
  const unsigned rowBytes = shadowedBytes() % 64 == 0 ? 64 : 16;
  auto* row = llvm::FixedVectorType::get(b_.getInt32Ty(), rowBytes / 4);
  const llvm::Align align(4);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* at = b_.CreatePHI(b_.getInt64Ty(), 2);
  at->addIncoming(b_.getInt64(0), before);
  auto place = [&](unsigned copy) { return pointer(b_.CreateAdd(shadow(copy), at)); };
  LlvmValue sum = b_.CreateAlignedLoad(row, place(0), align);
  for (unsigned copy = 1; copy < shadowCopies(); ++copy) {
    sum = b_.CreateAdd(sum, b_.CreateAlignedLoad(row, place(copy), align));
    b_.CreateAlignedStore(llvm::Constant::getNullValue(row), place(copy), align);
  }
  b_.CreateAlignedStore(sum, place(0), align);
  LlvmValue next = b_.CreateAdd(at, b_.getInt64(rowBytes));
  at->addIncoming(next, loop);
  b_.CreateCondBr(b_.CreateICmpULT(next, b_.getInt64(shadowedBytes())), loop, after);
  b_.SetInsertPoint(after);
}

/// Are the offsets of all lanes inside the shared memory that has copies? What lies outside is the unshadowed code's
/// business.
LlvmValue Emitter::areShadowed(const Parts& offsets) {
  LlvmValue last = splat(b_.getInt32(shadowedBytes() - isa::bytes(isa::Type::u32)));
  LlvmValue inside = nullptr;
  for (LlvmValue o : offsets) {
    LlvmValue here = b_.CreateICmpULE(o, last);
    inside = inside ? b_.CreateAnd(inside, here) : here;
  }
  return b_.CreateICmpEQ(laneBits(inside), b_.getInt32(~0u));
}

}  // namespace ordito::jit
