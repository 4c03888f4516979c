// See structures.hpp.
#include "simt/structures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ptx/operands.hpp"
#include "simt/accesses.hpp"

namespace ordito::simt {
namespace {

using isa::Effect;
using ptx::Operand;

/// Its address is the first operand of a store and the second of a load.
size_t addressOperand(const Instruction& i) { return i.info().effect == Effect::Load ? 1 : 0; }

int64_t offsetOf(const Instruction* i) { return i->operands[addressOperand(*i)].offset; }

/// Accesses of one kind from one register, none of which is kept from the others, in the order of the code.
using Accesses = std::vector<const Instruction*>;

class Finder {
 public:
  Finder(const ir::Function& f, const AccessPlan& accesses, const Facts& facts)
      : f_(f), accesses_(accesses), isWide_(facts.processor.avx512) {}

  Structures run() {
    for (const ir::Block& block : f_.blocks) {
      for (const Instruction& i : block.code) visit(i);
      closeAll();
    }
    return std::move(result_);
  }

 private:
  /// A store ends what loads have begun, since it may write what they read; a load ends what stores have begun, and so
  /// does a store elsewhere.
  void visit(const Instruction& i) {
    const Effect effect = i.info().effect;
    if (effect == Effect::Pure) return;
    if (isOrdered(i)) return closeAll();
    if (effect == Effect::Load) {
      close(stores_);
      if (words(i)) loads_[{i.operands[1].reg, ptx::spaceOf(i)}].push_back(&i);
      return;
    }
    if (effect != Effect::Store || !words(i)) return closeAll();
    closeLoads();
    if (!stores_.empty() && !joins(i)) close(stores_);
    stores_.push_back(&i);
  }

  /// Is the store one of the structure that the stores before it are of, and of other members?
  bool joins(const Instruction& i) const {
    const Instruction& first = *stores_.front();
    auto meets = [&](const Instruction* other) {
      return offsetOf(other) < offsetOf(&i) + bytesOf(i) && offsetOf(&i) < offsetOf(other) + bytesOf(*other);
    };
    return i.operands[0].reg == first.operands[0].reg && ptx::spaceOf(i) == ptx::spaceOf(first) &&
           isa::bits(i.type[0]) == isa::bits(first.type[0]) && std::ranges::none_of(stores_, meets);
  }

  /// Of all its elements.
  int64_t bytesOf(const Instruction& i) const {
    const Access& a = accesses_.at(i, addressOperand(i));
    return int64_t{a.bytes} * a.count;
  }

  void closeLoads() {
    for (auto& [from, open] : loads_) close(open);
    loads_.clear();
  }
  void closeAll() { closeLoads(), close(stores_); }

  /// Elements from one lane's address to the next one's; 0 where it is no member of a structure, or shuffles do not
  /// pay.
  unsigned words(const Instruction& i) const {
    if ((i.op != isa::Op::Ld && i.op != isa::Op::St) || i.guard || isOrdered(i)) return 0;
    const size_t operand = addressOperand(i);
    const auto found = accesses_.accesses.find({&i, operand});
    if (found == accesses_.accesses.end()) return 0;
    const Access& a = found->second;
    const unsigned bits = isa::bits(i.type[0]);
    if (a.whole.transfer != Transfer::Strided || a.address.segments != 1 || bits < 8 || bits > 64) return 0;
    const int64_t step = a.address.pattern[1] - a.address.pattern[0];
    if (step <= 0 || step % a.bytes || classify(a.address.pattern, 0, kLanes, step) != Run::Kind::Contiguous) return 0;
    return step <= int64_t{cost::kStructureBytes} ? static_cast<unsigned>(step / a.bytes) : 0;
  }

  void close(Accesses& open) {
    Accesses accesses = std::exchange(open, {});
    std::ranges::sort(accesses, {}, [](const Instruction* i) { return std::pair(offsetOf(i), i); });
    while (!accesses.empty()) accesses = rest(accesses);
  }

  /// Makes a structure of as many accesses as one can have, and gives the others.
  Accesses rest(const Accesses& accesses) {
    const Instruction& first = *accesses[0];
    const size_t operand = addressOperand(first);
    Structure s{{}, words(first), accesses_.at(first, operand).bytes, offsetOf(&first)};
    Accesses others;
    for (const Instruction* i : accesses) {
      const int64_t place = offsetOf(i) - s.first;
      const bool belongs = isa::bits(i->type[0]) == 8 * s.bytes && place % s.bytes == 0 &&
                           place + bytesOf(*i) <= int64_t{s.words} * s.bytes;
      if (belongs)
        addMembers(s, *i, static_cast<unsigned>(place / s.bytes));
      else
        others.push_back(i);
    }
    if (isWorthIt(s, operand == 0)) add(std::move(s), operand == 0);
    return others;
  }

  static void addMembers(Structure& s, const Instruction& i, unsigned place) {
    const Operand& all = i.operands[1 - addressOperand(i)];
    if (all.kind != Operand::Kind::Vector) return s.members.push_back({&i, &all, place});
    for (unsigned k = 0; k < all.elements.size(); ++k) s.members.push_back({&i, &all.elements[k], place + k});
  }

  /// To read or write a structure takes nearly as much work for one member as for all: for each of its words a load and
  /// up to five shuffles (ten on AVX2) for as many lanes as a vector has. A member lane by lane takes 32 loads and as
  /// many shuffles.
  bool isWorthIt(const Structure& s, bool isStore) const {
    if (s.bytes < 4) return isSmall(s, isStore);
    const size_t wordsPerMember = isStore ? 2 : isWide_ ? 8 : 4;
    return s.members.size() * wordsPerMember >= s.words;
  }

  /// Bytes and halves, such as the colours of a pixel: LLVM knows how to shuffle two to four of them. All is read,
  /// which the last member must allow, or written, which all must.
  static bool isSmall(const Structure& s, bool isStore) {
    if (s.words > cost::kSmallMembers) return false;
    return isStore ? s.members.size() == s.words : s.members.back().place + 1 == s.words;
  }

  void add(Structure s, bool isStore) {
    const auto [first, last] = std::ranges::minmax_element(s.members, {}, &Structure::Member::access);
    const Instruction* worker = isStore ? last->access : first->access;
    for (const Structure::Member& m : s.members) result_.members.insert(m.access);
    result_.byWorker[worker] = std::move(s);
  }

  const ir::Function& f_;
  const AccessPlan& accesses_;
  const bool isWide_;  // vectors of sixteen words, not eight
  std::map<std::pair<ValueId, ptx::Space>, Accesses> loads_;
  Accesses stores_;
  Structures result_;
};

}  // namespace

Structures findStructures(const ir::Function& f, const AccessPlan& accesses, const Facts& facts) {
  const bool hasShuffles = facts.processor.avx2;
  if (facts.accesses || facts.baseline || !hasShuffles) return {};  // a listener may keep a lane from one of them
  return Finder(f, accesses, facts).run();
}

std::string print(const Structures& structures, const ir::Function& f) {
  std::string text;
  for (const ir::Block& block : f.blocks)
    for (const Instruction& i : block.code) {
      const auto found = structures.byWorker.find(&i);
      if (found == structures.byWorker.end()) continue;
      const Structure& s = found->second;
      text += fmt::format("{} of {} words of {} bytes,", instructionName(i), s.words, s.bytes);
      for (const Structure::Member& m : s.members) text += fmt::format(" {}: line {}", m.place, m.access->line);
      text += "\n";
    }
  return text.empty() ? "nothing\n" : text;
}

}  // namespace ordito::simt
