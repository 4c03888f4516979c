// The event of a memory access, and what the counters make of it: requests, 32-byte sectors,
// wavefronts of shared memory. An access whose pattern is known is counted without looking at its lanes:
//
//   one segment, all lanes on       shared: a constant
//                                   global: the base's place in its sector decides, by formula or table
//   one segment, contiguous, masked  the mask, shifted to the sectors' borders and folded to one bit for each sector
//   several segments, all lanes on  global: their sums, if they lie apart
//                                   shared: depends on the distances of the segments alone, which seldom change, so
//                                   the last answer is kept with the distances that it is for
//   anywhere                        global: see sector_rows.hpp
//
// Everything else calls the runtime's counting functions (rt/access_counts.cpp).
#include "jit/access_events.hpp"

#include "jit/space_counters.hpp"
#include "rt/access_counts.hpp"

namespace ordito::jit {

using machine::AccessKind;
using machine::Counter;
using simt::classify;
using simt::Run;

namespace {

constexpr unsigned kSector = 32;

}  // namespace

/// Distinct sectors of `width` unmasked lanes with the known pattern from `first`, at the scalar address `base`.
LlvmValue AccessEvents::sectorsOfSegment(const Address& a, LlvmValue base, unsigned first, unsigned width,
                                         unsigned bytes) {
  LlvmValue start = b_.CreateAdd(base, b_.getInt64(static_cast<uint64_t>(a.pattern[first])));
  const Run::Kind kind = classify(a.pattern, first, width, bytes);
  if (kind == Run::Kind::Same) return b_.getInt64(1);  // addresses are multiples of the size
  if (kind != Run::Kind::Scattered) {
    const uint64_t length = uint64_t{bytes} * width;
    if (length % kSector == 0) {  // one more if it begins within a sector
      LlvmValue within = b_.CreateICmpNE(b_.CreateAnd(start, b_.getInt64(kSector - 1)), b_.getInt64(0));
      return b_.CreateAdd(b_.CreateZExt(within, b_.getInt64Ty()), b_.getInt64(length / kSector));
    }
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
  auto* data = llvm::ConstantDataArray::get(b_.getContext(), table);
  auto* global = new llvm::GlobalVariable(c_.module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
  LlvmValue entry = b_.CreateInBoundsGEP(b_.getInt8Ty(), global, b_.CreateAnd(start, b_.getInt64(kSector - 1)));
  return b_.CreateZExt(b_.CreateLoad(b_.getInt8Ty(), entry), b_.getInt64Ty());
}

/// Do the segments' addresses lie in different sectors, whatever the lanes?
LlvmValue AccessEvents::segmentsLieApart(const Address& a, unsigned part, unsigned bytes, int64_t offset) {
  const unsigned width = kLanes / a.segments;
  std::vector<LlvmValue> low, high;
  for (unsigned g = 0; g < a.segments; ++g) {
    const auto [least, most] = std::minmax_element(a.pattern.begin() + g * width, a.pattern.begin() + (g + 1) * width);
    auto sector = [&](int64_t at) {
      return b_.CreateLShr(b_.CreateAdd(a.bases[part][g], b_.getInt64(static_cast<uint64_t>(at + offset))), 5);
    };
    low.push_back(sector(*least)), high.push_back(sector(*most + bytes - 1));
  }
  LlvmValue apart = b_.getTrue();
  for (unsigned g = 0; g < a.segments; ++g)
    for (unsigned h = 0; h < g; ++h)
      apart = b_.CreateAnd(apart, b_.CreateOr(b_.CreateICmpUGT(low[g], high[h]), b_.CreateICmpUGT(low[h], high[g])));
  return apart;
}

/// Distinct sectors of the lanes that are on in all parts, neighbours of `bytes` each from `starts`.
LlvmValue AccessEvents::sectorsOfMasks(llvm::ArrayRef<LlvmValue> starts, const Parts& mask, unsigned bytes) {
  const unsigned perSector = kSector / bytes;
  auto* words = llvm::FixedVectorType::get(b_.getInt64Ty(), unsigned(starts.size()));
  auto all = [&](uint64_t x) { return llvm::ConstantInt::get(words, x); };
  LlvmValue places = llvm::PoisonValue::get(words);
  for (unsigned p = 0; p < starts.size(); ++p) {
    LlvmValue place = b_.CreateUDiv(b_.CreateAnd(starts[p], b_.getInt64(kSector - 1)), b_.getInt64(bytes));
    places = b_.CreateInsertElement(places, place, p);
  }
  LlvmValue bits = b_.CreateShl(b_.CreateZExt(masks_.laneBits(mask), words), places);
  uint64_t firsts = 0;
  for (unsigned l = 0; l < 64; l += perSector) firsts |= uint64_t{1} << l;
  for (unsigned step = perSector / 2; step > 0; step /= 2) bits = b_.CreateOr(bits, b_.CreateLShr(bits, all(step)));
  return counting_.sumOfBits(b_.CreateAnd(bits, all(firsts)));
}

LlvmValue AccessEvents::sectorsOfRun(const Instruction& i, const AccessEvent& e) {
  LlvmValue& known = countedRuns_[{addressOf(i, e.kind), e.bytes, e.offset, e.mask}];
  if (known) return known;
  Parts starts;
  for (const Parts& base : e.at.bases)
    starts.push_back(b_.CreateAdd(base[0], b_.getInt64(static_cast<uint64_t>(e.at.pattern[0] + e.offset))));
  return known = sectorsOfMasks(starts, e.mask, e.bytes);
}

/// Lanes that lie anywhere. What an access before has found holds for one that is whole sectors away, unless the
/// runtime counts it later.
LlvmValue AccessEvents::sectorsAnywhere(const Instruction& i, const AccessEvent& e) {
  later_ = counting_.newWord();
  const ValueId address = addressOf(i, e.kind);
  const bool isTable = simt::isIndexedByLoad(plan_.definitions(), shapes_, address);
  const auto alike = std::ranges::find_if(anywhere_, [&](const Anywhere& before) {
    return before.offset == e.offset && before.mask == e.mask &&
           simt::haveUniformDistance(plan_.definitions(), f_, shapes_, before.address, address);
  });
  Anywhere found{address, e.offset, e.mask, {}, {}};
  LlvmValue sum = b_.getInt64(0);
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue addresses = addresses_.addressVector(e.at, p, e.offset), mask = masks_.maskOf(e.mask, p);
    auto look = [&] {
      SectorRows& rows = counting_.rows();
      return isTable ? rows.add(*later_, addresses, mask, e.bytes) : rows.addOrdered(*later_, addresses, mask, e.bytes);
    };
    LlvmValue sectors =
        alike == anywhere_.end() ? look() : unless(isAlike(*alike, p, addresses, mask), alike->sums[p], look);
    found.addresses.push_back(addresses), found.sums.push_back(sectors);
    sum = b_.CreateAdd(sum, sectors);
  }
  if (e.mask == c_.at.mask) anywhere_.push_back(std::move(found));
  return sum;
}

/// Are the lanes whole sectors further on than in an access before, which has been counted?
LlvmValue AccessEvents::isAlike(const Anywhere& before, unsigned part, LlvmValue addresses, LlvmValue mask) {
  LlvmValue apart = b_.CreateXor(before.addresses[part], addresses);
  if (mask) apart = b_.CreateFreeze(apart);  // lanes that are off may hold anything
  LlvmValue within = b_.CreateAnd(apart, values_.splat(b_.getInt64(kSector - 1)));
  LlvmValue differs = masks_.both(mask, b_.CreateICmpNE(within, llvm::Constant::getNullValue(within->getType())));
  return b_.CreateAnd(b_.CreateICmpEQ(masks_.laneBits(differs), b_.getInt32(0)),
                      b_.CreateICmpNE(before.sums[part], b_.getInt64(0)));
}

/// Is it one segment of neighbours, of which some are on?
bool AccessEvents::isMaskedRun(const AccessEvent& e) {
  return e.at.isSegmented() && e.at.segments == 1 && !e.mask.empty() && e.bytes <= kSector &&
         classify(e.at.pattern, 0, kLanes, e.bytes) == Run::Kind::Contiguous;
}

LlvmValue AccessEvents::sectorsByLane(const AccessEvent& e, unsigned part) {
  LlvmValue addresses = addresses_.addressVector(e.at, part, e.offset);
  if (e.bytes > kSector)
    return c_.helper("ordito_count_sectors", b_.getInt64Ty(),
                     {c_.inMemory(addresses), masks_.lanesOrAll(e.mask, part), b_.getInt32(e.bytes)});
  if (!later_) later_ = counting_.newWord();
  return counting_.rows().add(*later_, addresses, masks_.maskOf(e.mask, part), e.bytes);
}

/// The runtime looks at the lanes. It keeps what it has seen; where the addresses have the distances of last time, that
/// may tell without a call, which would spill all vectors that the kernel has in registers.
LlvmValue AccessEvents::sharedByLane(const Instruction& i, const AccessEvent& e, unsigned part) {
  LlvmValue addresses = addresses_.addressVector(e.at, part, e.offset), lanes = masks_.lanesOrAll(e.mask, part);
  LlvmValue last = lastPattern(addressOf(i, e.kind), e.bytes);
  auto ask = [&] {
    return c_.helper(
        "ordito_count_shared", b_.getInt64Ty(),
        {c_.inMemory(addresses), lanes, b_.getInt32(e.bytes), b_.getInt32(static_cast<uint32_t>(e.kind)), last});
  };
  if (e.bytes > 4) return ask();
  if (!e.mask.empty()) addresses = b_.CreateFreeze(addresses);  // lanes that are off may hold anything
  auto* words = llvm::FixedVectorType::get(b_.getInt32Ty(), kLanes);
  LlvmValue low = b_.CreateTrunc(addresses, words);
  LlvmValue places =
      b_.CreateSub(low, values_.splat(b_.CreateAnd(b_.CreateExtractElement(low, uint64_t{0}), b_.getInt32(~3u))));
  auto kept = [&](llvm::Type* type, size_t offset) {
    LlvmValue at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), last, offset);
    return b_.CreateAlignedLoad(type, at, llvm::Align(4));
  };
  LlvmValue before = kept(words, offsetof(rt::SharedPattern, places));
  LlvmValue isSame = b_.CreateICmpEQ(masks_.laneBits(b_.CreateICmpEQ(places, before)), b_.getInt32(~0u));
  LlvmValue isTold = b_.CreateICmpNE(kept(b_.getInt32Ty(), offsetof(rt::SharedPattern, isTold)), b_.getInt32(0));
  LlvmValue pairs = b_.CreateAnd(b_.CreateAnd(lanes, b_.CreateLShr(lanes, kLanes / 2)),
                                 kept(b_.getInt32Ty(), offsetof(rt::SharedPattern, halves)));
  auto one = [&](LlvmValue bits) { return b_.CreateZExt(b_.CreateICmpNE(bits, b_.getInt32(0)), b_.getInt64Ty()); };
  LlvmValue second =
      b_.CreateMul(one(pairs), b_.getInt64(rt::SharedCount{2, 1}.packed() - rt::SharedCount{1, 1}.packed()));
  return unless(b_.CreateAnd(isSame, isTold), b_.CreateAdd(one(lanes), second), ask);
}

