// The scalar types of PTX (PTX ISA, "Fundamental Types") and their sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ordito::isa {

enum class Type : uint8_t {
  None,
#define TYPE(name, bits, kind) name,
#include "isa/types.def"
};

enum class TypeKind : uint8_t { None, Bits, Unsigned, Signed, Float, Predicate, Opaque };

struct TypeInfo {
  std::string_view name;
  uint16_t bits;
  TypeKind kind;
};

inline constexpr TypeInfo kTypes[] = {
    {"", 0, TypeKind::None},
#define TYPE(name, bits, kind) {#name, bits, TypeKind::kind},
#include "isa/types.def"
};

constexpr const TypeInfo& info(Type t) { return kTypes[static_cast<int>(t)]; }
constexpr std::string_view name(Type t) { return info(t).name; }
/// Width in bits; 1 for a predicate.
constexpr unsigned bits(Type t) { return info(t).bits; }
/// Size in memory in bytes (0 for a predicate, which cannot be stored).
constexpr unsigned bytes(Type t) { return info(t).bits / 8; }
constexpr bool isFloat(Type t) { return info(t).kind == TypeKind::Float; }
constexpr bool isSigned(Type t) { return info(t).kind == TypeKind::Signed; }
constexpr bool isUnsigned(Type t) { return info(t).kind == TypeKind::Unsigned; }
constexpr bool isInteger(Type t) { return isSigned(t) || isUnsigned(t); }
constexpr bool isBits(Type t) { return info(t).kind == TypeKind::Bits; }
/// A variable of it is a descriptor (texture, sampler or surface), which instructions name and do not read.
constexpr bool isOpaque(Type t) { return info(t).kind == TypeKind::Opaque; }
/// A type that only instructions name; registers, parameters and (but for the opaque ones) variables are of others.
constexpr bool isUndeclarable(Type t) { return t > Type::pred; }
constexpr bool isPredicate(Type t) { return t == Type::pred; }
/// Two 16-bit values in one 32-bit register (f16x2, bf16x2, u16x2, s16x2).
constexpr bool isPacked(Type t) {
  return t == Type::f16x2 || t == Type::bf16x2 || t == Type::u16x2 || t == Type::s16x2;
}
/// The element of a packed type, or the type itself.
constexpr Type element(Type t) {
  switch (t) {
    case Type::f16x2: return Type::f16;
    case Type::bf16x2: return Type::bf16;
    case Type::u16x2: return Type::u16;
    case Type::s16x2: return Type::s16;
    default: return t;
  }
}

/// The type of twice the width and the same kind, or the type itself where there is none (mul.wide's result).
constexpr Type twiceAsWide(Type t) {
  for (size_t i = 1; i < sizeof(kTypes) / sizeof(kTypes[0]); ++i)
    if (isInteger(t) && kTypes[i].kind == info(t).kind && kTypes[i].bits == 2 * bits(t)) return static_cast<Type>(i);
  return t;
}

/// The untyped bits that fill 1, 2, 4 or 8 bytes.
constexpr Type untyped(unsigned bytes) {
  return bytes == 8 ? Type::b64 : bytes == 4 ? Type::b32 : bytes == 2 ? Type::b16 : Type::b8;
}

/// The type spelt `text` (without its dot), if there is one.
constexpr std::optional<Type> typeFromName(std::string_view text) {
  for (size_t i = 1; i < sizeof(kTypes) / sizeof(kTypes[0]); ++i)
    if (kTypes[i].name == text) return static_cast<Type>(i);
  return std::nullopt;
}

}  // namespace ordito::isa
