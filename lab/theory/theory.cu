// The ideas behind parallel programs, each as something that runs and is checked: Flynn's machines, the PRAM, processes
// and threads, tasks and messages, and what transfers between host and device cost. Steps are counted, not timed.
//
//   theory [--size N] [--variant NAME] [--rounds R] [--json] [--trace]        N: numbers
#include <numeric>

#include "../common/output.hpp"
#include "host.hpp"
#include "interleavings.hpp"
#include "machines.hpp"
#include "pram.hpp"
#include "scheduler.hpp"

namespace {

using namespace theory;

constexpr std::size_t kLargestSize = std::size_t{1} << 20;
constexpr unsigned kBlock = 256;

struct Context {
  explicit Context(const lab::Options& given) : options(given), numbers(given.size) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<long>(i * 7 % 13);
  }
  long sum() const { return std::accumulate(numbers.begin(), numbers.end(), 0L); }

  const lab::Options& options;
  Numbers numbers;
};

/// Runs `action` once, which says whether it was as it must be.
template <class Action>
void runOnce(lab::Measurement& row, Action action) {
  bool right = false;
  lab::timeCpuRounds(1, row, [] {}, [&] { right = action(); });
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
}

void steps(lab::Measurement& row, std::size_t count) { row.note = std::to_string(count) + " steps"; }

void runSisd(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    const Result result = sisd(straight(), c.numbers);
    steps(row, result.steps);
    bool right = result.steps == 2 * c.numbers.size();
    for (std::size_t i = 0; i < c.numbers.size(); ++i) right = right && result.numbers[i] == 2 * c.numbers[i] + 1;
    return right && classOf(false, false) == "SISD";
  });
}

void runSimd(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    const Result result = simd(straight(), c.numbers);
    steps(row, result.steps);
    return result.numbers == sisd(straight(), c.numbers).numbers && result.steps == 2 && classOf(false, true) == "SIMD";
  });
}

void runMisd(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    const Result result = misd({straight(), branching(), straight()}, 5);
    steps(row, result.steps);
    return c.options.size == c.numbers.size() && result.numbers == Numbers{11, 16, 11} && result.steps == 3 &&
           classOf(true, false) == "MISD";
  });
}

void runMimd(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    std::vector<Program> programs;
    for (std::size_t i = 0; i < c.numbers.size(); ++i) programs.push_back(i % 2 == 0 ? straight() : branching());
    const Result result = mimd(programs, c.numbers);
    steps(row, result.steps);
    bool right = result.steps <= 3 && classOf(true, true) == "MIMD";
    for (std::size_t i = 0; i < c.numbers.size(); ++i) {
      const long x = c.numbers[i];
      right = right && result.numbers[i] == (i % 2 == 0 ? 2 * x + 1 : branchingByHand(x));
    }
    return right;
  });
}

/// Threads with instruction counters of their own may branch by their data; strict SIMD must refuse.
void runSimt(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    const Result result = simt(branching(), c.numbers);
    steps(row, result.steps);
    bool right = simd(branching(), c.numbers).refused;
    for (std::size_t i = 0; i < c.numbers.size(); ++i) {
      right = right && result.numbers[i] == branchingByHand(c.numbers[i]);
    }
    const bool parts = c.numbers.size() >= 2;  // 0 and 7: an even and an odd number
    return right && (!parts || result.steps == branching().size());
  });
}

void runPramSum(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    std::size_t additions = 0;
    const Pram machine = pramSum(c.numbers, additions);
    const std::size_t n = c.numbers.size();
    steps(row, machine.steps());
    row.note += ", " + std::to_string(additions) + " additions";
    return (n == 0 || machine.cells()[0] == c.sum()) && machine.steps() == ceilLog2(n) && machine.conflicts() == 0 &&
           additions == (n == 0 ? 0 : n - 1);
  });
}

void runPramScan(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    const Pram machine = pramScan(c.numbers);
    Numbers expected(c.numbers.size());
    std::partial_sum(c.numbers.begin(), c.numbers.end(), expected.begin());
    steps(row, machine.steps());
    return machine.cells() == expected && machine.steps() == ceilLog2(c.numbers.size()) && machine.conflicts() == 0;
  });
}

