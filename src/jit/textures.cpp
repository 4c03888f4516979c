// PTX ISA, "Texture Instructions" and "Surface Instructions": 32 lanes at a time to the machine's texture unit.
#include "jit/textures.hpp"

#include "machine/image.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Op;
using isa::Type;
using machine::AccessKind;
using ptx::Operand;

void Textures::emit(const Instruction& i) {
  switch (i.op) {
    case Op::Tex:
    case Op::TexHalf:
    case Op::TexBase:
    case Op::TexBaseHalf:
    case Op::Tld4: return fetch(i, 3);
    case Op::TexLevel:
    case Op::TexLevelHalf: return fetch(i, 4);
    case Op::TexGrad:
    case Op::TexGradHalf: return fetch(i, 5);
    case Op::Txq:
    case Op::TxqLevel:
    case Op::Suq: return query(i);
    case Op::Suld: return loadSurface(i);
    case Op::Sust:
    case Op::SustFormatted: return storeSurface(i);
    case Op::Sured:
    case Op::SuredFormatted: return reduceSurface(i);
    default: c_.refuse(i, "this instruction is not supported by the JIT");
  }
}

/// The operand that names a texture or surface, for each lane.
LlvmValue Textures::imageHandles(const Operand& o, unsigned part) {
  Operand handle = o;
  if (o.kind == Operand::Kind::Address)
    handle.kind = o.symbol.kind == ptx::Symbol::Kind::None ? Operand::Kind::Register : Operand::Kind::Symbol;
  Source s;
  s.part = part;
  LlvmValue v = operands_.operand(handle, Type::u64, s);
  if (handle.kind == Operand::Kind::Register && o.offset)
    v = b_.CreateAdd(v, values_.constant(Type::u64, static_cast<uint64_t>(o.offset), true));
  auto* array = c_.laneArrays(b_.getInt64Ty(), 1);
  b_.CreateStore(v, array);
  return array;
}

/// Four coordinates, of which the first ones count.
LlvmValue Textures::imageNumbers(const Operand* list, Type t, unsigned part) {
  auto* arrays = c_.laneArrays(b_.getInt32Ty(), 4);
  Source s;
  s.part = part;
  for (unsigned k = 0; k < 4; ++k) {
    const bool isVector = list && list->kind == Operand::Kind::Vector;
    const bool isThere = list && (isVector ? k < list->elements.size() : k == 0);
    LlvmValue v = isThere ? values_.convertBits(operands_.exactBits(isVector ? list->elements[k] : *list, t, s),
                                                values_.typeOf(Type::u32, true))
                          : values_.constant(Type::u32, 0, true);
    b_.CreateStore(v, c_.laneArray(arrays, k));
  }
  return arrays;
}

/// `offset` is the operand of texel offsets; level or gradients come before it.
void Textures::fetch(const Instruction& i, size_t offset) {
  const machine::TextureOperation operation(i);
  const Operand* offsets = i.operands[offset].kind == Operand::Kind::None ? nullptr : &i.operands[offset];
  const unsigned count = static_cast<unsigned>(i.operands[0].elements.size());
  const Parts mask = values_.guardedMask(i);
  events_.countImage(i, machine::Counter::TextureRequests);
  std::vector<Parts> results(count);
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue handles = imageHandles(i.operands[2].elements[0], p);
    LlvmValue coordinates = imageNumbers(&i.operands[2].elements.back(), i.type[3], p);
    LlvmValue none = llvm::ConstantPointerNull::get(b_.getPtrTy());
    LlvmValue shift = offsets ? imageNumbers(offsets, Type::s32, p) : none;
    LlvmValue level = offset > 3 ? imageNumbers(&i.operands[3], Type::f32, p) : none;
    LlvmValue gradientY = offset > 4 ? imageNumbers(&i.operands[4], Type::f32, p) : none;
    auto* texels = c_.laneArrays(b_.getInt32Ty(), 4);
    LlvmValue code = b_.getInt32(operation.code());
    const Allowance allowance = events_.raiseTexels(i, mask, {code, handles, coordinates, shift, level, gradientY});
    c_.helper("ordito_texture", b_.getVoidTy(),
              {c_.frame, b_.getInt32(c_.at.line), code, masks_.lanesOrAll(allowance.mask, p), handles, coordinates,
               shift, level, gradientY, texels});
    for (unsigned k = 0; k < count; ++k) {
      LlvmValue x = b_.CreateLoad(values_.typeOf(Type::u32, true), c_.laneArray(texels, k));
      results[k].push_back(events_.butRefused(allowance, p, x));
    }
  }
  values_.defineElements(i, results);
  defineResidency(i);
}

/// The predicate behind the texels: true, since no texture here has texels without memory.
void Textures::defineResidency(const Instruction& i) {
  const Operand& resident = i.operands[1];
  if (resident.kind != Operand::Kind::Register) return;
  Parts parts;
  for (unsigned p = 0; p < warps(); ++p)
    parts.push_back(i.guard ? b_.CreateSelect(values_.conditionMask(i.guard.reg, i.guard.negated)[p], masks_.allOnes(),
                                              values_.vectorOf(i.prior.back(), p))
                            : masks_.allOnes());
  values_.defineVector(resident.reg, parts);
}

void Textures::query(const Instruction& i) {
  const Parts mask = values_.guardedMask(i);
  std::vector<Parts> results(1);
  for (unsigned p = 0; p < warps(); ++p) {
    auto* answers = c_.laneArrays(b_.getInt32Ty(), 1);
    LlvmValue level = i.op == Op::TxqLevel ? imageNumbers(&i.operands[2], Type::u32, p)
                                           : llvm::ConstantPointerNull::get(b_.getPtrTy());
    c_.helper(
        "ordito_image_query", b_.getVoidTy(),
        {c_.frame, b_.getInt32(c_.at.line), b_.getInt32(i.mods[ModifierKind::ImageQuery]), b_.getInt32(i.op == Op::Suq),
         masks_.lanesOrAll(mask, p), imageHandles(i.operands[1], p), level, answers});
    results[0].push_back(b_.CreateLoad(values_.typeOf(Type::u32, true), answers));
  }
  values_.defineElements(i, results);
}

