// PTX ISA, "Texture Instructions" and "Surface Instructions": 32 lanes at a time to the machine's texture unit.
#include "jit/emitter.hpp"
#include "machine/image.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Op;
using isa::Type;
using ptx::Operand;

void Emitter::emitImage(const Instruction& i) {
  switch (i.op) {
    case Op::Tex:
    case Op::TexHalf:
    case Op::TexBase:
    case Op::TexBaseHalf:
    case Op::Tld4: return emitTextureFetch(i, 3);
    case Op::TexLevel:
    case Op::TexLevelHalf: return emitTextureFetch(i, 4);
    case Op::TexGrad:
    case Op::TexGradHalf: return emitTextureFetch(i, 5);
    case Op::Txq:
    case Op::TxqLevel:
    case Op::Suq: return emitImageQuery(i);
    case Op::Suld: return emitSurfaceLoad(i);
    case Op::Sust:
    case Op::SustFormatted: return emitSurfaceStore(i);
    case Op::Sured:
    case Op::SuredFormatted: return emitSurfaceReduction(i);
    default: refuse(i, "this instruction is not supported by the JIT");
  }
}

/// Lane vectors side by side in memory, for a helper to read or fill.
llvm::AllocaInst* Emitter::laneArrays(llvm::Type* element, unsigned count) {
  return llvm::IRBuilder<>(entry_).CreateAlloca(
      llvm::ArrayType::get(llvm::FixedVectorType::get(element, kLanes), count));
}

LlvmValue Emitter::laneArray(llvm::AllocaInst* arrays, unsigned k) {
  return b_.CreateConstInBoundsGEP2_64(arrays->getAllocatedType(), arrays, 0, k);
}

/// The operand that names a texture or surface, for each lane.
LlvmValue Emitter::imageHandles(const Operand& o, unsigned part) {
  Operand handle = o;
  if (o.kind == Operand::Kind::Address)
    handle.kind = o.symbol.kind == ptx::Symbol::Kind::None ? Operand::Kind::Register : Operand::Kind::Symbol;
  Source s;
  s.part = part;
  LlvmValue v = operand(handle, Type::u64, s);
  if (handle.kind == Operand::Kind::Register && o.offset)
    v = b_.CreateAdd(v, constant(Type::u64, static_cast<uint64_t>(o.offset), true));
  auto* array = laneArrays(b_.getInt64Ty(), 1);
  b_.CreateStore(v, array);
  return array;
}

/// Four coordinates, of which the first ones count.
LlvmValue Emitter::imageNumbers(const Operand* list, Type t, unsigned part) {
  auto* arrays = laneArrays(b_.getInt32Ty(), 4);
  Source s;
  s.part = part;
  for (unsigned k = 0; k < 4; ++k) {
    const bool isVector = list && list->kind == Operand::Kind::Vector;
    const bool isThere = list && (isVector ? k < list->elements.size() : k == 0);
    LlvmValue v = isThere ? convertBits(exactBits(isVector ? list->elements[k] : *list, t, s), typeOf(Type::u32, true))
                          : constant(Type::u32, 0, true);
    b_.CreateStore(v, laneArray(arrays, k));
  }
  return arrays;
}

LlvmValue Emitter::lanesOrAll(const Parts& mask, unsigned part) {
  return mask.empty() ? b_.getInt32(~0u) : laneBits(mask[part]);
}

/// `offset` is the operand of texel offsets; level or gradients come before it.
void Emitter::emitTextureFetch(const Instruction& i, size_t offset) {
  const machine::TextureOperation operation(i);
  const Operand* offsets = i.operands[offset].kind == Operand::Kind::None ? nullptr : &i.operands[offset];
  const unsigned count = static_cast<unsigned>(i.operands[0].elements.size());
  const Parts mask = guardedMask(i);
  raiseImageAccess(i, machine::Counter::TextureRequests);
  std::vector<Parts> results(count);
  for (unsigned p = 0; p < coarsening_; ++p) {
    LlvmValue handles = imageHandles(i.operands[2].elements[0], p);
    LlvmValue coordinates = imageNumbers(&i.operands[2].elements.back(), i.type[3], p);
    LlvmValue none = llvm::ConstantPointerNull::get(b_.getPtrTy());
    LlvmValue shift = offsets ? imageNumbers(offsets, Type::s32, p) : none;
    LlvmValue level = offset > 3 ? imageNumbers(&i.operands[3], Type::f32, p) : none;
    LlvmValue gradientY = offset > 4 ? imageNumbers(&i.operands[4], Type::f32, p) : none;
    auto* texels = laneArrays(b_.getInt32Ty(), 4);
    helper("ordito_texture", b_.getVoidTy(),
           {frame_, b_.getInt32(currentLine_), b_.getInt32(operation.code()), lanesOrAll(mask, p), handles, coordinates,
            shift, level, gradientY, texels});
    for (unsigned k = 0; k < count; ++k)
      results[k].push_back(b_.CreateLoad(typeOf(Type::u32, true), laneArray(texels, k)));
  }
  defineElements(i, results);
  defineResidency(i);
}

/// The predicate behind the texels: true, since no texture here has texels without memory.
void Emitter::defineResidency(const Instruction& i) {
  const Operand& resident = i.operands[1];
  if (resident.kind != Operand::Kind::Register) return;
  Parts parts;
  for (unsigned p = 0; p < coarsening_; ++p)
    parts.push_back(i.guard ? b_.CreateSelect(conditionMask(i.guard.reg, i.guard.negated)[p], allOnes(),
                                              vectorOf(i.prior.back(), p))
                            : allOnes());
  defineVector(resident.reg, parts);
}