void runPramConflicts(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    const std::size_t n = c.numbers.size();
    const int meets = n > 1 ? 1 : 0;
    const bool reads = pramBroadcast(Sharing::erew, n + 1).conflicts() == (n > 0 ? 1 : 0) &&
                       pramBroadcast(Sharing::crew, n + 1).conflicts() == 0;
    const bool writes = pramMeet(Sharing::erew, n).conflicts() == meets &&
                        pramMeet(Sharing::crew, n).conflicts() == meets && pramMeet(Sharing::crcw, n).conflicts() == 0;
    return reads && writes && (n == 0 || pramMeet(Sharing::crcw, n).cells()[0] == 100);
  });
}

/// N/P additions by each of P processors, then a tree over their sums.
void runCost(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    const std::size_t n = c.numbers.size();
    const std::size_t processors = 8;
    std::size_t additions = 0;
    std::size_t longest = 0;
    std::vector<long> sums;
    for (std::size_t p = 0; p < std::min(processors, n); ++p) {
      std::size_t own = 0;
      long sum = c.numbers[p];
      for (std::size_t i = p + processors; i < n; i += processors, ++own) sum += c.numbers[i];
      additions += own;
      longest = std::max(longest, own);
      sums.push_back(sum);
    }
    std::size_t inTree = 0;
    const Pram tree = pramSum(sums, inTree);
    row.note = std::to_string(longest) + " + " + std::to_string(tree.steps()) + " steps on 8 processors";
    return additions + inTree == (n == 0 ? 0 : n - 1) && longest + tree.steps() <= n / processors + 4 &&
           (n == 0 || tree.cells()[0] == c.sum());
  });
}

void runTaskGraph(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    long evens = 0, odds = 0, sum = 0, twice = 0;
    const auto every = [&](std::size_t first, long& into) {
      for (std::size_t i = first; i < c.numbers.size(); i += 2) into += c.numbers[i];
    };
    // The last one is listed first and must wait all the same.
    const std::vector<std::size_t> order = runTasks(
        {[&] { twice = 2 * sum; }, [&] { sum = evens + odds; }, [&] { every(0, evens); }, [&] { every(1, odds); }},
        {{1}, {2, 3}, {}, {}});
    long unrolled[4] = {0, 0, 0, 0};  // four additions that do not wait for each other
    for (std::size_t i = 0; i < c.numbers.size(); ++i) unrolled[i % 4] += c.numbers[i];
    const long independent = unrolled[0] + unrolled[1] + unrolled[2] + unrolled[3];
    return twice == 2 * c.sum() && order.size() == 4 && order[2] == 1 && order[3] == 0 && independent == c.sum() &&
           simd(straight(), c.numbers).numbers == sisd(straight(), c.numbers).numbers;
  });
}

void runModels(Context& c, lab::Measurement& row) {
  runOnce(row, [&] { return sumShared(c.numbers) == c.sum() && sumByMessages(c.numbers) == c.sum(); });
}

void runProcess(Context&, lab::Measurement& row) {
  runOnce(row, [&] {
    const Seen seen = writeInChildProcess(1, 42);
    row.note = "the child sees " + std::to_string(seen.byChild) + ", the parent " + std::to_string(seen.byParent);
    return seen.byChild == 42 && seen.byParent == 1;
  });
}

void runThread(Context&, lab::Measurement& row) {
  runOnce(row, [&] { return writeInThread(1, 42) == 42; });
}

/// Of 25 changes six are legal; a small scheduler with two threads, one of which waits, makes only such.
void runStates(Context&, lab::Measurement& row) {
  runOnce(row, [&] {
    const State all[] = {State::created, State::executable, State::running, State::waiting, State::finished};
    int legal = 0;
    for (const State from : all) {
      for (const State to : all) legal += ThreadControl::mayChange(from, to) ? 1 : 0;
    }
    ThreadControl a, b;
    bool right = !a.change(State::running);
    for (ThreadControl* thread : {&a, &b}) right = right && thread->change(State::executable);
    right = right && a.change(State::running) && a.change(State::waiting) && b.change(State::running);
    right = right && !a.change(State::running) && b.change(State::finished) && !b.change(State::executable);
    right = right && a.change(State::executable) && a.change(State::running) && a.change(State::finished);
    row.note = std::to_string(legal) + " legal changes";
    return right && legal == 6;
  });
}