/// The register that the addresses come from.
ValueId AccessEvents::addressOf(const Instruction& i, AccessKind kind) {
  return i.operands[kind == AccessKind::Load || kind == AccessKind::MatrixLoad ? 1 : 0].reg;
}

/// Where the runtime keeps the last answer for accesses by the register `address`, in all warps of the batch: what a
/// load by all lanes has found tells of the store behind it, which some of them do.
LlvmValue AccessEvents::lastPattern(ValueId address, unsigned bytes) {
  llvm::AllocaInst*& last = patterns_[{address, bytes}];
  if (last) return last;
  llvm::IRBuilder<> entry(c_.entry);
  last = entry.CreateAlloca(llvm::ArrayType::get(b_.getInt8Ty(), sizeof(rt::SharedPattern)), nullptr, "pattern");
  last->setAlignment(llvm::Align(alignof(rt::SharedPattern)));
  entry.CreateMemSet(last, b_.getInt8(0), sizeof(rt::SharedPattern), last->getAlign());
  return last;
}

/// `fast` where `condition` holds, else what `slow` computes.
LlvmValue AccessEvents::unless(LlvmValue condition, LlvmValue fast, llvm::function_ref<LlvmValue()> slow) {
  auto* from = b_.GetInsertBlock();
  auto *otherwise = c_.newBlock("bylane"), *join = c_.newBlock("counted");
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

/// Wavefronts and conflicts of several segments in all parts, packed as the runtime does: one answer is kept for as
/// long as the segments keep their distances, since banks are relative.
LlvmValue AccessEvents::sharedOfSegments(const Instruction& i, const AccessEvent& e, unsigned parts) {
  const Address& a = e.at;
  llvm::IRBuilder<> entry(c_.entry);
  auto* answer = entry.CreateAlloca(b_.getInt64Ty(), nullptr, "wavefronts");
  entry.CreateStore(b_.getInt64(0), answer);  // no access takes none
  LlvmValue kept = b_.CreateLoad(b_.getInt64Ty(), answer);
  LlvmValue valid = b_.CreateICmpNE(kept, b_.getInt64(0));
  std::vector<std::pair<LlvmValue, LlvmValue>> distances;  // where it is kept, now
  for (unsigned g = 1; g < a.segments; ++g) {
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
      LlvmValue packed = sharedByLane(i, e, p);
      if (!first) first = packed;
      sum = b_.CreateAdd(sum, packed);
    }
    b_.CreateStore(first, answer);
    for (auto& [slot, distance] : distances) b_.CreateStore(distance, slot);
    return sum;
  });
}

