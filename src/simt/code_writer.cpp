// See code_writer.hpp.
#include "simt/code_writer.hpp"

#include <utility>

namespace ordito::simt {

void CodeWriter::begin(RegionCode& region) {
  region_ = &region;
  here_ = kNoCodeBlock;
  order_.clear();
}

void CodeWriter::finish() {
  std::vector<CodeBlockId> place(region_->blocks.size(), kNoCodeBlock);
  for (CodeBlockId k = 0; k < order_.size(); ++k) place[order_[k]] = k;
  auto move = [&](CodeBlockId& b) {
    if (b < place.size()) b = place[b];
  };
  std::vector<CodeBlock> blocks;
  for (CodeBlockId b : order_) {
    CodeBlock& block = region_->blocks[b];
    move(block.inherits);
    for (CodeOperation& o : block.operations)
      for (CodeBlockId& target : o.targets) move(target);
    blocks.push_back(std::move(block));
  }
  region_->blocks = std::move(blocks);
  for (CodeEntry& entry : region_->entries) move(entry.block);
}

CodeBlockId CodeWriter::newBlock(const char* label, CodeBlockId inherits) {
  region_->blocks.push_back({label, inherits, {}});
  return static_cast<CodeBlockId>(region_->blocks.size() - 1);
}

void CodeWriter::continueAt(CodeBlockId block) {
  here_ = block;
  order_.push_back(block);
}

bool CodeWriter::isEnded() const {
  const auto& operations = region_->blocks[here_].operations;
  return !operations.empty() && operations.back().isTerminator();
}

CodeOperation& CodeWriter::append(CodeOperation operation) {
  auto& operations = region_->blocks[here_].operations;
  operations.push_back(std::move(operation));
  return operations.back();
}

MaskId CodeWriter::define(CodeOperation operation) {
  operation.result = region_->masks++;
  return append(std::move(operation)).result;
}

void CodeWriter::assign(BlockId from, BlockId to, MaskId lanes, const std::vector<ValueId>& freely) {
  if (f_.blocks[to].phis.empty()) return;
  append({.op = CodeOp::Assign, .a = lanes, .block = from, .to = to, .values = freely});
}

void CodeWriter::runThreads(const Stretch& stretch, MaskId lanes) {
  append({.op = CodeOp::RunThreads, .a = lanes, .block = stretch.first, .to = stretch.exit});
}

MaskId CodeWriter::mask(CodeOp op) { return define({.op = op}); }

MaskId CodeWriter::waiting(BlockId block) { return define({.op = CodeOp::Waiting, .block = block}); }

MaskId CodeWriter::condition(const ir::Terminator& end, bool negated) {
  return define({.op = CodeOp::Condition, .predicate = end.condition, .negated = negated});
}

MaskId CodeWriter::both(MaskId a, MaskId b) {
  if (a == kAllLanes) return b;
  if (b == kAllLanes) return a;
  return define({.op = CodeOp::And, .a = a, .b = b});
}

MaskId CodeWriter::butNot(MaskId a, MaskId b) { return define({.op = CodeOp::AndNot, .a = a, .b = b}); }

void CodeWriter::branch(CodeBlockId to) { append({.op = CodeOp::Branch, .targets = {to}}); }

void CodeWriter::branchUniform(const ir::Terminator& end, CodeBlockId ifTrue, CodeBlockId ifFalse) {
  append(
      {.op = CodeOp::BranchUniform, .predicate = end.condition, .negated = end.negated, .targets = {ifTrue, ifFalse}});
}

void CodeWriter::branchOnBase(const ir::Terminator& end, const CodeBlockId all[2], CodeBlockId open) {
  append({.op = CodeOp::BranchOnBase,
          .predicate = end.condition,
          .negated = end.negated,
          .targets = {all[0], all[1], open}});
}

void CodeWriter::branchAny(MaskId lanes, CodeBlockId any, CodeBlockId none) {
  append({.op = CodeOp::BranchAny, .a = lanes, .targets = {any, none}});
}

void CodeWriter::branchWhole(MaskId lanes, CodeBlockId whole, CodeBlockId part) {
  append({.op = CodeOp::BranchWhole, .a = lanes, .targets = {whole, part}});
}

}  // namespace ordito::simt