void Emitter::emitImageQuery(const Instruction& i) {
  const Parts mask = guardedMask(i);
  std::vector<Parts> results(1);
  for (unsigned p = 0; p < coarsening_; ++p) {
    auto* answers = laneArrays(b_.getInt32Ty(), 1);
    LlvmValue level = i.op == Op::TxqLevel ? imageNumbers(&i.operands[2], Type::u32, p)
                                           : llvm::ConstantPointerNull::get(b_.getPtrTy());
    helper("ordito_image_query", b_.getVoidTy(),
           {frame_, b_.getInt32(currentLine_), b_.getInt32(i.mods[ModifierKind::ImageQuery]),
            b_.getInt32(i.op == Op::Suq), lanesOrAll(mask, p), imageHandles(i.operands[1], p), level, answers});
    results[0].push_back(b_.CreateLoad(typeOf(Type::u32, true), answers));
  }
  defineElements(i, results);
}

/// Host addresses of the lanes' accesses; 0 for lanes that are off or whose access is dropped.
LlvmValue Emitter::surfacePlaces(const Instruction& i, size_t k, unsigned bytes, const Parts& mask, unsigned part) {
  const machine::SurfaceOperation operation(i, bytes);
  const Operand& image = i.operands[k];
  auto* places = laneArrays(b_.getInt64Ty(), 1);
  helper("ordito_surface_places", b_.getVoidTy(),
         {frame_, b_.getInt32(currentLine_), b_.getInt32(operation.code()), lanesOrAll(mask, part),
          imageHandles(image.elements[0], part), imageNumbers(&image.elements.back(), Type::u32, part), places});
  return b_.CreateLoad(typeOf(Type::u64, true), places);
}

void Emitter::emitSurfaceLoad(const Instruction& i) {
  const bool isVector = i.operands[0].kind == Operand::Kind::Vector;
  const unsigned count = isVector ? static_cast<unsigned>(i.operands[0].elements.size()) : 1,
                 each = isa::bytes(i.type[0]);
  const Parts mask = guardedMask(i);
  raiseImageAccess(i, machine::Counter::SurfaceLoadRequests);
  std::vector<Parts> results(count);
  for (unsigned p = 0; p < coarsening_; ++p) {
    LlvmValue places = surfacePlaces(i, 1, each * count, mask, p);
    LlvmValue there = b_.CreateICmpNE(places, constant(Type::u64, 0, true));
    for (unsigned k = 0; k < count; ++k) {
      LlvmValue v =
          gather(b_.CreateAdd(places, constant(Type::u64, uint64_t{k} * each, true)), memoryType(i.type[0]), there);
      results[k].push_back(b_.CreateSelect(there, v, llvm::Constant::getNullValue(v->getType())));
    }
  }
  defineElements(i, results);
}

void Emitter::emitSurfaceStore(const Instruction& i) {
  const bool isVector = i.operands[1].kind == Operand::Kind::Vector;
  const unsigned count = isVector ? static_cast<unsigned>(i.operands[1].elements.size()) : 1,
                 each = isa::bytes(i.type[0]);
  const Parts mask = guardedMask(i);
  raiseImageAccess(i, machine::Counter::SurfaceStoreRequests);
  for (unsigned p = 0; p < coarsening_; ++p) {
    LlvmValue places = surfacePlaces(i, 0, each * count, mask, p);
    if (i.op == Op::SustFormatted) {
      auto* array = laneArrays(b_.getInt64Ty(), 1);
      b_.CreateStore(places, array);
      helper("ordito_surface_store", b_.getVoidTy(),
             {b_.getInt32(count), imageHandles(i.operands[0].elements[0], p), array,
              imageNumbers(&i.operands[1], Type::u32, p)});
      continue;
    }
    LlvmValue there = b_.CreateICmpNE(places, constant(Type::u64, 0, true));
    Source s;
    s.part = p;
    for (unsigned k = 0; k < count; ++k) {
      const Operand& o = isVector ? i.operands[1].elements[k] : i.operands[1];
      LlvmValue v = convertBits(exactBits(o, i.type[0], s), llvm::FixedVectorType::get(memoryType(i.type[0]), kLanes));
      scatter(b_.CreateAdd(places, constant(Type::u64, uint64_t{k} * each, true)), v, there);
    }
  }
}

/// As an atomic operation on global memory.
void Emitter::emitSurfaceReduction(const Instruction& i) {
  Instruction atomic = i;
  atomic.mods[ModifierKind::AtomOp] = isa::modifierValue(ModifierKind::AtomOp, i.mods.name(ModifierKind::SurfaceOp));
  llvm::Type* element = b_.getIntNTy(isa::bits(i.type[0]));
  const Parts mask = guardedMask(i);
  raiseImageAccess(i, machine::Counter::SurfaceReductionRequests);
  for (unsigned p = 0; p < coarsening_; ++p) {
    Source s;
    s.part = p;
    LlvmValue places = surfacePlaces(i, 0, isa::bytes(i.type[0]), mask, p);
    auto* addresses = laneArrays(b_.getInt64Ty(), 1);
    auto* values = laneArrays(element, 1);
    b_.CreateStore(places, addresses);
    b_.CreateStore(convertBits(exactBits(i.operands[1], i.type[0], s), llvm::FixedVectorType::get(element, kLanes)),
                   values);
    forEachLane(b_.CreateICmpNE(places, constant(Type::u64, 0, true)), [&](LlvmValue lane) {
      LlvmValue address = b_.CreateLoad(b_.getInt64Ty(), b_.CreateInBoundsGEP(b_.getInt64Ty(), addresses, lane));
      LlvmValue x = b_.CreateLoad(element, b_.CreateInBoundsGEP(element, values, lane));
      atomicOnce(atomic, address, x, nullptr, ptx::Space::Global);
    });
  }
}

}  // namespace ordito::jit