/// phi(start, phi + step): both bases take the same step. In a kernel of one region the phi has always got its value
/// along an edge, so what is noted there holds.
bool AccessEvents::hasFixedDistance(ValueId v) const {
  const ir::Phi* phi = v == ir::kNoValue ? nullptr : plan_.definitions().phi(v);
  return phi && shapes_[v].segments == 2 && shapes_[v].pattern == 0 && isa::bits(f_.values[v].type) == 64 &&
         plan_.regions.resumePoints.size() == 1 && plan_.regions.scheduled.empty() &&
         std::ranges::any_of(phi->incoming, [&](ValueId next) { return isAdvance(v, next); });
}

/// Is `next` the sum of `v` and what is the same for all lanes?
bool AccessEvents::isAdvance(ValueId v, ValueId next) const {
  const Instruction* add = plan_.definitions().decisive(next);
  if (!add || add->op != isa::Op::Add) return false;
  for (size_t k : {size_t{1}, size_t{2}})
    if (add->operands[k].kind == ptx::Operand::Kind::Register && add->operands[k].reg == v)
      return shapes_.shapeOf(add->operands[3 - k]).isUniform();
  return false;
}

llvm::AllocaInst* AccessEvents::distance(ValueId v, unsigned part) {
  llvm::AllocaInst*& slot = distances_[{v, part}];
  if (!slot) slot = llvm::IRBuilder<>(c_.entry).CreateAlloca(b_.getInt64Ty(), nullptr, "distance");
  return slot;
}

