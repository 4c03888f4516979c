// PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions": products (mma, wmma.mma), moves of 8×8 matrices
// (ldmatrix, stmatrix, movmatrix), and fragments in memory (wmma.load, wmma.store).
#pragma once

#include "jit/tools.hpp"
#include "ptx/matrix.hpp"

namespace ordito::jit {

class MatrixProducts : private Chapter {
 public:
  explicit MatrixProducts(Tools& tools) : Chapter(tools) {}

  void emit(const Instruction& i);

 private:
  llvm::Function* functionFor(const Instruction& i, llvm::ArrayRef<llvm::Type*> parameters, unsigned results);
};

class MatrixTiles : private Chapter {
 public:
  explicit MatrixTiles(Tools& tools) : Chapter(tools) {}

  void load(const Instruction& i);
  void store(const Instruction& i);
  void move(const Instruction& i);

 private:
  Allowance raise(const Instruction& i, size_t address, unsigned matrices, machine::AccessKind kind);
  LlvmValue rowAddresses(const Instruction& i, size_t k, unsigned part, unsigned matrices, const Parts& mask);
  LlvmValue loadRows(llvm::ArrayRef<LlvmValue> rows);
  void storeRows(llvm::ArrayRef<LlvmValue> rows, LlvmValue words);
  LlvmValue transposed(LlvmValue words);
};

class MatrixFragments : private Chapter {
 public:
  explicit MatrixFragments(Tools& tools) : Chapter(tools) {}

  void load(const Instruction& i);
  void store(const Instruction& i);

 private:
  /// A fragment's matrix in memory: for all lanes of a warp the same place and distance of rows or columns.
  struct FragmentMemory {
    ptx::Fragment fragment;
    bool byColumns = false;
    LlvmValue base = nullptr, strideBytes = nullptr;
  };
  Allowance raise(const Instruction& i, size_t registers, size_t address, machine::AccessKind kind);
  FragmentMemory memoryOf(const Instruction& i, size_t registers, size_t address, unsigned part);
  LlvmValue elementAddresses(const FragmentMemory& m, unsigned element);
};

}  // namespace ordito::jit
