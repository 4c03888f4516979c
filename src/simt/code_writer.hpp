// Writes SIMT code, an operation at a time.
#pragma once

#include "simt/by_thread.hpp"
#include "simt/code.hpp"

namespace ordito::simt {

class CodeWriter {
 public:
  explicit CodeWriter(const ir::Function& function) : f_(function) {}
  /// From here on, blocks and masks are those of this region.
  void begin(RegionCode& region);
  /// Puts the region's blocks in the order in which they were written.
  void finish();

  /// A block that begins with what is in registers at the end of `inherits`.
  CodeBlockId newBlock(const char* label, CodeBlockId inherits = kNoCodeBlock);
  /// Operations are appended to this block.
  void continueAt(CodeBlockId block);
  CodeBlockId here() const { return here_; }
  /// Has the block its terminator?
  bool isEnded() const;

  CodeOperation& add(CodeOp op) { return append({.op = op}); }
  CodeOperation& add(CodeOp op, BlockId block) { return append({.op = op, .block = block}); }
  CodeOperation& addFor(CodeOp op, MaskId lanes) { return append({.op = op, .a = lanes}); }
  CodeOperation& addFor(CodeOp op, BlockId block, MaskId lanes) {
    return append({.op = op, .a = lanes, .block = block});
  }
  /// The event of a branch at which lanes part.
  void addPart(BlockId block, MaskId lanes, MaskId taken) {
    append({.op = CodeOp::PartEvent, .a = lanes, .b = taken, .block = block});
  }
  void runThreads(const Stretch& stretch, MaskId lanes);
  /// Nothing where `to` has no phis. `freely`: in lanes that are not among `lanes`, these may have any values.
  void assign(BlockId from, BlockId to, MaskId lanes, const std::vector<ValueId>& freely = {});

  MaskId mask(CodeOp op);
  MaskId waiting(BlockId block);
  MaskId condition(const ir::Terminator& end, bool negated);
  MaskId both(MaskId a, MaskId b);
  MaskId butNot(MaskId a, MaskId b);

  void branch(CodeBlockId to);
  void branchUniform(const ir::Terminator& end, CodeBlockId ifTrue, CodeBlockId ifFalse);
  void branchOnBase(const ir::Terminator& end, const CodeBlockId all[2], CodeBlockId open);
  void branchAny(MaskId lanes, CodeBlockId any, CodeBlockId none);
  void branchWhole(MaskId lanes, CodeBlockId whole, CodeBlockId part);

 private:
  CodeOperation& append(CodeOperation operation);
  MaskId define(CodeOperation operation);

  const ir::Function& f_;
  RegionCode* region_ = nullptr;
  CodeBlockId here_ = kNoCodeBlock;
  std::vector<CodeBlockId> order_;
};

}  // namespace ordito::simt
