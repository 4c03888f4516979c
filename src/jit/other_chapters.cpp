// The pure instructions of chapters that have hardly any.
#include "jit/pure_chapters.hpp"

namespace ordito::jit {

using isa::ModifierKind;
using isa::Type;
using Results = PureResults;

Results OtherChapters::MbarrierPendingCount() {
  LlvmValue count = b_.CreateAnd(b_.CreateLShr(in(1, Type::u64), 20), number(Type::u64, 0xFFFFF));
  return {b_.CreateTrunc(count, type(Type::u32))};
}

Results OtherChapters::Istypep() {
  const auto wanted = i_.mods.name(ModifierKind::Opaque);
  if (wanted == "samplerref") return {number(Type::pred, 0)};
  LlvmValue is = calls_.perLane("ordito_is_image", b_.getInt32Ty(),
                                {in(1, Type::u64), number(Type::u32, wanted == "surfref")}, s_);
  return {b_.CreateICmpNE(is, number(Type::u32, 0))};
}

}  // namespace ordito::jit
