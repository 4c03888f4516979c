// See access_plan.hpp.
#include "simt/access_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "ptx/operands.hpp"
#include "simt/accesses.hpp"
#include "simt/privatised_counters.hpp"

namespace ordito::simt {
namespace {

using isa::Effect;
using isa::Op;
using ptx::MemoryAccess;
using ptx::Operand;
using ptx::Space;
using ptx::Symbol;

AddressForm uniformAddress() {
  AddressForm a;
  a.segments = 1, a.warpVarying = false;
  return a;
}

size_t elementsOf(const Operand& o) { return o.kind == Operand::Kind::Vector ? o.elements.size() : 1; }

}  // namespace

AddressForm addressForm(const ir::Function& f, const ir::Shapes& shapes, const Instruction& i, size_t k) {
  const Operand& o = i.operands[k];
  if (o.symbol.kind != Symbol::Kind::None) {
    const bool isPrivate =
        o.symbol.kind == Symbol::Kind::LocalVariable && f.variables[o.symbol.index].space != Space::Shared;
    return isPrivate && !shapes.launch().byThread ? AddressForm{} : uniformAddress();
  }
  // Each thread's lies apart.
  if (ptx::spaceOf(i, k) == Space::Local && !shapes.launch().byThread) return {};
  if (o.reg == ir::kNoValue) return uniformAddress();
  const ir::Shape& shape = shapes[o.reg];
  if (!shape.isSegmented()) return {};
  const unsigned split = shapes.segmentsWithoutPattern(shape);
  AddressForm a;
  a.warpVarying = shape.warpVarying;
  a.addsPattern = split != 0;
  a.segments = shape.segments;
  a.pattern = shapes.pattern(shape.pattern);
  if (split > a.segments) a.segments = split, a.pattern = {};
  return a;
}

bool readsColumns(const AddressForm& a, const Instruction& i, size_t k, const WarpDistances& distances) {
  const unsigned bytes = isa::bytes(i.type[0]);
  const Operand& to = i.operands[0];
  if (i.op != Op::Ld || i.guard || isOrdered(i) || to.kind != Operand::Kind::Register || (bytes != 4 && bytes != 8))
    return false;
  if (a.segments != 1 || runWidth(a.pattern, 1, bytes) != 0 || i.operands[k].reg == ir::kNoValue) return false;
  return distances.of(i.operands[k].reg) == bytes;
}

namespace {

/// Does the host load and store vectors of elements of `bits` under a mask?
bool hasMaskedVectors(const Processor& p, unsigned bits) { return p.avx512 || (p.avx2 && bits >= 32 && bits <= 64); }

/// Do the lanes lie so close together, each elsewhere, that a few vectors cover them?
bool isWindow(const AddressForm& a, unsigned bits, bool isStore, bool isMasked, const Processor& p) {
  if (a.segments != 1 || (bits != 32 && bits != 64) || !p.avx2 || ((isStore || isMasked) && !p.avx512)) return false;
  const int64_t bytes = bits / 8, vector = p.avx512 ? 64 : 32;
  const auto [low, high] = std::ranges::minmax(a.pattern);
  if (high - low + bytes > vector * cost::kWindowVectors) return false;
  ir::Pattern sorted = a.pattern;
  std::ranges::sort(sorted);
  const bool isDistinct = std::ranges::adjacent_find(sorted) == sorted.end();
  return isDistinct && std::ranges::all_of(sorted, [&](int64_t at) { return (at - low) % bytes == 0; });
}

/// Of an element of `bits` that each lane has.
ElementTransfer elementTransfer(const AddressForm& a, unsigned bits, bool isStore, bool isMasked, const Processor& p) {
  const unsigned bytes = std::max(1u, bits / 8);
  if (!a.isSegmented()) {
    const bool cannotMask = isMasked && (!hasMaskedVectors(p, bits) || (isStore && p.slowMaskedStores));
    return {bits < 8 || cannotMask ? Transfer::Lanes : Transfer::Tested, 0};
  }
  const unsigned width = runWidth(a.pattern, a.segments, bytes);
  if (width * bits < cost::kLongRun && isWindow(a, bits, isStore, isMasked, p)) return {Transfer::Window, 0};
  if (!width) return {isMasked ? Transfer::Lanes : Transfer::Strided, 0};
  if (isMasked && !hasMaskedVectors(p, bits) && classify(a.pattern, 0, width, bytes) != Run::Kind::Same)
    return {Transfer::Lanes, 0};
  return {Transfer::Runs, width};
}

/// Are the lanes' vectors of `count` elements next to each other?
bool isInterleaved(const AddressForm& a, unsigned count, unsigned bytes) {
  return a.segments == 1 && classify(a.pattern, 0, kLanes, int64_t{bytes} * count) == Run::Kind::Contiguous;
}

/// Few places, each read once: cheaper than words one by one?
bool isPermutable(const AddressForm& a, unsigned count, unsigned bits, const Processor& p) {
  if (!a.isSegmented() || !p.avx2 || (bits != 32 && bits != 64)) return false;
  const unsigned perVector = (p.avx512 ? 512 : 256) / bits;
  const PermuteTable table = permuteTableOf(a.pattern, a.segments, count, bits / 8, perVector);
  const size_t most = count == 1 ? kLanes / 2 : kLanes;
  return !table.pieces.empty() && table.pieces.size() <= most && table.length <= 2 * perVector;
}

/// Vectors that a transposition of 32-bit words brings.
bool areWords(unsigned count, unsigned bits) {
  return (bits == 32 && (count == 2 || count == 4)) || (bits == 64 && count == 2);
}

/// How the elements of a load are moved together; nothing where each goes by itself.
std::optional<Transfer> loadTogether(const AddressForm& a, unsigned count, unsigned bits, bool isMasked,
                                     const Processor& p) {
  const unsigned bytes = std::max(1u, bits / 8);
  const bool canMask = !isMasked || hasMaskedVectors(p, bits);
  if (count > 1 && canMask && isInterleaved(a, count, bytes)) return Transfer::Interleaved;
  if (count > 1 && !a.isSegmented() && areWords(count, bits)) return Transfer::Words;
  const unsigned width = a.isSegmented() ? runWidth(a.pattern, a.segments, bytes) : 0;
  const bool seeksTable = count > 1 || !width || (width * bits < cost::kLongRun && isWindow(a, bits, false, false, p));
  if (!isMasked && seeksTable && isPermutable(a, count, bits, p)) return Transfer::Permuted;
  return std::nullopt;
}

/// The same of a store.
std::optional<Transfer> storeTogether(const AddressForm& a, unsigned count, unsigned bits, bool isMasked,
                                      const Processor& p) {
  if (count > 1 && (!isMasked || p.avx512) && isInterleaved(a, count, std::max(1u, bits / 8)))
    return Transfer::Interleaved;
  if (count > 1 && !a.isSegmented()) return Transfer::Vectors;
  return std::nullopt;
}

class Finder {
 public:
  explicit Finder(const AccessInputs& in) : in_(in) {}