/// Under a mask one base may keep what it was: nothing is said then of their distance.
void AccessEvents::notePhi(ValueId v, ValueId incoming, const std::vector<Parts>& bases, const Parts& mask) {
  if (!counting_.listens() || !hasFixedDistance(v) || (mask.empty() && isAdvance(v, incoming))) return;
  for (unsigned p = 0; p < bases.size(); ++p)
    b_.CreateStore(mask.empty() ? b_.CreateSub(bases[p][1], bases[p][0]) : b_.getInt64(0), distance(v, p));
}

/// Each half of a warp reads one place, as blocks 16 wide do from a matrix: two sectors, unless the places are close.
/// How far they are apart is the same for all offsets from one register, so it is asked once for all of them; and for
/// all iterations of a loop in which both advance alike.
LlvmValue AccessEvents::sectorsOfPairs(const Instruction& i, const AccessEvent& e, unsigned parts) {
  const Address& a = e.at;
  const ValueId v = addressOf(i, e.kind);
  LlvmValue allApart = b_.getTrue();
  for (unsigned p = 0; p < parts; ++p) {
    LlvmValue apart = distances_.contains({v, p}) ? b_.CreateLoad(b_.getInt64Ty(), distance(v, p))
                                                  : b_.CreateSub(a.bases[p][1], a.bases[p][0]);
    allApart = b_.CreateAnd(
        allApart, b_.CreateICmpUGE(b_.CreateAdd(apart, b_.getInt64(kSector - 1)), b_.getInt64(2 * kSector - 1)));
  }
  return unless(allApart, b_.getInt64(2 * uint64_t{parts}), [&] {
    LlvmValue sum = b_.getInt64(parts);
    for (unsigned p = 0; p < parts; ++p) {
      LlvmValue place[2];
      for (unsigned g = 0; g < 2; ++g)
        place[g] = b_.CreateAdd(a.bases[p][g], b_.getInt64(static_cast<uint64_t>(e.offset)));
      LlvmValue differ = b_.CreateICmpUGE(b_.CreateXor(place[0], place[1]), b_.getInt64(kSector));
      sum = b_.CreateAdd(sum, b_.CreateZExt(differ, b_.getInt64Ty()));
    }
    return sum;
  });
}