/// Host addresses of the lanes' accesses; 0 for lanes that are off or whose access is dropped.
LlvmValue Textures::surfaceAddresses(const Instruction& i, size_t k, unsigned bytes, const Parts& mask, unsigned part,
                                     machine::AccessKind kind) {
  const machine::SurfaceOperation operation(i, bytes);
  const Operand& image = i.operands[k];
  auto* array = c_.laneArrays(b_.getInt64Ty(), 1);
  LlvmValue handles = imageHandles(image.elements[0], part);
  const bool isConverted = i.op == Op::SustFormatted;
  c_.helper("ordito_surface_addresses", b_.getVoidTy(),
            {c_.frame, b_.getInt32(c_.at.line), b_.getInt32(operation.code()), masks_.lanesOrAll(mask, part), handles,
             imageNumbers(&image.elements.back(), Type::u32, part), events_.surfaceSite(i, kind, bytes),
             c_.at.firstWarp, array});
  LlvmValue places = b_.CreateLoad(values_.typeOf(Type::u64, true), array);
  const Parts there{isThere(places)};
  return events_.butRefused(
      events_.raiseSurface(i, {kind, there, places, isConverted ? 0 : bytes, isConverted ? handles : nullptr}), 0,
      places);
}

void Textures::loadSurface(const Instruction& i) {
  const bool isVector = i.operands[0].kind == Operand::Kind::Vector;
  const unsigned count = isVector ? static_cast<unsigned>(i.operands[0].elements.size()) : 1,
                 each = isa::bytes(i.type[0]);
  const Parts mask = values_.guardedMask(i);
  events_.countImage(i, machine::Counter::SurfaceLoadRequests);
  std::vector<Parts> results(count);
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue places = surfaceAddresses(i, 1, each * count, mask, p, AccessKind::Load), there = isThere(places);
    for (unsigned k = 0; k < count; ++k) {
      LlvmValue v = general_.gather(b_.CreateAdd(places, values_.constant(Type::u64, uint64_t{k} * each, true)),
                                    values_.memoryType(i.type[0]), there);
      results[k].push_back(b_.CreateSelect(there, v, llvm::Constant::getNullValue(v->getType())));
    }
  }
  values_.defineElements(i, results);
}

void Textures::storeSurface(const Instruction& i) {
  const bool isVector = i.operands[1].kind == Operand::Kind::Vector;
  const unsigned count = isVector ? static_cast<unsigned>(i.operands[1].elements.size()) : 1,
                 each = isa::bytes(i.type[0]);
  const Parts mask = values_.guardedMask(i);
  events_.countImage(i, machine::Counter::SurfaceStoreRequests);
  for (unsigned p = 0; p < warps(); ++p) {
    LlvmValue places = surfaceAddresses(i, 0, each * count, mask, p, AccessKind::Store);
    if (i.op == Op::SustFormatted) {
      auto* array = c_.laneArrays(b_.getInt64Ty(), 1);
      b_.CreateStore(places, array);
      c_.helper("ordito_surface_store", b_.getVoidTy(),
                {b_.getInt32(count), imageHandles(i.operands[0].elements[0], p), array,
                 imageNumbers(&i.operands[1], Type::u32, p)});
      continue;
    }
    LlvmValue there = isThere(places);
    Source s;
    s.part = p;
    for (unsigned k = 0; k < count; ++k) {
      const Operand& o = isVector ? i.operands[1].elements[k] : i.operands[1];
      LlvmValue v = values_.convertBits(operands_.exactBits(o, i.type[0], s),
                                        llvm::FixedVectorType::get(values_.memoryType(i.type[0]), kLanes));
      general_.scatter(b_.CreateAdd(places, values_.constant(Type::u64, uint64_t{k} * each, true)), v, there);
    }
  }
}

/// As an atomic operation on global memory.
void Textures::reduceSurface(const Instruction& i) {
  Instruction atomic = i;
  atomic.mods[ModifierKind::AtomOp] = isa::modifierValue(ModifierKind::AtomOp, i.mods.name(ModifierKind::SurfaceOp));
  llvm::Type* element = b_.getIntNTy(isa::bits(i.type[0]));
  const Parts mask = values_.guardedMask(i);
  events_.countImage(i, machine::Counter::SurfaceReductionRequests);
  for (unsigned p = 0; p < warps(); ++p) {
    Source s;
    s.part = p;
    LlvmValue places = surfaceAddresses(i, 0, isa::bytes(i.type[0]), mask, p, AccessKind::Reduction);
    auto* addresses = c_.laneArrays(b_.getInt64Ty(), 1);
    auto* values = c_.laneArrays(element, 1);
    b_.CreateStore(places, addresses);
    b_.CreateStore(values_.convertBits(operands_.exactBits(i.operands[1], i.type[0], s),
                                       llvm::FixedVectorType::get(element, kLanes)),
                   values);
    calls_.forEachLane(isThere(places), [&](LlvmValue lane) {
      LlvmValue address = b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(b_.getInt64Ty(), addresses, lane));
      LlvmValue x = b_.CreateLoad(element, b_.CreateInBoundsGEP(element, values, lane));
      atomics_.single().once(atomic, address, x, nullptr, ptx::Space::Global);
    });
  }
}

}  // namespace ordito::jit