  AccessPlan run() {
    for (const ir::Block& block : in_.function.blocks)
      for (const Instruction& i : block.code)
        for (const MemoryAccess& m : ptx::MemoryAccesses(i)) plan_.accesses[{&i, m.operand}] = accessOf(i, m);
    giveTests();
    return std::move(plan_);
  }

 private:
  Access accessOf(const Instruction& i, const MemoryAccess& m) const {
    Access a;
    a.address = addressForm(in_.function, in_.shapes, i, m.operand);
    a.bytes = m.bytes;
    a.isAligned = isAligned(i, m);
    if (const auto fixed = fixedTransfer(i, m)) {
      a.whole = a.masked = {*fixed, 0};
      if (i.info().effect == Effect::Atomic) planAtomic(i, m, a);
      return a;
    }
    const bool isStore = i.info().effect == Effect::Store || (i.op == Op::CpAsync && m.operand == 0);
    const unsigned bits = elementBits(i);
    a.count = i.op == Op::CpAsync         ? m.bytes / 4
              : isa::bits(i.type[0]) > 64 ? 2
                                          : static_cast<unsigned>(elementsOf(i.operands[isStore ? 1 : 0]));
    a.bytes = std::max(1u, bits / 8);
    a.isNonTemporal = in_.nonTemporal.stores.contains(&i);
    for (bool isMasked : {false, true}) {
      ElementTransfer& element = isMasked ? a.maskedElement : a.wholeElement;
      element = elementTransfer(a.address, bits, isStore, isMasked, in_.facts.processor);
      (isMasked ? a.masked : a.whole) = wayOf(i, a, bits, isStore, isMasked);
    }
    return a;
  }