void runFalseSharing(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    const std::size_t rounds = c.numbers.size();
    const std::size_t packed = invalidations(4, rounds, 8);
    const std::size_t apart = invalidations(4, rounds, 64);
    row.note =
        std::to_string(packed) + " lines invalidated, " + std::to_string(apart) + " where counters are 64 bytes apart";
    return packed == (rounds == 0 ? 0 : 4 * rounds - 1) && apart == 0;
  });
}

/// Of the 70 orders of two times four steps only those are right in which one thread stores before the other loads: the
/// other may have its index before that, at five places, and either may be first.
void runInterleavings(Context&, lab::Measurement& row) {
  runOnce(row, [&] {
    Outcomes plain, atomic;
    tryOrders(plainIncrement(), 0, 0, {}, plain);
    tryOrders(atomicIncrement(), 0, 0, {}, atomic);
    row.note = std::to_string(plain.lost) + " of " + std::to_string(plain.orders) + " orders lose an increment, " +
               std::to_string(atomic.lost) + " of " + std::to_string(atomic.orders) + " with atomics";
    return plain.orders == 70 && plain.lost == 60 && atomic.orders == 6 && atomic.lost == 0 && !plain.impossible &&
           !atomic.impossible;
  });
}

__global__ void theoryAdd(const long* in, long* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 3;
}
__global__ void theoryMultiply(const long* in, long* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * 5;
}

/// Copies that are counted.
struct Link {
  void copy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) {
    if (size == 0) return;
    LAB_CHECK(cudaMemcpy(to, from, size, kind));
    bytes += size;
    ++copies;
  }
  /// With 10 microseconds for each copy and 12 bytes in a nanosecond.
  double microseconds() const { return 10.0 * static_cast<double>(copies) + static_cast<double>(bytes) / 12000; }
  std::size_t bytes = 0;
  std::size_t copies = 0;
};

/// Two kernels, the second on what the first has made, which goes by the host or stays.
Link twoStages(Context& c, bool byHost, Numbers& result) {
  const std::size_t size = c.numbers.size() * sizeof(long);
  const auto n = static_cast<unsigned>(c.numbers.size());
  lab::DeviceArray<long> input(n), middle(n), output(n);
  Link link;
  link.copy(input.get(), c.numbers.data(), size, cudaMemcpyHostToDevice);
  if (n > 0) theoryAdd<<<lab::ceilDiv(n, kBlock), kBlock>>>(input.get(), middle.get(), n);
  if (n > 0) lab::launched("theoryAdd");
  if (byHost) {
    Numbers between(n);
    link.copy(between.data(), middle.get(), size, cudaMemcpyDeviceToHost);
    link.copy(middle.get(), between.data(), size, cudaMemcpyHostToDevice);
  }
  if (n > 0) theoryMultiply<<<lab::ceilDiv(n, kBlock), kBlock>>>(middle.get(), output.get(), n);
  if (n > 0) lab::launched("theoryMultiply");
  result.assign(n, 0);
  link.copy(result.data(), output.get(), size, cudaMemcpyDeviceToHost);
  return link;
}

void runIntermediate(Context& c, lab::Measurement& row) {
  row.kernel = "theory";
  const int before = lab::launchCounter();
  runOnce(row, [&] {
    Numbers kept, byHost, expected;
    const Link stays = twoStages(c, false, kept);
    const Link goes = twoStages(c, true, byHost);
    for (const long number : c.numbers) expected.push_back((number + 3) * 5);
    const std::size_t size = c.numbers.size() * sizeof(long);
    row.note = std::to_string(stays.bytes) + " bytes copied instead of " + std::to_string(goes.bytes);
    return kept == expected && byHost == expected && stays.bytes == 2 * size && goes.bytes == 4 * size;
  });
  row.launchFirst = before;
  row.launchCount = lab::launchCounter() - before;
}

/// One large copy, or eight small ones: the same bytes, but seven times more what a copy costs whatever its size.
void runBatch(Context& c, lab::Measurement& row) {
  runOnce(row, [&] {
    const std::size_t n = c.numbers.size();
    lab::DeviceArray<long> device(n);
    Numbers back(n);
    Link one, many;
    one.copy(device.get(), c.numbers.data(), n * sizeof(long), cudaMemcpyHostToDevice);
    device.clear();
    for (std::size_t k = 0; k < 8; ++k) {
      const std::size_t begin = n * k / 8;
      many.copy(device.get() + begin, c.numbers.data() + begin, (n * (k + 1) / 8 - begin) * sizeof(long),
                cudaMemcpyHostToDevice);
    }
    device.download(back.data(), n);
    char note[80];
    std::snprintf(note, sizeof note, "modelled: %.1f us, and %.1f us in parts", one.microseconds(),
                  many.microseconds());
    row.note = note;
    const double more = many.microseconds() - one.microseconds();
    return back == c.numbers && one.bytes == many.bytes && (n < 8 || (many.copies == 8 && std::abs(more - 70) < 1e-6));
  });
}

