// A pass for clang, not part of the JIT: each local array is a variable of its own in the PTX, with its name.
//
// LLVM lays all local variables of a function into one, `__local_depot0`, and PTX then no longer says where one array
// ends and the next begins: an index that leads from one into its neighbour looks like any other. With a variable for
// each, `.local .align 4 .b8 window$0[32]`, whoever checks accesses knows the objects, and may leave room between them.
// The declaration is inline assembly at the begin of the function, which also takes the address; to LLVM that is a
// fresh object, as a call of malloc() would give it, so that it knows of aliases what it knew before.
//
// This must run when nothing is inlined any more, and arrays that can live in registers are gone. What only constants
// index, inside of its bounds, stays where LLVM puts it: nothing can go wrong there.
#include "frontend/separate_locals_pass.hpp"

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace {

using namespace llvm;

constexpr unsigned kLocalMemory = 5;  // NVPTX's number of the address space

/// What the compiler has made for itself.
bool isTemporary(StringRef name) {
  constexpr StringRef kNames[] = {"ref.tmp", "agg.tmp", "tmp", "byval-temp", "coerce", "retval", "undef.agg.tmp"};
  return llvm::any_of(kNames, [&](StringRef word) { return name.starts_with(word); });
}

/// `window` of `window.i.i12`, which was inlined.
std::string nameOf(const AllocaInst& variable) {
  const StringRef name = variable.getName();
  if (name.empty() || isTemporary(name)) return "temporary";
  std::string word;
  for (const char c : name.take_until([](char c) { return c == '.'; })) word += isAlnum(c) || c == '_' ? c : '_';
  return isDigit(word[0]) ? "_" + word : word;
}

/// Does the call write down what the pointer leads to, and nothing else? Its buffer is laid out by the compiler.
bool isPrint(const CallBase& call) {
  const Function* callee = call.getCalledFunction();
  return callee && callee->getName() == "vprintf";
}

/// Are all uses of `pointer`, which is `offset` behind the variable's begin, inside of its `bytes`?
bool staysInside(const Value& pointer, int64_t offset, int64_t bytes, const DataLayout& layout) {
  const auto fits = [&](uint64_t size) { return offset >= 0 && offset + static_cast<int64_t>(size) <= bytes; };
  return llvm::all_of(pointer.uses(), [&](const Use& use) {
    const User* user = use.getUser();
    if (const auto* load = dyn_cast<LoadInst>(user)) return fits(layout.getTypeStoreSize(load->getType()));
    if (const auto* store = dyn_cast<StoreInst>(user))
      return use.getOperandNo() == StoreInst::getPointerOperandIndex() &&
             fits(layout.getTypeStoreSize(store->getValueOperand()->getType()));
    if (isa<LifetimeIntrinsic>(user)) return true;
    if (const auto* set = dyn_cast<MemIntrinsic>(user)) {
      const auto* length = dyn_cast<ConstantInt>(set->getLength());
      return length && fits(length->getZExtValue());
    }
    if (const auto* call = dyn_cast<CallBase>(user)) return isPrint(*call);
    const auto* element = dyn_cast<GEPOperator>(user);
    APInt more(layout.getIndexTypeSizeInBits(pointer.getType()), 0);
    return element && element->accumulateConstantOffset(layout, more) &&
           staysInside(*user, offset + more.getSExtValue(), bytes, layout);
  });
}

void separate(AllocaInst& variable, uint64_t bytes) {
  IRBuilder<> b(&variable);
  // `$$` is a `$` of the assembly. `${:uid}` is a number of this copy of it: optimisation at link time may inline the
  // function again.
  const std::string name = nameOf(variable) + "$$${:uid}";
  const std::string text = ".local .align " + std::to_string(variable.getAlign().value()) + " .b8 " + name + "[" +
                           std::to_string(bytes) + "];\n\tmov.u64 $0, " + name + ";";
  PointerType* type = PointerType::get(b.getContext(), kLocalMemory);
  CallInst* place = b.CreateCall(InlineAsm::get(FunctionType::get(type, false), text, "=l", true));
  place->addRetAttr(Attribute::NoAlias);
  place->addRetAttr(Attribute::NonNull);
  place->addRetAttr(Attribute::getWithAlignment(b.getContext(), variable.getAlign()));
  place->setDoesNotThrow();
  for (User* user : make_early_inc_range(variable.users()))
    if (auto* mark = dyn_cast<LifetimeIntrinsic>(user)) mark->eraseFromParent();
  variable.replaceAllUsesWith(b.CreateAddrSpaceCast(place, variable.getType()));
  variable.eraseFromParent();
}

}  // namespace

PreservedAnalyses SeparateLocalsPass::run(Function& function, FunctionAnalysisManager&) {
  const DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<std::pair<AllocaInst*, uint64_t>> found;
  for (Instruction& i : function.getEntryBlock()) {
    auto* variable = dyn_cast<AllocaInst>(&i);
    if (!variable || !variable->isStaticAlloca()) continue;
    const uint64_t bytes = variable->getAllocationSize(layout).value_or(TypeSize::getFixed(0)).getFixedValue();
    if (bytes && !staysInside(*variable, 0, static_cast<int64_t>(bytes), layout)) found.emplace_back(variable, bytes);
  }
  for (BasicBlock& block : function) block.setName("");  // comments of the PTX would have them
  for (const auto& [variable, bytes] : found) separate(*variable, bytes);
  return found.empty() ? PreservedAnalyses::all() : PreservedAnalyses::none();
}