/// The one place that a chapter tells of an access to memory. Parameters, constants and mbarriers have units of their
/// own, of which nothing is counted.
Allowance AccessEvents::raise(const Instruction& i, const AccessEvent& e) {
  if (!i.raisesAccess || i.mods.name(isa::ModifierKind::Space).starts_with("param")) return {e.mask, {}};
  if (counting_.listens() && e.kind != AccessKind::Mbarrier)
    byThread_ ? counting_.iterations().access(i, e) : count(i, e);
  if (!calls_.hears(i) || e.at.space == ptx::Space::Param) return {e.mask, {}};
  return allowed(e.mask, e.kind == AccessKind::Mbarrier
                             ? calls_.askMbarrier(i, addresses_.addressVector(e.at, 0, e.offset), e.mask)
                             : calls_.access(i, e));
}

Allowance AccessEvents::allowed(const Parts& mask, LlvmValue bits) {
  if (calls_.isTried()) return {mask, {}};
  const Parts may{b_.CreateBitCast(bits, llvm::FixedVectorType::get(b_.getInt1Ty(), kLanes))};
  return {may, mask.empty() ? Parts{b_.CreateNot(may[0])} : masks_.butNot(mask, may)};
}

Allowance AccessEvents::whole(const Parts& mask, const Allowance& allowance) {
  if (allowance.refused.empty()) return {mask, {}};
  const Parts none{values_.splat(masks_.anyLane(allowance.refused))};
  return {masks_.butNot(mask, none), none};
}

LlvmValue AccessEvents::butRefused(const Allowance& allowance, unsigned part, LlvmValue x) {
  if (allowance.refused.empty()) return x;
  return b_.CreateSelect(allowance.refused[part], llvm::Constant::getNullValue(x->getType()), x);
}

void AccessEvents::count(const Instruction& i, const AccessEvent& e) {
  using ptx::Space;
  if (e.at.space == Space::Generic) return countGeneric(e);
  if (e.at.space != Space::Global && e.at.space != Space::Shared && e.at.space != Space::Local) return;
  const SpaceCounters counters = countersOf(e.kind, e.at.space);
  if (counters.requests != Counter::Count) counting_.countWarps(counters.requests, 1, e.mask);
  if (counters.units == Counter::Count) return;
  later_.reset();
  LlvmValue sum = unitsOf(i, e);
  if (counters.conflicts == Counter::Count) return countSectors(counters.units, sum);
  counting_.count(counters.units, b_.CreateAnd(sum, b_.getInt64(UINT32_MAX)));
  counting_.count(counters.conflicts, b_.CreateLShr(sum, 32));
}

void AccessEvents::countSectors(Counter c, LlvmValue sum) {
  if (later_) return counting_.countInto(*later_, c, sum);
  if (const auto known = words_.find(sum); known != words_.end()) return counting_.countWith(known->second, c);
  if (const auto word = counting_.count(c, sum)) words_[sum] = *word;
}