/// Warps and blocks come in any order: a neighbour in the warp has always written, one in the block after a barrier,
/// and nothing of a block helps against other blocks.
void runLevels(Context&, lab::Measurement& row) {
  runOnce(row, [&] {
    constexpr int kSchedules = 1000;
    const int inWarp = rightSchedules(Neighbour::inWarp, false, kSchedules);
    const int inBlock = rightSchedules(Neighbour::inBlock, false, kSchedules);
    const int behindBarrier = rightSchedules(Neighbour::inBlock, true, kSchedules);
    const int inGrid = rightSchedules(Neighbour::inGrid, true, kSchedules);
    row.note = "of 1000 orders right: in a warp " + std::to_string(inWarp) + ", in a block " + std::to_string(inBlock) +
               ", behind a barrier " + std::to_string(behindBarrier) + ", across blocks " + std::to_string(inGrid);
    auto isChance = [](int right) { return right > 0 && right < kSchedules; };
    return inWarp == kSchedules && behindBarrier == kSchedules && isChance(inBlock) && isChance(inGrid);
  });
}

/// With results after 20 cycles, more warps give more until there are 20; one thread, as a processor of the host has
/// it, stays at a twentieth however long it runs. In every cycle each warp is in one of the three states.
void runScheduler(Context&, lab::Measurement& row) {
  runOnce(row, [&] {
    const WarpCode code = {1, 20, 20};
    bool right = true;
    double before = 0;
    for (int warps = 1; warps <= 40; ++warps) {
      const SchedulerCounts counts = schedule(warps, code);
      right = right && counts.isInOrder && counts.selected + counts.eligible + counts.stalled == warps * counts.cycles;
      right = right && std::abs(counts.throughput() - std::min(1.0, warps / 20.0)) < 1e-3;
      right = right && counts.throughput() >= before;
      before = counts.throughput();
    }
    const double alone = schedule(1, code).throughput();
    char note[80];
    std::snprintf(note, sizeof note, "instructions in a cycle: 1 warp %.2f, 10 %.2f, 20 %.2f", alone,
                  schedule(10, code).throughput(), schedule(20, code).throughput());
    row.note = note;
    return right;
  });
}

/// As many warps as the latency has issue slots: 20 for 20 cycles, and for 400 cycles of memory as many fewer as there
/// are instructions for each load.
void runHiding(Context&, lab::Measurement& row) {
  runOnce(row, [&] {
    const int arithmetic = warpsNeeded({1, 20, 20}), each = warpsNeeded({1, 400, 1}), tenth = warpsNeeded({10, 400, 1});
    row.note = "warps needed: " + std::to_string(arithmetic) + " for 20 cycles, " + std::to_string(each) +
               " for 400, " + std::to_string(tenth) + " if every tenth instruction is a load";
    return arithmetic == 20 && std::abs(each - 400) <= 2 && std::abs(tenth - 40) <= 1;
  });
}

