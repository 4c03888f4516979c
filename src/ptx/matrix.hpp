// How the matrices of the warp-level matrix instructions lie in the registers of a warp (PTX ISA, "Warp Level Matrix
// Multiply-Accumulate Instructions").
//
// A fragment is the part of a matrix that one lane holds. For mma the manual fixes which part that is. For wmma it does
// not; here its matrices are put together from the tiles of mma, as on a GPU of today, so that a program which mixes
// both sees one layout.
#pragma once

#include "ptx/module.hpp"

namespace ordito::ptx {

struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
};

/// The instruction's .shape.
MatrixShape matrixShape(const Instruction& i);

struct Fragment {
  enum class Role : uint8_t { A, B, C };  // A is m×k, B is k×n, C and D are m×n
  /// Which layout: that of the tiles of m16n8 and m8n8, or that of the four small matrices of mma.m8n8k4.f16.
  enum class Kind : uint8_t { Tiles, Quads };
  Role role{};
  Kind kind = Kind::Tiles;
  bool columnMajor = false;  // Quads only: their layout depends on it
  isa::Type element{};
  unsigned rows = 0, columns = 0;
  unsigned registers = 0;  // of each lane

  /// Elements in one register.
  unsigned perRegister() const { return isa::bits(element) >= 32 ? 1 : 32 / isa::bits(element); }
  unsigned elements() const { return registers * perRegister(); }
  /// The type that a register of it is declared with.
  isa::Type registerType() const;
};

/// The fragment that operand `k` of a matrix instruction is; its `registers` is 0 if that operand is none.
Fragment fragmentOf(const Instruction& i, size_t k);

struct MatrixPlace {
  unsigned row = 0, column = 0;
  unsigned matrix = 0;  // Quads: which of the four
  bool operator==(const MatrixPlace&) const = default;
};

/// Where in the matrix element `element` of `lane`'s fragment lies. A wmma fragment of f16 holds its elements twice.
MatrixPlace placeOf(const Fragment& fragment, unsigned lane, unsigned element);

/// mma.sp: of every group of elements in a row of A, half are stored, and bits of the metadata say which. The stored
/// element (row, k) meets the row `first + unit * (metadata of `lane` >> shift & mask)` of B.
struct SparseChoice {
  unsigned lane = 0, shift = 0, mask = 0;
  unsigned first = 0, unit = 1;
};

SparseChoice choiceOf(const Instruction& i, unsigned row, unsigned k);

/// How many values the selector of lanes has: which lanes of each quad hold the metadata.
unsigned sparseSelectors(const Instruction& i);

}  // namespace ordito::ptx
