// Instructions that read other lanes: every form, in whole warps and in parts of one, where only lanes that take part
// execute it. Sources of a shuffle lie within the part, since what a lane reads from one that is absent is undefined.
//
// A kernel has one warp per block; each block is a round with values of its own. Lanes that do not take part leave
// their words as they were.
#include <fmt/format.h>

#include <span>

#include "experiment.hpp"
#include "forms.hpp"
#include "operands.hpp"

namespace ordito::gpu {

using isa::ModifierKind;
using isa::Op;
using isa::Type;

namespace {

constexpr unsigned kRounds = 12, kLanes = 32, kTuples = kRounds * kLanes;
constexpr uint32_t kUntouched = 0xA5A5A5A5;
constexpr uint32_t kMasks[] = {0xFFFFFFFF, 0x0000FFFF, 0x55555555, 0x80000000, 0x1234567A};

/// Parts of a warp made of whole segments of `size` lanes.
struct Part {
  uint32_t mask;
  unsigned size;
};
constexpr Part kParts[] = {{0xFFFFFFFF, 32}, {0xFFFFFFFF, 8}, {0xFFFFFFFF, 1}, {0x0000FFFF, 16},
                           {0x00FF00FF, 8},  {0xF0F0F00F, 4}, {0x80000001, 1}};
constexpr uint32_t kOddClamps[] = {0x0707, 0x1C03, 0x0A15, 0x1F1F, 0x0005};

class Writer {
 public:
  explicit Writer(Op op) : op_(op) {}

  std::vector<Experiment> run() {
    Experiment e;
    for (const Form& f : opcodesOf(op_)) {
      if (f.info().form.mnemonic == "shfl")
        shuffles(e, f);
      else
        others(e, f);
    }
    if (e.items.empty()) return {};
    finish(e);
    std::vector<Experiment> all;
    all.push_back(std::move(e));
    return all;
  }

 private:
  Op op_;
  size_t end_ = 0;
  std::string code_;

  void shuffles(Experiment& e, const Form& f) {
    const bool isUp = f.name(ModifierKind::ShflMode) == "up", isOld = op_ == Op::ShflOld;
    for (bool pair : {false, true})
      for (const char* b : {"%few", "%any", "1", "17"}) {
        auto add = [&](uint32_t mask, uint32_t c) {
          const std::string tail = isOld ? "" : fmt::format(", {:#x}", mask);
          item(e, f, mask, pair, fmt::format("%any2, {}, {:#x}{}", b, c, tail));
        };
        // A butterfly crosses the segments whose size its operand reaches.
        const bool crosses = f.name(ModifierKind::ShflMode) == "bfly";
        for (const Part& p : kParts)
          if (!crosses || p.mask == 0xFFFFFFFF) add(p.mask, (32 - p.size) << 8 | (isUp ? 0 : 31));
        if (crosses && std::string_view(b) == "1")
          for (const Part& p : kParts)
            if (p.size > 1) add(p.mask, 0x1F);
        for (uint32_t c : kOddClamps) add(0xFFFFFFFF, c);
      }
  }

  void others(Experiment& e, const Form& f) {
    const bool hasPair = op_ == Op::Match && f.name(ModifierKind::MatchMode) == "all";
    for (uint32_t mask : kMasks)
      for (int pair = 0; pair <= hasPair; ++pair) switch (op_) {
          case Op::Vote: item(e, f, mask, false, fmt::format("%p, {:#x}", mask)); break;
          case Op::VoteOld: item(e, f, mask, false, "%p"); break;
          case Op::Match:
            item(e, f, mask, pair != 0,
                 fmt::format("{}, {:#x}", isa::bits(f.instruction.type[0]) == 64 ? "%pick64" : "%pick", mask));
            break;
          case Op::Redux: item(e, f, mask, false, fmt::format("%any2, {:#x}", mask)); break;
          case Op::Activemask: item(e, f, mask, false, ""); break;
          default: return;
        }
  }

