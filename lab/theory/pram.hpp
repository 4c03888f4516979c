// The parallel random access machine, a computational model: processors in step on one memory. In a step each processor
// that takes part reads at most one cell, computes with what it owns, and writes at most one cell; all reads come
// before all writes. Which accesses may meet in a cell is the machine's kind: exclusive read and write (EREW),
// concurrent read (CREW), concurrent read and write (CRCW), where the lowest processor wins.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace theory {

enum class Sharing { erew, crew, crcw };

class Pram {
 public:
  Pram(Sharing sharing, std::vector<long> cells) : sharing_(sharing), cells_(std::move(cells)) {}

  struct Write {
    std::size_t cell;
    long value;
  };
  using Read = std::function<std::optional<std::size_t>(std::size_t processor)>;
  using Compute = std::function<std::optional<Write>(std::size_t processor, long read)>;

  void step(std::size_t processors, const Read& read, const Compute& compute) {
    std::map<std::size_t, int> reads;
    std::map<std::size_t, int> writes;
    std::vector<Write> pending;
    for (std::size_t p = 0; p < processors; ++p) {
      const std::optional<std::size_t> cell = read(p);
      if (cell && ++reads[*cell] == 2 && sharing_ == Sharing::erew) ++conflicts_;
      const std::optional<Write> write = compute(p, cell ? cells_[*cell] : 0);
      if (!write) continue;
      if (++writes[write->cell] == 2 && sharing_ != Sharing::crcw) ++conflicts_;
      if (writes[write->cell] == 1) pending.push_back(*write);
    }
    for (const Write& write : pending) cells_[write.cell] = write.value;
    ++steps_;
  }

  const std::vector<long>& cells() const { return cells_; }
  std::size_t steps() const { return steps_; }
  int conflicts() const { return conflicts_; }

 private:
  Sharing sharing_;
  std::vector<long> cells_;
  std::size_t steps_ = 0;
  int conflicts_ = 0;
};

inline std::size_t ceilLog2(std::size_t n) {
  std::size_t log = 0;
  while ((std::size_t{1} << log) < n) ++log;
  return log;
}

/// A tree: of `width` cells that are left, the upper half is added to the lower one. Processor i owns the sum in cell
/// i. Counts the additions.
inline Pram pramSum(const std::vector<long>& input, std::size_t& additions) {
  Pram machine(Sharing::erew, input);
  std::vector<long> own = input;
  additions = 0;
  for (std::size_t width = input.size(); width > 1; width = (width + 1) / 2) {
    const std::size_t half = (width + 1) / 2;
    machine.step(
        width - half, [&](std::size_t p) { return std::optional(p + half); },
        [&](std::size_t p, long read) {
          ++additions;
          own[p] += read;
          return std::optional(Pram::Write{p, own[p]});
        });
  }
  return machine;
}

/// Horn's scan: in step d processor i adds what is 2^d cells before its own.
inline Pram pramScan(const std::vector<long>& input) {
  Pram machine(Sharing::erew, input);
  std::vector<long> own = input;
  for (std::size_t distance = 1; distance < input.size(); distance *= 2) {
    machine.step(
        input.size(), [&](std::size_t p) { return p < distance ? std::nullopt : std::optional(p - distance); },
        [&](std::size_t p, long read) -> std::optional<Pram::Write> {
          if (p < distance) return std::nullopt;
          own[p] += read;
          return Pram::Write{p, own[p]};
        });
  }
  return machine;
}

/// Everybody reads cell 0 and copies it into a cell of its own.
inline Pram pramBroadcast(Sharing sharing, std::size_t n) {
  Pram machine(sharing, std::vector<long>(n, 0));
  machine.step(
      n, [](std::size_t) { return std::optional<std::size_t>(0); },
      [](std::size_t p, long read) { return std::optional(Pram::Write{p, read}); });
  return machine;
}

/// Everybody writes its number into cell 0.
inline Pram pramMeet(Sharing sharing, std::size_t n) {
  Pram machine(sharing, std::vector<long>(n, 0));
  machine.step(
      n, [](std::size_t) { return std::optional<std::size_t>(); },
      [](std::size_t p, long) { return std::optional(Pram::Write{0, static_cast<long>(p) + 100}); });
  return machine;
}

}  // namespace theory
