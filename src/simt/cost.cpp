// See cost.hpp.
#include "simt/cost.hpp"

#include <fmt/format.h>

namespace ordito::simt {
namespace {

struct Level {
  std::string_view name;
  Processor processor;
};

constexpr Level kLevels[] = {
    {"x86-64", {.avx2 = false, .avx512 = false}},
    {"x86-64-v2", {.avx2 = false, .avx512 = false}},
    {"x86-64-v3", {.avx2 = true, .avx512 = false}},
    {"x86-64-v4", {.avx2 = true, .avx512 = true}},
};

constexpr Limit kLimits[] = {
    {"cache-line", cost::kCacheLine},
    {"small-kernel", cost::kSmallKernel},
    {"most-copies", cost::kMostCopies},
    {"longest-version", cost::kLongestVersion},
    {"few-blocks", cost::kFewBlocks},
    {"most-assumptions", cost::kMostAssumptions},
    {"large-kernel", cost::kLargeKernel},
    {"most-contiguity-tests", cost::kMostContiguityTests},
    {"traced-definitions", cost::kTracedDefinitions},
    {"most-warps", cost::kMostWarps},
    {"most-kept-warps", cost::kMostKeptWarps},
    {"many-streams", cost::kManyStreams},
    {"sharing-warps", cost::kSharingWarps},
    {"short-loop", cost::kShortLoop},
    {"column-warps", cost::kColumnWarps},
    {"longest-tile", cost::kLongestTile},
    {"scattered-access", cost::kScatteredAccess},
    {"vector-access", cost::kVectorAccess},
    {"scalar-access", cost::kScalarAccess},
    {"vector-operation", cost::kVectorOperation},
    {"scalar-operation", cost::kScalarOperation},
    {"long-operation", cost::kLongOperation},
    {"masked-branch", cost::kMaskedBranch},
    {"wrong-guess", cost::kWrongGuess},
    {"guesses", cost::kGuesses},
    {"inner-iterations", cost::kInnerIterations},
    {"busy-lanes", cost::kBusyLanes},
    {"stretch-call", cost::kStretchCall},
    {"close-call", cost::kCloseCall},
    {"most-counted-blocks", cost::kMostCountedBlocks},
    {"most-counted-accesses", cost::kMostCountedAccesses},
    {"least-counted-accesses", cost::kLeastCountedAccesses},
    {"walked-bytes", cost::kWalkedBytes},
    {"prefetched-iterations", cost::kPrefetchedIterations},
    {"prefetched-cache", cost::kPrefetchedCache},
    {"prefetched-bytes", cost::kPrefetchedBytes},
    {"next-block-bytes", cost::kNextBlockBytes},
    {"long-run", cost::kLongRun},
    {"window-vectors", cost::kWindowVectors},
    {"merged-words", cost::kMergedWords},
    {"structure-bytes", cost::kStructureBytes},
    {"small-members", cost::kSmallMembers},
    {"rematerialised-steps", cost::kRematerialisedSteps},
    {"packed-spill", cost::kPackedSpill},
    {"most-privatised", cost::kMostPrivatised},
    {"privatised-room", cost::kPrivatisedRoom},
    {"fewest-privatised-copies", cost::kFewestPrivatised},
    {"most-privatised-copies", cost::kMostPrivatisedCopies},
    {"most-combined", cost::kMostCombined},
    {"combined-piece", cost::kCombinedPiece},
    {"worth-combining", cost::kWorthCombining},
    {"few-times-little", cost::kFewTimesLittle},
    {"most-times-little", cost::kMostTimesLittle},
};

}  // namespace

const Processor* processorNamed(std::string_view level) {
  for (const Level& l : kLevels)
    if (l.name == level) return &l.processor;
  return nullptr;
}

std::string processorNames() {
  std::string names;
  for (const Level& l : kLevels) names += fmt::format("{}{}", names.empty() ? "" : ", ", l.name);
  return names;
}

std::span<const Limit> limits() { return kLimits; }

std::string printCost(const Processor& p) {
  std::string text = fmt::format("vectors: {}\ncarried-registers: {}\nregisters-per-warp: {}\nmost-rows: {}\n",
                                 p.avx512 ? "avx512"
                                 : p.avx2 ? "avx2"
                                          : "sse2",
                                 cost::carriedRegisters(p), cost::registersPerWarp(p), cost::mostRows(p));
  for (const Limit& limit : limits()) text += fmt::format("{}: {}\n", limit.name, limit.value);
  return text;
}

}  // namespace ordito::simt