/// Sectors, or packed wavefronts, of all parts.
LlvmValue AccessEvents::unitsOf(const Instruction& i, const AccessEvent& e) {
  const Address& a = e.at;
  const bool shared = a.space == ptx::Space::Shared;
  // Warps with one address and all lanes on need one look.
  const unsigned parts = a.isSegmented() && !a.warpVarying && e.mask.empty() ? 1 : warps();
  LlvmValue sum = b_.getInt64(0);
  if (shared && a.isSegmented() && a.segments > 1 && e.mask.empty()) {
    // `tile[y][k]` for many k: one register and many offsets, which are alike but for their place in a word.
    const bool isLoad = e.kind == AccessKind::Load || e.kind == AccessKind::MatrixLoad;
    auto& known = countedSegments_[{addressOf(i, e.kind), e.bytes, (e.offset & 3) + (isLoad ? 0 : 4)}];
    if (!known) known = sharedOfSegments(i, e, parts);
    sum = known;
  } else if (!shared && a.isSegmented() && a.segments == 2 && a.patternless() && e.mask.empty()) {
    sum = sectorsOfPairs(i, e, parts);
  } else if (!shared && isMaskedRun(e)) {
    sum = sectorsOfRun(i, e);
  } else if (!shared && !a.isSegmented() && e.bytes <= kSector) {
    sum = sectorsAnywhere(i, e);
  } else {
    for (unsigned p = 0; p < parts; ++p) sum = b_.CreateAdd(sum, shared ? wavefrontsOf(i, e, p) : sectorsOf(e, p));
  }
  return parts == warps() ? sum : b_.CreateMul(sum, b_.getInt64(warps() / parts));
}

/// Lanes of one warp may go to different spaces, and each of these has a request of its own.
void AccessEvents::countGeneric(const AccessEvent& e) {
  using ptx::Space;
  constexpr unsigned kWords = sizeof(rt::GenericCount) / sizeof(uint64_t);
  auto* out = llvm::IRBuilder<>(c_.entry).CreateAlloca(llvm::ArrayType::get(b_.getInt64Ty(), kWords));
  for (unsigned p = 0; p < warps(); ++p) {
    c_.helper("ordito_count_generic", b_.getVoidTy(),
              {c_.frame, c_.inMemory(addresses_.addressVector(e.at, p, e.offset)), masks_.lanesOrAll(e.mask, p),
               b_.getInt32(e.bytes), b_.getInt32(static_cast<uint32_t>(e.kind)), out});
    auto word = [&](size_t offset) {
      return b_.CreateLoad(b_.getInt64Ty(), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), out, offset));
    };
    auto add = [&](Counter c, LlvmValue n) {
      if (c != Counter::Count) counting_.count(c, n);
    };
    const SpaceCounters global = countersOf(e.kind, Space::Global), shared = countersOf(e.kind, Space::Shared);
    add(global.requests, word(offsetof(rt::GenericCount, globalRequests)));
    add(global.units, word(offsetof(rt::GenericCount, globalSectors)));
    LlvmValue packed = word(offsetof(rt::GenericCount, sharedPacked));
    add(shared.requests, word(offsetof(rt::GenericCount, sharedRequests)));
    add(shared.units, b_.CreateAnd(packed, b_.getInt64(UINT32_MAX)));
    add(shared.conflicts, b_.CreateLShr(packed, 32));
    add(countersOf(e.kind, Space::Local).requests, word(offsetof(rt::GenericCount, localRequests)));
  }
}

/// cp.async. To a GPU it is a load whose sectors depend on the banks that it writes to; lanes that want no bytes make
/// no request.
Allowance AccessEvents::raiseCopy(const Instruction& i, const Address& from, const Address& to, const Parts& mask,
                                  unsigned bytes, llvm::function_ref<LlvmValue(unsigned part)> wanted) {
  if (plan_.facts.counters && i.raisesAccess) countCopy(from, to, i, mask, bytes, wanted);
  if (!calls_.hears(i)) return {mask, {}};
  return allowed(mask, calls_.copy(i, from, to, mask, bytes, wanted(0)));
}