  void item(Experiment& e, const Form& f, uint32_t mask, bool pair, const std::string& sources) {
    Item i;
    i.op = op_;
    i.key = fmt::format("{}{} {} in {:#x}", f.opcode, pair ? " d|p" : "", sources, mask);
    const bool isPredicate = f.instruction.type[0] == Type::pred;
    std::string result = isPredicate ? "%q" : "%d", stores;
    if (isPredicate) stores += "  selp.u32 %d, 1, 0, %q;\n";
    stores += store(i, "%d");
    if (pair) stores += "  selp.u32 %d, 1, 0, %q;\n" + store(i, "%d");
    i.code = fmt::format(
        "  bar.warp.sync 0xffffffff;\n  shr.u32 %t, {:#x}, %lane;\n  and.b32 %t, %t, 1;\n  setp.eq.u32 %skip, %t, 0;\n"
        "  @%skip bra Skip{};\n  {} {}{}{}{};\n{}Skip{}:\n",
        mask, e.items.size(), f.opcode, result, pair ? "|%q" : "", sources.empty() ? "" : ", ", sources, stores,
        e.items.size());
    code_ += i.code;
    e.items.push_back(std::move(i));
  }

  std::string store(Item& i, const char* reg) {
    i.results.push_back({Type::b32, end_, kTuples});
    end_ += i.results.back().bytes();
    return fmt::format("  st.global.b32 [%out+{}], {};\n", i.results.back().offset, reg);
  }

  /// Votes that agree, votes with one outlier and mixed ones; values of which several lanes have the same.
  void finish(Experiment& e) {
    const auto values = operandValues({Type::b32, Type::b32, Type::b64}, kTuples, "warp");
    std::vector<uint64_t> few, any, any2, pick, pick64, votes;
    for (unsigned k = 0; k < kTuples; ++k) {
      const unsigned round = k / kLanes, lane = k % kLanes, kind = round % 4;
      const uint64_t noise = hashOf(fmt::format("{}", k));
      few.push_back(noise >> 20 & 31);
      any.push_back(values[0][k]);
      any2.push_back(values[1][k]);
      const uint64_t choice = kind == 0 ? 0 : kind == 1 ? (lane == round) : noise >> 30 & 3;
      pick.push_back(values[1][64 * (choice + 1)]);
      pick64.push_back(values[2][64 * (choice + 1)]);
      votes.push_back(kind == 0   ? round & 4
                      : kind == 1 ? lane == round
                      : kind == 2 ? lane != 3 * round
                                  : noise >> 40 & 1);
    }
    e.name = fmt::format("{}.warp", isa::info(op_).name);
    e.inputs = {few, any, any2, pick, pick64, votes};
    for (const auto& list : e.inputs)
      for (uint64_t v : list) e.fingerprint = (e.fingerprint ^ v) * 0x100000001B3u;
    static constexpr const char* kNames[] = {"few", "any", "any2", "pick", "pick64", "votes"};
    std::string parameters, loads;
    for (size_t k = 0; k < 6; ++k) {
      const bool isWide = k == 4;
      parameters += fmt::format(".param .u64 in{}, ", k);
      loads += fmt::format("  ld.param.u64 %a, [in{}];\n  mad.wide.u32 %a, %i, {}, %a;\n  ld.global.b{} %{}, [%a];\n",
                           k, isWide ? 8 : 4, isWide ? 64 : 32, kNames[k]);
      e.launch.parameters.push_back(bufferOf(kNames[k], isWide ? Type::u64 : Type::u32, e.inputs[k]));
    }
    e.launch.parameters.push_back(bufferOf("out", Type::u32, std::vector<uint64_t>(end_ / 4, kUntouched)));
    e.launch.grid = {kRounds, 1, 1};
    e.launch.block = {kLanes, 1, 1};
    e.test = {e.name,
              fmt::format(".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k({}.param .u64 out)\n{{\n"
                          "  .reg .b32 %i, %t, %lane, %few, %any, %any2, %pick, %votes, %d;\n  .reg .b64 %a, %out, "
                          "%pick64;\n  .reg .pred %p, %q, %skip;\n"
                          "  mov.u32 %lane, %tid.x;\n  mov.u32 %i, %ctaid.x;\n  mad.lo.u32 %i, %i, 32, %lane;\n{}"
                          "  setp.ne.u32 %p, %votes, 0;\n  ld.param.u64 %out, [out];\n  mad.wide.u32 %out, %i, 4, "
                          "%out;\n{}  ret;\n}}\n",
                          parameters, loads, code_),
              {}};
  }
};

}  // namespace

std::vector<Experiment> warpExperiments(Op op) {
  switch (op) {
    case Op::Shfl:
    case Op::ShflOld:
    case Op::Vote:
    case Op::VoteOld:
    case Op::Match:
    case Op::Redux:
    case Op::Activemask: return Writer(op).run();
    default: return {};
  }
}

}  // namespace ordito::gpu