/// To change the warp costs nothing; if it cost a cycle, half of all would be lost. How many warps there are to choose
/// from follows from the registers and the shared memory that each keeps.
void runContext(Context&, lab::Measurement& row) {
  runOnce(row, [&] {
    auto resident = [](int registers, int sharedForEach) {
      const int byRegisters = 65536 / (32 * registers);
      return std::min({64, byRegisters, sharedForEach == 0 ? 64 : 49152 / sharedForEach}) / 4;  // four schedulers
    };
    const WarpCode code = {1, 20, 20};
    const double free = schedule(40, code).throughput(), costly = schedule(40, code, 1).throughput();
    const double many = schedule(resident(32, 0), code).throughput();
    const double byRegisters = schedule(resident(128, 0), code).throughput();
    const double byShared = schedule(resident(32, 6144), code).throughput();
    char note[120];
    std::snprintf(note, sizeof note,
                  "16 warps %.2f, 4 by registers %.2f, 2 by shared memory %.2f; a cycle to change: %.2f", many,
                  byRegisters, byShared, costly);
    row.note = note;
    return free > 0.999 && std::abs(costly - 0.5) < 1e-3 && std::abs(many - 0.8) < 1e-3 &&
           std::abs(byRegisters - 0.2) < 1e-3 && std::abs(byShared - 0.1) < 1e-3;
  });
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"sisd", "th.flynn", "One unit, one number after the other", true, runSisd},
    {"simd", "th.flynn", "One program, a lane for each number", true, runSimd},
    {"misd", "th.flynn", "Three programs on one number", true, runMisd},
    {"mimd", "th.flynn", "A program for each number", true, runMimd},
    {"simt", "th.simt", "Lanes with instruction counters", true, runSimt},
    {"pram_sum", "th.pram", "A sum on a PRAM", true, runPramSum},
    {"pram_scan", "th.pram", "Horn's scan on a PRAM", true, runPramScan},
    {"pram_conflicts", "th.pram", "Accesses that meet, by kind of PRAM", true, runPramConflicts},
    {"cost", "th.reduction_complexity", "Additions and steps on 8 processors", true, runCost},
    {"kinds", "th.parallelism_kinds", "Data, tasks and instructions in parallel", true, runTaskGraph},
    {"models", "th.programming_model", "Shared variables, and messages", true, runModels},
    {"process", "th.unix_process", "A variable that a child process sets", true, runProcess},
    {"thread", "th.unix_thread", "A variable that a thread sets", true, runThread},
    {"states", "th.thread_states", "The states of a thread", true, runStates},
    {"false_sharing", "th.false_sharing", "Counters that share a cache line", true, runFalseSharing},
    {"interleavings", "at.rmw", "All orders of two increments", true, runInterleavings},
    {"levels", "st.sync_levels_exec", "Neighbours in a warp, a block and a grid", true, runLevels},
    {"scheduler", "mm.warp_scheduler", "A scheduler with 1 to 40 warps", true, runScheduler},
    {"hiding", "mm.latency_hiding", "Warps that hide a latency", true, runHiding},
    {"context", "mm.warp_context", "What a resident warp keeps", true, runContext},
    {"intermediate", "th.intermediate_on_gpu", "Intermediate results that stay", true, runIntermediate},
    {"batch", "xfer.batch", "One large copy instead of eight", true, runBatch},
};

/// The five rules of thumb for a launch, on a multiprocessor of the device.
void advise(const char* title, unsigned grid, unsigned block, unsigned registers, unsigned shared) {
  cudaDeviceProp p;
  LAB_CHECK(cudaGetDeviceProperties(&p, 0));
  const double perProcessor = static_cast<double>(grid) / p.multiProcessorCount;
  const bool half = 2 * registers * block <= static_cast<unsigned>(p.regsPerMultiprocessor) &&
                    2 * static_cast<std::size_t>(shared) <= p.sharedMemPerMultiprocessor;
  const bool rules[] = {block % 32 == 0, perProcessor > 1, perProcessor > 4, half, grid > 1000};
  std::printf(
      "%s: whole warps %s, every multiprocessor %s, more than 4 blocks each %s, half of its room %s, "
      "more than 1000 blocks %s\n",
      title, rules[0] ? "yes" : "no", rules[1] ? "yes" : "no", rules[2] ? "yes" : "no", rules[3] ? "yes" : "no",
      rules[4] ? "yes" : "no");
}

int trace() {
  advise("10000 blocks of 256 threads, 32 registers, 8 KB", 10000, 256, 32, 8192);
  advise("16 blocks of 100 threads, 32 registers, 8 KB", 16, 100, 32, 8192);
  advise("2000 blocks of 1024 threads, 48 registers, 8 KB", 2000, 1024, 48, 8192);
  std::printf("GTX 1060, 1280 units at 1.7085 GHz, 120 W: %.1f GFLOP/s for each watt\n", 2 * 1280 * 1.7085 / 120);
  std::printf("i7-7700K, 4 cores with 32 operations in a cycle at 4.2 GHz, 91 W: %.1f GFLOP/s for each watt\n",
              4 * 32 * 4.2 / 91);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 1000;
  options.block = kBlock;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) return trace();
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^20 numbers");
  lab::Output output("theory", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish();
}
