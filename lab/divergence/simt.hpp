// A warp of 32 lanes, simulated, in the two ways that GPUs have run one.
//
// Together (before Volta): one program counter for the warp and a stack. A branch whose lanes part pushes the place
// where they meet again, then one entry for each way with the lanes that go it; the top entry runs until it reaches its
// meeting place and is popped.
//
// Independent (since Volta): each lane has a program counter of its own, and any schedule is allowed in which every
// lane goes on in the end. Here the unkindest one: a lane runs alone for as long as it can. Only a synchronisation that
// names the lanes makes them wait for each other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace simt {

constexpr int kLanes = 32;
constexpr std::uint32_t kAll = 0xffffffff;

struct Warp {
  int shared[2 * kLanes] = {};
  int own[kLanes] = {};  // a register of each lane
};

struct Instruction {
  enum class Kind { work, branch, jump, sync };
  std::string name;
  Kind kind = Kind::work;
  std::size_t target = 0;                          // of a jump, and of a branch for the lanes whose condition is false
  std::size_t meet = 0;                            // where the ways of a branch join
  std::function<void(Warp&, int lane)> work = {};  // may be empty: only its slot counts
  std::function<bool(int lane)> condition = {};
  std::uint32_t named = kAll;  // by a synchronisation
};

using Program = std::vector<Instruction>;

/// An issue slot: an instruction for the lanes that execute it together.
struct Slot {
  std::string name;
  std::uint32_t lanes;
};

inline void execute(const Instruction& instruction, Warp& warp, std::uint32_t lanes) {
  if (!instruction.work) return;
  for (int lane = 0; lane < kLanes; ++lane)
    if (lanes >> lane & 1u) instruction.work(warp, lane);
}

inline std::uint32_t lanesWhere(const Instruction& branch, std::uint32_t lanes) {
  std::uint32_t taken = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    if ((lanes >> lane & 1u) && branch.condition(lane)) taken |= 1u << lane;
  return taken;
}

inline std::vector<Slot> runTogether(const Program& program, Warp& warp) {
  struct Entry {
    std::size_t at, until;
    std::uint32_t lanes;
  };
  std::vector<Slot> slots;
  std::vector<Entry> stack = {{0, program.size(), kAll}};
  while (!stack.empty()) {
    Entry& top = stack.back();
    if (top.at == top.until) {
      stack.pop_back();
      continue;
    }
    const Instruction& next = program[top.at];
    slots.push_back({next.name, top.lanes});
    execute(next, warp, top.lanes);
    if (next.kind == Instruction::Kind::jump) {
      top.at = next.target;
    } else if (next.kind == Instruction::Kind::branch) {
      const std::uint32_t yes = lanesWhere(next, top.lanes), no = top.lanes & ~yes;
      const std::size_t then = top.at + 1;
      top.at = next.meet;  // goes on there with all of its lanes
      if (no != 0) stack.push_back({next.target, next.meet, no});
      if (yes != 0) stack.push_back({then, next.meet, yes});
    } else {
      ++top.at;
    }
  }
  return slots;
}

inline std::vector<Slot> runIndependent(const Program& program, Warp& warp) {
  std::vector<Slot> slots;
  std::vector<std::size_t> at(kLanes, 0);
  std::vector<bool> waits(kLanes, false);
  // Those that a synchronisation names go on when all of them have come.
  const auto release = [&](std::size_t place, std::uint32_t named) {
    for (int lane = 0; lane < kLanes; ++lane)
      if ((named >> lane & 1u) && !(waits[lane] && at[lane] == place)) return;
    slots.push_back({program[place].name, named});
    for (int lane = 0; lane < kLanes; ++lane)
      if (named >> lane & 1u) waits[lane] = false, ++at[lane];
  };
  for (bool went = true; went;) {
    went = false;
    for (int lane = 0; lane < kLanes; ++lane) {
      while (!waits[lane] && at[lane] < program.size()) {
        went = true;
        const Instruction& next = program[at[lane]];
        if (next.kind == Instruction::Kind::sync) {
          waits[lane] = true;
          release(at[lane], next.named);
          break;
        }
        slots.push_back({next.name, 1u << lane});
        execute(next, warp, 1u << lane);
        const bool leaves =
            next.kind == Instruction::Kind::jump || (next.kind == Instruction::Kind::branch && !next.condition(lane));
        at[lane] = leaves ? next.target : at[lane] + 1;
      }
    }
  }
  return slots;
}

// ------------------------------------------------------------------------------------------------ the programs

/// if (condition) {I1 I2 I3} else {I4 I5} I6, with two instructions that compute the condition.
inline Program ifElse(std::function<bool(int)> condition) {
  using Kind = Instruction::Kind;
  Program program = {{"C1"}, {"C2"}, {"B"}, {"I1"}, {"I2"}, {"I3"}, {"J"}, {"I4"}, {"I5"}, {"I6"}};
  program[2].kind = Kind::branch;
  program[2].condition = std::move(condition);
  program[2].target = 7;
  program[2].meet = 9;
  program[6].kind = Kind::jump;
  program[6].target = 9;
  return program;
}

/// The last steps of a reduction as one warp does them: x[l] += x[l + 16], then 8, 4, 2, 1. Each addition is a load
/// into a register and a store.
inline Program lastWarp(bool synchronises) {
  Program program;
  const auto sync = [&] {
    if (synchronises) program.push_back({"sync", Instruction::Kind::sync});
  };
  for (int distance = 16; distance > 0; distance /= 2) {
    program.push_back({"load", Instruction::Kind::work, 0, 0,
                       [distance](Warp& w, int lane) { w.own[lane] = w.shared[lane] + w.shared[lane + distance]; }});
    sync();
    program.push_back(
        {"store", Instruction::Kind::work, 0, 0, [](Warp& w, int lane) { w.shared[lane] = w.own[lane]; }});
    sync();
  }
  return program;
}

}  // namespace simt
