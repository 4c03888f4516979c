// See initialisation.hpp.
#include "check/initialisation.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "check/launch.hpp"
#include "check/races.hpp"
#include "machine/undefined.hpp"

namespace ordito::check {

using machine::AccessSpace;
using machine::RowsEvent;
using machine::UndefinedEvent;
using machine::undefinedMemory;
using machine::UndefinedMemory;
using Run = UndefinedMemory::Run;

namespace {

/// No hole between two members of a struct is as large: the strictest alignment of CUDA's types is 16 bytes.
constexpr uint64_t kNoHole = 16;

constexpr const char* kUses[] = {"decides which instructions a thread executes", "is used as an address",
                                 "goes into a result in global memory", "is taken by an atomic operation"};

/// Do they follow each other at one distance, with one length, as the holes of an array of structs do?
bool areHoles(const std::vector<Run>& runs) {
  if (runs.size() < 2) return false;
  const uint64_t distance = runs[1].offset - runs[0].offset;
  for (size_t i = 1; i < runs.size(); ++i)
    if (runs[i].bytes != runs[0].bytes || runs[i].offset - runs[i - 1].offset != distance) return false;
  return true;
}

/// Is this a row of `bytes` bytes of which some should have been written? A hole is smaller than the member behind it,
/// which is written as a whole: what is as large as the widest write is none.
const Run* missing(const std::vector<Run>& runs, uint64_t bytes, uint32_t widest) {
  const auto large = std::ranges::find_if(runs, [&](const Run& r) { return r.bytes >= kNoHole || r.bytes == bytes; });
  if (large != runs.end()) return &*large;
  if (runs.size() != 1 || areHoles(runs)) return nullptr;
  return runs[0].bytes >= widest && widest > 0 ? runs.data() : nullptr;
}

/// Is it memory of the host alone?
bool isHosts(uint64_t address) {
  const auto allocation = machine::allocations().find(address);
  return !allocation || !allocation->isOnDevice();
}

void judgeRow(uint64_t from, uint64_t bytes, const std::optional<CallSite>& call, Findings& findings) {
  const std::vector<Run> runs = undefinedMemory()->runs(from, bytes);
  const Run* first = missing(runs, bytes, undefinedMemory()->widestWrite(from, bytes));
  if (!first) return;
  uint64_t total = 0;
  for (const Run& r : runs) total += r.bytes;
  findings.add({Rule::UninitialisedCopy, fmt::format("{}", bytes), 0, 0}, [&] {
    Finding f;
    f.rule = Rule::UninitialisedCopy;
    f.message = fmt::format("a copy to the host of {} bytes, of which nobody has written {}", bytes, total);
    f.object = fmt::format("the first is {}", machine::describeAddress(from + first->offset));
    f.call = call;
    return f;
  });
}

}  // namespace

/// Variables of modules begin with zeros or what the program says; what the host can write is not followed.
void Initialisation::allocated(const machine::Allocation& a) {
  if (a.kind == machine::MemoryKind::Heap || (a.kind == machine::MemoryKind::Device && !a.isModules))
    undefinedMemory()->undefine(a.address, a.bytes);
  else
    undefinedMemory()->define(a.address, a.bytes);
}

void Initialisation::freed(const machine::Allocation& a) { undefinedMemory()->define(a.address, a.bytes); }

void Initialisation::rowsMove(const RowsEvent& e, const std::optional<CallSite>& call, Findings& findings) {
  const bool isFill = e.from.base == 0, isToHost = !isFill && isHosts(e.to.base),
             isFromHost = !isFill && isHosts(e.from.base);
  const bool isFlat = e.depth == 1 && (e.height == 1 || (e.to.pitch == e.width && (isFill || e.from.pitch == e.width)));
  const uint64_t width = isFlat ? e.width * e.height : e.width, height = isFlat ? 1 : e.height;
  for (uint64_t z = 0; z < e.depth; ++z)
    for (uint64_t y = 0; y < height; ++y) {
      const uint64_t to = e.to.base + z * e.to.slice + y * e.to.pitch;
      const uint64_t from = e.from.base + z * e.from.slice + y * e.from.pitch;
      if (isToHost && !isFromHost) judgeRow(from, width, call, findings);
      if (isFill || isFromHost)
        undefinedMemory()->define(to, width);
      else if (!isToHost)
        undefinedMemory()->copy(to, from, width);
    }
}

void Initialisation::used(const Launch& launch, const UndefinedEvent& use, Findings& findings) {
  findings.add(launch.key(Rule::Uninitialised, {use.readIn, use.readLine}, {&use.at.function, use.at.line}), [&] {
    Finding f = launch.finding(Rule::Uninitialised);
    const uint64_t block = numberOf(use.at.frame);
    const uint32_t thread = use.at.warp * machine::kWarpSize + static_cast<uint32_t>(__builtin_ctz(use.at.lanes));
    f.message = fmt::format("a value that nobody has written {}", kUses[static_cast<size_t>(use.use)]);
    f.sides = {launch.side(*use.readIn, use.readLine, block, thread, "read", use.readBytes)};
    if (use.readLine != use.at.line || use.readIn != &use.at.function)
      f.sides.push_back(launch.side(use.at.function, use.at.line, block, thread, "use", use.readBytes));
    if (use.space == AccessSpace::Shared) {
      f.object = launch.describeShared(use.at, use.address);
    } else if (use.space == AccessSpace::Local) {
      f.object = "a variable in local memory";
    } else if (use.space == AccessSpace::Parameter) {
      f.object = "an argument or a result of a function";
    } else {
      f.object = Launch::describe(use.address);
    }
    return f;
  });
}

}  // namespace ordito::check