  /// Can the operations of several lanes on one place be done together?
  static bool canJoin(const Instruction& i) {
    if (combinationOf(i)) return true;
    const bool isScalar = i.op == Op::Atom || i.op == Op::Red;
    return isScalar && (i.type[0] == isa::Type::f32 || i.type[0] == isa::Type::f64);
  }

  /// Compilers write atom where nobody reads the old value; then it is a red.
  void planAtomic(const Instruction& i, const MemoryAccess& m, Access& a) const {
    a.isRead = false;
    ir::forEachDefinition(i, [&](ValueId v, unsigned) { a.isRead |= in_.definitions.isRead(v); });
    a.isCount = isCount(i, in_.definitions);
    const bool isScalar = i.op == Op::Atom || i.op == Op::AtomCas || i.op == Op::Red;
    if (isScalar && !a.isRead && m.space == Space::Shared) a.whole.transfer = Transfer::Unrolled;
    a.isCombined = in_.combined.members.contains(&i);
    if (!canJoin(i)) return;
    if (a.address.segments == 1 && a.address.patternless())
      a.whole.transfer = a.masked.transfer = Transfer::OnePlace;
    else if (!a.address.isSegmented() && m.space != Space::Shared && !a.isCombined)
      a.whole.transfer = a.masked.transfer = Transfer::PerhapsOnePlace;
  }

  ElementTransfer wayOf(const Instruction& i, const Access& a, unsigned bits, bool isStore, bool isMasked) const {
    const ElementTransfer& element = a.elementTransfer(isMasked);
    if (isa::bits(i.type[0]) > 64) return element;  // half after half
    const auto together = isStore ? storeTogether(a.address, a.count, bits, isMasked, in_.facts.processor)
                                  : loadTogether(a.address, a.count, bits, isMasked, in_.facts.processor);
    // A copy goes by words where it does not by whole vectors.
    const bool byElements = !together || (i.op == Op::CpAsync && together != Transfer::Interleaved);
    const bool isWholeColumn = in_.facts.coarsening.most() % (kColumnBytes / a.bytes) == 0;
    if (byElements && !isMasked && isWholeColumn && readsColumns(a.address, i, 1, in_.distances))
      return {Transfer::Columns, 0};
    return byElements ? element : ElementTransfer{*together, 0};
  }

  /// Where the addresses' pattern has no say.
  std::optional<Transfer> fixedTransfer(const Instruction& i, const MemoryAccess& m) const {
    if (m.pattern == MemoryAccess::Pattern::Rows) return Transfer::Rows;
    if (m.pattern == MemoryAccess::Pattern::Matrix) return Transfer::Fragment;
    if (m.pattern == MemoryAccess::Pattern::Image) return Transfer::Image;
    const bool isPlain = i.info().effect == Effect::Load || i.info().effect == Effect::Store;
    const bool isBulk = i.op == Op::CpBulkLoad || i.op == Op::CpBulkShared || i.op == Op::CpBulkStore;
    if (i.op == Op::CpAsync) return std::nullopt;
    if (!isPlain || isBulk) return Transfer::OneByOne;
    if (const auto key = privateKey(in_.function, i.operands[m.operand]); key && in_.privateSlots.isPrivate[key->first])
      return Transfer::Slot;
    if (in_.mergedLoads.members.contains(&i)) return Transfer::Merged;
    if (i.info().effect == Effect::Load) return transferOfTargets(i.operands[0]);
    return std::nullopt;
  }

  /// A load none of whose results is a vector of lanes.
  std::optional<Transfer> transferOfTargets(const Operand& to) const {
    Transfer transfer = Transfer::None;
    for (size_t k = 0; k < elementsOf(to); ++k) {
      const Operand& o = to.kind == Operand::Kind::Vector ? to.elements[k] : to;
      if (o.kind != Operand::Kind::Register) continue;
      if (!in_.shapes[o.reg].isSegmented()) return std::nullopt;
      transfer = Transfer::Scalars;
    }
    return transfer;
  }

  static unsigned elementBits(const Instruction& i) {
    if (i.op == Op::CpAsync) return 32;
    return std::min(64u, isa::bits(i.type[0]));
  }

