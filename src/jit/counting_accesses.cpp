// Counters of memory accesses: requests, 32-byte sectors, wavefronts of shared memory. An access whose pattern is known
// is counted without looking at its lanes:
//
//   one group, all lanes on        shared: a constant
//                                  global: the base's place in its sector decides, by formula or table
//   one group, contiguous, a mask  the mask, shifted to the sectors' borders and folded to one bit for each sector
//   several groups, all lanes on   global: their sums, if they lie apart
//                                  shared: depends on the distances of the groups alone, which seldom change, so the
//                                  last answer is kept with the distances that it is for
//
// Everything else calls the runtime's counting functions, lane by lane (rt/helpers.cpp).
#include "jit/emitter.hpp"
#include "rt/access_counts.hpp"

namespace ordito::jit {

using machine::Counter;

namespace {

constexpr unsigned kSector = 32;

struct SpaceCounters {
  Counter requests, units, conflicts;
};

SpaceCounters countersOf(bool shared, bool store) {
  if (shared)
    return store ? SpaceCounters{Counter::SharedStoreRequests, Counter::SharedStoreWavefronts,
                                 Counter::SharedStoreConflicts}
                 : SpaceCounters{Counter::SharedLoadRequests, Counter::SharedLoadWavefronts,
                                 Counter::SharedLoadConflicts};
  return store ? SpaceCounters{Counter::GlobalStoreRequests, Counter::GlobalStoreSectors, Counter::SharedStoreConflicts}
               : SpaceCounters{Counter::GlobalLoadRequests, Counter::GlobalLoadSectors, Counter::SharedLoadConflicts};
}

}  // namespace

/// Distinct sectors of `width` unmasked lanes with the known pattern from `first`, at the scalar address `base`.
LlvmValue Emitter::sectorsOfGroup(const Address& a, LlvmValue base, unsigned first, unsigned width, unsigned bytes) {
  LlvmValue start = b_.CreateAdd(base, b_.getInt64(static_cast<uint64_t>(a.pattern[first])));
  const Run::Kind kind = classify(a.pattern, first, width, bytes);
  if (kind == Run::Kind::Same) return b_.getInt64(1);  // addresses are multiples of the size
  if (kind != Run::Kind::Scattered) {
    const uint64_t length = uint64_t{bytes} * width;
    LlvmValue last = b_.CreateAdd(start, b_.getInt64(length - 1));
    return b_.CreateAdd(b_.CreateSub(b_.CreateLShr(last, 5), b_.CreateLShr(start, 5)), b_.getInt64(1));
  }
  std::vector<uint8_t> table;
  for (unsigned at = 0; at < kSector; ++at) {
    ir::Pattern moved = a.pattern;
    for (int64_t& v : moved) v += at + (int64_t{1} << 40) - a.pattern[first];
    const uint32_t lanes = (width == kLanes ? ~0u : (1u << width) - 1) << first;
    table.push_back(static_cast<uint8_t>(rt::countSectors(moved.data(), lanes, bytes)));
  }
  auto* data = llvm::ConstantDataArray::get(context_, table);
  auto* global = new llvm::GlobalVariable(module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
  LlvmValue entry = b_.CreateInBoundsGEP(b_.getInt8Ty(), global, b_.CreateAnd(start, b_.getInt64(kSector - 1)));
  return b_.CreateZExt(b_.CreateLoad(b_.getInt8Ty(), entry), b_.getInt64Ty());
}

/// Do the groups' addresses lie in different sectors, whatever the lanes?
LlvmValue Emitter::groupsLieApart(const Address& a, unsigned part, unsigned bytes, int64_t offset) {
  const unsigned width = kLanes / a.groups;
  std::vector<LlvmValue> low, high;
  for (unsigned g = 0; g < a.groups; ++g) {
    const auto [least, most] = std::minmax_element(a.pattern.begin() + g * width, a.pattern.begin() + (g + 1) * width);
    auto sector = [&](int64_t at) {
      return b_.CreateLShr(b_.CreateAdd(a.bases[part][g], b_.getInt64(static_cast<uint64_t>(at + offset))), 5);
    };
    low.push_back(sector(*least)), high.push_back(sector(*most + bytes - 1));
  }
  LlvmValue apart = b_.getTrue();
  for (unsigned g = 0; g < a.groups; ++g)
    for (unsigned h = 0; h < g; ++h)
      apart = b_.CreateAnd(apart, b_.CreateOr(b_.CreateICmpUGT(low[g], high[h]), b_.CreateICmpUGT(low[h], high[g])));
  return apart;
}

/// Distinct sectors of the lanes that are on, neighbours of `bytes` each from `start`.
LlvmValue Emitter::sectorsOfMask(LlvmValue start, LlvmValue lanes, unsigned bytes) {
  const unsigned perSector = kSector / bytes;
  LlvmValue place = b_.CreateUDiv(b_.CreateAnd(start, b_.getInt64(kSector - 1)), b_.getInt64(bytes));
  LlvmValue bits = b_.CreateShl(b_.CreateZExt(lanes, b_.getInt64Ty()), place);
  uint64_t firsts = 0;
  for (unsigned l = 0; l < 64; l += perSector) firsts |= uint64_t{1} << l;
  for (unsigned step = perSector / 2; step > 0; step /= 2) bits = b_.CreateOr(bits, b_.CreateLShr(bits, step));
  return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, b_.CreateAnd(bits, b_.getInt64(firsts)));
}

LlvmValue Emitter::countByLane(const Address& a, unsigned part, int64_t offset, LlvmValue lanes, unsigned bytes,
                               Counted what) {
  auto* addresses = llvm::IRBuilder<>(entry_).CreateAlloca(llvm::FixedVectorType::get(b_.getInt64Ty(), kLanes));
  b_.CreateStore(addressVector(a, part, offset), addresses);
  const char* name = what == Counted::Sectors      ? "ordito_count_sectors"
                     : what == Counted::SharedLoad ? "ordito_count_shared_load"
                                                   : "ordito_count_shared_store";
  return helper(name, b_.getInt64Ty(), {addresses, lanes, b_.getInt32(bytes)});
}

/// `fast` where `condition` holds, else what `slow` computes.
LlvmValue Emitter::unless(LlvmValue condition, LlvmValue fast, llvm::function_ref<LlvmValue()> slow) {
  auto* from = b_.GetInsertBlock();
  auto *otherwise = newBlock("bylane"), *join = newBlock("counted");
  b_.CreateCondBr(condition, join, otherwise);
  b_.SetInsertPoint(otherwise);
  LlvmValue x = slow();
  auto* end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  auto* phi = b_.CreatePHI(b_.getInt64Ty(), 2);
  phi->addIncoming(fast, from);
  phi->addIncoming(x, end);
  return phi;
}

/// Wavefronts and conflicts of several groups in all parts, packed as the runtime does: one answer is kept for as long
/// as the groups keep their distances, since banks are relative.
LlvmValue Emitter::sharedOfGroups(const Address& a, unsigned parts, int64_t offset, unsigned bytes, Counted what) {
  llvm::IRBuilder<> entry(entry_);
  auto* answer = entry.CreateAlloca(b_.getInt64Ty(), nullptr, "wavefronts");
  entry.CreateStore(b_.getInt64(0), answer);  // no access takes none
  LlvmValue kept = b_.CreateLoad(b_.getInt64Ty(), answer);
  LlvmValue valid = b_.CreateICmpNE(kept, b_.getInt64(0));
  std::vector<std::pair<LlvmValue, LlvmValue>> distances;  // where it is kept, now
  for (unsigned g = 1; g < a.groups; ++g) {
    auto* slot = entry.CreateAlloca(b_.getInt64Ty(), nullptr, "distance");
    entry.CreateStore(b_.getInt64(0), slot);
    LlvmValue old = b_.CreateLoad(b_.getInt64Ty(), slot);
    distances.push_back({slot, b_.CreateSub(a.bases[0][g], a.bases[0][0])});
    for (unsigned p = 0; p < parts; ++p)
      valid = b_.CreateAnd(valid, b_.CreateICmpEQ(b_.CreateSub(a.bases[p][g], a.bases[p][0]), old));
  }
  return unless(valid, b_.CreateMul(kept, b_.getInt64(parts)), [&] {
    LlvmValue sum = b_.getInt64(0), first = nullptr;
    for (unsigned p = 0; p < parts; ++p) {
      LlvmValue packed = countByLane(a, p, offset, b_.getInt32(~0u), bytes, what);
      if (!first) first = packed;
      sum = b_.CreateAdd(sum, packed);
    }
    b_.CreateStore(first, answer);
    for (auto& [slot, distance] : distances) b_.CreateStore(distance, slot);
    return sum;
  });
}

/// Each half of a warp reads one place, as blocks 16 wide do from a matrix: two sectors, unless the places are close.
/// How far they are apart is the same for all offsets from one register, so it is asked once for all of them.
LlvmValue Emitter::sectorsOfPairs(const Address& a, unsigned parts, int64_t offset) {
  LlvmValue allApart = b_.getTrue();
  for (unsigned p = 0; p < parts; ++p) {
    LlvmValue distance = b_.CreateSub(a.bases[p][1], a.bases[p][0]);
    allApart = b_.CreateAnd(
        allApart, b_.CreateICmpUGE(b_.CreateAdd(distance, b_.getInt64(kSector - 1)), b_.getInt64(2 * kSector - 1)));
  }
  return unless(allApart, b_.getInt64(2 * uint64_t{parts}), [&] {
    LlvmValue sum = b_.getInt64(parts);
    for (unsigned p = 0; p < parts; ++p) {
      LlvmValue place[2];
      for (unsigned g = 0; g < 2; ++g)
        place[g] = b_.CreateAdd(a.bases[p][g], b_.getInt64(static_cast<uint64_t>(offset)));
      LlvmValue differ = b_.CreateICmpUGE(b_.CreateXor(place[0], place[1]), b_.getInt64(kSector));
      sum = b_.CreateAdd(sum, b_.CreateZExt(differ, b_.getInt64Ty()));
    }
    return sum;
  });
}

void Emitter::countAccess(const Instruction& i, const Address& a, const Parts& mask, unsigned bytes, bool store) {
  using ptx::Space;
  const auto space = i.mods.name(isa::ModifierKind::Space);
  if (space.starts_with("param") || a.space == Space::Const) return;
  if (a.space == Space::Local)
    return countWarps(store ? Counter::LocalStoreRequests : Counter::LocalLoadRequests, 1, mask);
  const bool shared = a.space == Space::Shared;
  if (i.info().effect == isa::Effect::Atomic)
    return countWarps(shared ? Counter::SharedAtomics : Counter::GlobalAtomics, 1, mask);
  const SpaceCounters counters = countersOf(shared, store);
  const Counted what = !shared ? Counted::Sectors : store ? Counted::SharedStore : Counted::SharedLoad;
  const int64_t offset = i.operands[store ? 0 : 1].offset;
  countWarps(counters.requests, 1, mask);
  // Warps with one address and all lanes on need one look.
  const unsigned parts = a.isGrouped() && !a.warpVarying && mask.empty() ? 1 : jam_;
  LlvmValue sum = b_.getInt64(0);
  if (shared && a.isGrouped() && a.groups > 1 && mask.empty()) {
    // `tile[y][k]` for many k: one register and many offsets, which are alike but for their place in a word.
    auto& known = countedGroups_[{i.operands[store ? 0 : 1].reg, bytes, (offset & 3) + (store ? 4 : 0)}];
    if (!known) known = sharedOfGroups(a, parts, offset, bytes, what);
    sum = known;
  } else if (!shared && a.isGrouped() && a.groups == 2 && a.patternless() && mask.empty()) {
    sum = sectorsOfPairs(a, parts, offset);
  } else {
    for (unsigned p = 0; p < parts; ++p)
      sum = b_.CreateAdd(sum, shared ? wavefrontsOf(a, p, offset, maskOf(mask, p), bytes, what)
                                     : sectorsOf(a, p, offset, maskOf(mask, p), bytes));
  }
  sum = b_.CreateMul(sum, b_.getInt64(jam_ / parts));
  if (!shared) return count(counters.units, sum);
  count(counters.units, b_.CreateAnd(sum, b_.getInt64(UINT32_MAX)));
  count(counters.conflicts, b_.CreateLShr(sum, 32));
}

/// The sectors of one warp's access to global memory (a generic address counts as one).
LlvmValue Emitter::sectorsOf(const Address& a, unsigned part, int64_t offset, LlvmValue mask, unsigned bytes) {
  LlvmValue lanes = mask ? laneBits(mask) : b_.getInt32(~0u);
  auto byLane = [&] { return countByLane(a, part, offset, lanes, bytes, Counted::Sectors); };
  if (!a.isGrouped() || a.space == ptx::Space::Generic || bytes > kSector) return byLane();
  auto base = [&](unsigned g) { return b_.CreateAdd(a.bases[part][g], b_.getInt64(static_cast<uint64_t>(offset))); };
  if (a.groups == 1 && !mask) return sectorsOfGroup(a, base(0), 0, kLanes, bytes);
  if (a.groups == 1) {
    const Run::Kind kind = classify(a.pattern, 0, kLanes, bytes);
    LlvmValue start = b_.CreateAdd(base(0), b_.getInt64(static_cast<uint64_t>(a.pattern[0])));
    if (kind == Run::Kind::Contiguous) return sectorsOfMask(start, lanes, bytes);
    if (kind == Run::Kind::Same) return b_.CreateZExt(b_.CreateICmpNE(lanes, b_.getInt32(0)), b_.getInt64Ty());
    return byLane();
  }
  if (mask) return byLane();
  const unsigned width = kLanes / a.groups;
  LlvmValue sum = b_.getInt64(0);
  for (unsigned g = 0; g < a.groups; ++g) sum = b_.CreateAdd(sum, sectorsOfGroup(a, base(g), g * width, width, bytes));
  return unless(groupsLieApart(a, part, bytes, offset), sum, byLane);
}

/// Wavefronts of one warp's access to shared memory in the low half, those that conflicts added in the high half.
LlvmValue Emitter::wavefrontsOf(const Address& a, unsigned part, int64_t offset, LlvmValue mask, unsigned bytes,
                                Counted what) {
  LlvmValue lanes = mask ? laneBits(mask) : b_.getInt32(~0u);
  if (!a.isGrouped() || a.groups > 1) return countByLane(a, part, offset, lanes, bytes, what);
  if (!mask) {
    // Banks are relative: shifting all addresses alike by whole words changes nothing.
    const rt::SharedCount c = rt::countShared(
        a.pattern.data(), ~0u, bytes, what == Counted::SharedLoad ? rt::SharedAccess::Load : rt::SharedAccess::Store);
    return b_.getInt64(c.wavefronts | uint64_t{c.wavefronts - c.ideal} << 32);
  }
  const Run::Kind kind = classify(a.pattern, 0, kLanes, bytes);
  if (bytes <= 4 && kind != Run::Kind::Scattered)
    return b_.CreateZExt(b_.CreateICmpNE(lanes, b_.getInt32(0)), b_.getInt64Ty());
  return countByLane(a, part, offset, lanes, bytes, what);
}

}  // namespace ordito::jit