void AccessEvents::countCopy(const Address& from, const Address& to, const Instruction& i, const Parts& mask,
                             unsigned bytes, llvm::function_ref<LlvmValue(unsigned part)> wanted) {
  Parts copying = mask;
  for (unsigned p = 0; p < warps(); ++p) {
    if (LlvmValue some = wanted(p)) {
      some = b_.CreateICmpNE(some, values_.constant(isa::Type::u32, 0, true));
      if (mask.empty()) copying.resize(warps());
      copying[p] = masks_.both(masks_.maskOf(mask, p), some);
    }
    counting_.count(Counter::GlobalLoadSectors,
                    c_.helper("ordito_count_copied_sectors", b_.getInt64Ty(),
                              {c_.inMemory(addresses_.addressVector(from, p, i.operands[1].offset)),
                               c_.inMemory(addresses_.addressVector(to, p, i.operands[0].offset)),
                               masks_.lanesOrAll(copying, p), b_.getInt32(bytes)}));
  }
  counting_.countWarps(Counter::GlobalLoadRequests, 1, copying);
}

/// A texture or surface: what it touches depends on the texture unit, so requests alone are counted.
void AccessEvents::countImage(const Instruction& i, Counter requests) {
  if (plan_.facts.counters && i.raisesAccess) counting_.countWarps(requests, 1, values_.guardedMask(i));
}

Allowance AccessEvents::raiseTexels(const Instruction& i, const Parts& mask, llvm::ArrayRef<LlvmValue> operands) {
  if (!i.raisesAccess || !calls_.hears(i)) return {mask, {}};
  return allowed(mask, calls_.texels(i, mask, operands));
}

LlvmValue AccessEvents::surfaceSite(const Instruction& i, machine::AccessKind kind, unsigned bytes) {
  const bool isAsked = i.raisesAccess && calls_.hears(i) && !calls_.isTried();  // a trial ends with the fault
  if (!isAsked) return llvm::ConstantPointerNull::get(b_.getPtrTy());
  return calls_.surfaceSite(i, kind, bytes);
}

Allowance AccessEvents::raiseSurface(const Instruction& i, const SurfaceAccess& access) {
  if (!i.raisesAccess || !calls_.hears(i)) return {access.mask, {}};
  return allowed(access.mask, calls_.surface(i, access));
}

/// The sectors of one warp's access to global memory.
LlvmValue AccessEvents::sectorsOf(const AccessEvent& e, unsigned part) {
  const Address& a = e.at;
  LlvmValue mask = masks_.maskOf(e.mask, part);
  auto byLane = [&] { return sectorsByLane(e, part); };
  if (e.bytes > kSector) return byLane();
  auto base = [&](unsigned g) { return b_.CreateAdd(a.bases[part][g], b_.getInt64(static_cast<uint64_t>(e.offset))); };
  if (a.segments == 1 && !mask) return sectorsOfSegment(a, base(0), 0, kLanes, e.bytes);
  if (a.segments == 1) {
    LlvmValue lanes = masks_.laneBits(mask);
    const Run::Kind kind = classify(a.pattern, 0, kLanes, e.bytes);
    if (kind == Run::Kind::Same) return b_.CreateZExt(b_.CreateICmpNE(lanes, b_.getInt32(0)), b_.getInt64Ty());
    return byLane();
  }
  if (mask) return byLane();
  const unsigned width = kLanes / a.segments;
  LlvmValue sum = b_.getInt64(0);
  for (unsigned g = 0; g < a.segments; ++g)
    sum = b_.CreateAdd(sum, sectorsOfSegment(a, base(g), g * width, width, e.bytes));
  return unless(segmentsLieApart(a, part, e.bytes, e.offset), sum, byLane);
}

/// Wavefronts of one warp's access to shared memory in the low half, those that conflicts added in the high half.
LlvmValue AccessEvents::wavefrontsOf(const Instruction& i, const AccessEvent& e, unsigned part) {
  const Address& a = e.at;
  if (!a.isSegmented() || a.segments > 1) return sharedByLane(i, e, part);
  // Banks are relative: shifting all addresses alike by whole words changes nothing.
  if (e.mask.empty()) return b_.getInt64(rt::countShared(a.pattern.data(), ~0u, e.bytes, e.kind).packed());
  const Run::Kind kind = classify(a.pattern, 0, kLanes, e.bytes);
  if (e.bytes <= 4 && kind != Run::Kind::Scattered)
    return b_.CreateZExt(b_.CreateICmpNE(masks_.laneBits(e.mask[part]), b_.getInt32(0)), b_.getInt64Ty());
  return sharedByLane(i, e, part);
}

}  // namespace ordito::jit