  bool isAligned(const Instruction& i, const MemoryAccess& m) const {
    const Operand& o = i.operands[m.operand];
    const unsigned bits = m.bytes ? static_cast<unsigned>(std::countr_zero(m.bytes)) : 0;
    if (bits == 0 || m.space == Space::Param) return true;
    if ((static_cast<uint64_t>(o.offset) & (m.bytes - 1)) != 0) return false;
    if (o.reg != ir::kNoValue) return in_.knownBits.zeroBits(o.reg) >= bits;
    return o.symbol.kind == Symbol::Kind::None || in_.knownBits.zeroBits(o.symbol) >= bits;
  }

  /// Each test makes two accesses of one, in each version of the block and for each warp of a batch: those that come
  /// first in the code get them, as far as there is room for all tests of an access.
  void giveTests() {
    std::vector<AccessPlan::Key> order;
    std::map<AccessPlan::Key, unsigned> tests;
    for (const RegionCode& region : in_.code.regions)
      for (const CodeBlock& block : region.blocks)
        for (const CodeOperation& o : block.operations)
          if (o.op == CodeOp::Run) countTests(o, in_.facts.coarsening.at(region.entries[0].resumePoint), order, tests);
    unsigned left = cost::kMostContiguityTests;
    for (const AccessPlan::Key& key : order) {
      Access& a = plan_.accesses.at(key);
      a.isTested = tests[key] <= left;
      if (a.isTested) left -= tests[key];
    }
  }

  void countTests(const CodeOperation& run, unsigned warps, std::vector<AccessPlan::Key>& order,
                  std::map<AccessPlan::Key, unsigned>& tests) {
    for (const Instruction& i : in_.function.blocks[run.block].code)
      for (const MemoryAccess& m : ptx::MemoryAccesses(i)) {
        const AccessPlan::Key key{&i, m.operand};
        const Access& a = plan_.accesses.at(key);
        if (a.transfer(run.a != kAllLanes || i.guard).transfer != Transfer::Tested) continue;
        unsigned& count = tests[key];
        if (count == 0) order.push_back(key);
        count += a.count * warps;
      }
  }

  const AccessInputs& in_;
  AccessPlan plan_;
};

const char* nameOf(Transfer transfer) {
  constexpr const char* kNames[] = {"none",
                                    "slot",
                                    "merged",
                                    "scalars",
                                    "runs",
                                    "strided",
                                    "columns",
                                    "structure",
                                    "interleaved",
                                    "permuted",
                                    "window",
                                    "words",
                                    "vectors",
                                    "tested",
                                    "lanes",
                                    "one by one",
                                    "unrolled",
                                    "one place",
                                    "perhaps one place",
                                    "rows",
                                    "fragment",
                                    "image"};
  return kNames[static_cast<size_t>(transfer)];
}

std::string describe(const ElementTransfer& w, const Access& a) {
  if (w.transfer == Transfer::Tested && !a.isTested) return nameOf(Transfer::Lanes);
  if (w.transfer != Transfer::Runs) return nameOf(w.transfer);
  if (w.width < kLanes) return fmt::format("runs of {}", w.width);
  return classify(a.address.pattern, 0, kLanes, a.bytes) == Run::Kind::Same ? "broadcast" : "contiguous";
}

}  // namespace

void AccessPlan::becomeStructures(const std::set<const Instruction*>& members) {
  for (auto& [key, access] : accesses)
    if (members.contains(key.first)) access.whole = {Transfer::Structure, 0};
}

AccessPlan findAccesses(const AccessInputs& inputs) { return Finder(inputs).run(); }

std::string print(const AccessPlan& plan, const ir::Function& f) {
  std::string text;
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code)
      for (const MemoryAccess& m : ptx::MemoryAccesses(i)) {
        const Access& a = plan.at(i, m.operand);
        const std::string whole = describe(a.whole, a), masked = describe(a.masked, a);
        text += fmt::format("{}: {}", instructionName(i), whole);
        if (whole != masked) text += ", masked " + masked;
        if (a.isCount) text += ", counts";
        if (a.isCombined) text += ", waits";
        if (a.isNonTemporal) text += ", non-temporal";
        if (!a.isAligned) text += ", checks alignment";
        text += "\n";
      }
  return text.empty() ? "nothing\n" : text;
}

}  // namespace ordito::simt
