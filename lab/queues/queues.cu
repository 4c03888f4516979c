// How the order of issue decides what overlaps: the courses' examples of streams on a device with one queue for kernels
// (Fermi) and with one for each stream (Hyper-Q), simulated by the rules that they give. Every operation takes whole
// units of time, and `makespan` is when the last one ends. --trace draws the examples.
//
//   queues [--size N] [--variant NAME] [--json] [--trace]        N: streams of the example with pairs, at most 32
#include "../common/output.hpp"
#include "examples.hpp"

namespace {

using namespace queues;

struct Context {
  explicit Context(const lab::Options& given) : options(given), n(static_cast<int>(given.size)) {}
  const lab::Options& options;
  int n;
};

void judge(lab::Measurement& row, int found, int expected) {
  row.result = std::to_string(found);
  row.verified = found == expected ? lab::Verified::yes : lab::Verified::no;
}

void simulate(lab::Measurement& row, const Device& device, const Operations& issued, int expected) {
  int found = 0;
  lab::timeCpuRounds(1, row, [] {}, [&] { found = makespan(device, issued); });
  judge(row, found, expected);
}

/// The best and the worst of all orders of issue on one queue.
void searchOrders(lab::Measurement& row, const std::vector<Operations>& streams, int best, int worst) {
  int least = 1 << 30;
  int most = 0;
  int orders = 0;
  lab::timeCpuRounds(
      1, row, [] {},
      [&] {
        forEachOrder(streams, [&](const Operations& order) {
          const int length = makespan(kFermi, order);
          least = std::min(least, length);
          most = std::max(most, length);
          ++orders;
        });
      });
  judge(row, least, best);
  if (most != worst) row.verified = lab::Verified::no;
  row.note = std::to_string(orders) + " orders of issue, the worst takes " + std::to_string(most);
}

void exampleAFirst(Context&, lab::Measurement& row) { simulate(row, kFermi, depthFirst(exampleA()), 5); }
void exampleASecond(Context&, lab::Measurement& row) {
  simulate(row, kFermi, inOrder(exampleA(), {"DH2", "HD1", "HD2", "K1", "DH1"}), 4);
}
void exampleCDepth(Context&, lab::Measurement& row) { simulate(row, kFermi, depthFirst(exampleC()), 3); }
void exampleCBreadth(Context&, lab::Measurement& row) { simulate(row, kFermi, breadthFirst(exampleC()), 2); }
void exampleDDepth(Context&, lab::Measurement& row) { simulate(row, kFermi, depthFirst(exampleD()), 5); }
void exampleDBreadth(Context&, lab::Measurement& row) { simulate(row, kFermi, breadthFirst(exampleD()), 4); }
void exampleDBest(Context&, lab::Measurement& row) {
  simulate(row, kFermi, inOrder(exampleD(), {"K1", "K3", "K4", "K2"}), 3);
}
/// With a queue for each stream any order is as good.
void exampleDQueues(Context&, lab::Measurement& row) {
  int most = 0;
  lab::timeCpuRounds(
      1, row, [] {},
      [&] {
        forEachOrder(exampleD(), [&](const Operations& order) { most = std::max(most, makespan(kHyperQ, order)); });
      });
  judge(row, most, 3);
}
void exampleEDepth(Context&, lab::Measurement& row) { simulate(row, kFermi, depthFirst(exampleE()), 5); }
void exampleEBreadth(Context&, lab::Measurement& row) { simulate(row, kFermi, breadthFirst(exampleE()), 5); }
void nineFermi(Context&, lab::Measurement& row) { simulate(row, kFermi, depthFirst(nineKernels()), 7); }
void nineBreadth(Context&, lab::Measurement& row) { simulate(row, kFermi, breadthFirst(nineKernels()), 3); }
void nineQueues(Context&, lab::Measurement& row) { simulate(row, kHyperQ, depthFirst(nineKernels()), 3); }
void pairsFermi(Context& c, lab::Measurement& row) {
  simulate(row, kFermi, depthFirst(pairs(c.n)), c.n == 0 ? 0 : c.n + 1);
}
void pairsQueues(Context& c, lab::Measurement& row) {
  simulate(row, kHyperQ, depthFirst(pairs(c.n)), c.n == 0 ? 0 : 2);
}
void grids16(Context&, lab::Measurement& row) { simulate(row, kFermi, depthFirst(singles(16)), 1); }
void grids17(Context&, lab::Measurement& row) { simulate(row, kFermi, depthFirst(singles(17)), 2); }
void streams32(Context&, lab::Measurement& row) { simulate(row, kHyperQ, depthFirst(pairs(32)), 2); }
void streams33(Context&, lab::Measurement& row) { simulate(row, {32, 128}, depthFirst(pairs(33)), 3); }
void ordersA(Context&, lab::Measurement& row) { searchOrders(row, exampleA(), 4, 5); }
void ordersC(Context&, lab::Measurement& row) { searchOrders(row, exampleC(), 2, 3); }
void ordersD(Context&, lab::Measurement& row) { searchOrders(row, exampleD(), 3, 5); }

const std::vector<lab::Variant<Context>> kVariants = {
    {"a_first", "sched.ex_a", "A: stream 1 first", true, exampleAFirst},
    {"b_second", "sched.ex_b", "B: the same, stream 2 first", true, exampleASecond},
    {"c_depth", "sched.ex_c", "C: kernels of half a device, depth first", true, exampleCDepth},
    {"c_breadth", "sched.ex_c", "C: breadth first", true, exampleCBreadth},
    {"d_depth", "sched.ex_d", "D: different durations, depth first", true, exampleDDepth},
    {"d_breadth", "sched.ex_d", "D: breadth first", true, exampleDBreadth},
    {"d_best", "sched.ex_d", "D: K1 K3 K4 K2", true, exampleDBest},
    {"d_queues", "sched.ex_d", "D: a queue for each stream, any order", true, exampleDQueues},
    {"e_depth", "sched.ex_e", "E: three streams, depth first", true, exampleEDepth},
    {"e_breadth", "sched.ex_e", "E: breadth first", true, exampleEBreadth},
    {"nine", "sched.gmu", "Nine kernels, one queue", true, nineFermi},
    {"nine_breadth", "sched.gmu", "Nine kernels, one queue, breadth first", true, nineBreadth},
    {"nine_queues", "sched.gmu", "Nine kernels, a queue for each stream", true, nineQueues},
    {"pairs", "sched.hyperq_ab", "Pairs of kernels, one queue", true, pairsFermi},
    {"pairs_queues", "sched.hyperq_ab", "Pairs of kernels, a queue for each stream", true, pairsQueues},
    {"grids_16", "sched.fermi_grids", "16 grids, of which 16 may run", true, grids16},
    {"grids_17", "sched.fermi_grids", "17 grids, of which 16 may run", true, grids17},
    {"streams_32", "sched.hyperq", "Pairs in 32 streams, 32 queues", true, streams32},
    {"streams_33", "sched.hyperq", "Pairs in 33 streams: two share a queue", true, streams33},
    {"orders_a", "sched.order_sensitivity", "The best order of A", true, ordersA},
    {"orders_c", "sched.order_sensitivity", "The best order of C", true, ordersC},
    {"orders_d", "sched.order_sensitivity", "The best order of D", true, ordersD},
};

/// What overlap needs, by taking one thing away at a time; then what two streams gain, and what they cannot.
void traceRequirements() {
  const Device none = {32, 32, 0}, one = {32, 32, 1};
  std::printf("four chunks, all that overlap needs: %d\n", makespan(kHyperQ, fourChunks(false, true)));
  std::printf("one engine for both directions:      %d\n", makespan(one, fourChunks(false, true)));
  std::printf("no engine for copies:                %d\n", makespan(none, fourChunks(false, true)));
  std::printf("one stream, or the default one:      %d\n", makespan(kHyperQ, fourChunks(true, true)));
  std::printf("memory that is not pinned:           %d\n", makespan(kHyperQ, fourChunks(false, false)));
  std::printf("100 chunks in one stream: %d, in two streams: %d\n", makespan(kHyperQ, manyChunks(100, 1)),
              makespan(kHyperQ, manyChunks(100, 2)));
  const Operations chain(12, kernel("K", 0));
  Operations apart;
  for (int k = 0; k < 12; ++k) apart.push_back(kernel("K", k));
  std::printf("12 kernels that need one another: %d in the default stream; 12 that do not: %d, and %d in 12 streams\n",
              makespan(kHyperQ, chain), makespan(kHyperQ, chain), makespan(kHyperQ, apart));
}

/// A line for each operation, its units of time marked.
void draw(const char* title, const Device& device, const Operations& issued) {
  const std::vector<Run> runs = Simulator(device, issued).run();
  std::printf("%s: %d\n", title, makespan(runs));
  for (std::size_t i = 0; i < issued.size(); ++i) {
    const std::size_t begin = static_cast<std::size_t>(runs[i].begin);
    const std::size_t end = static_cast<std::size_t>(runs[i].end);
    std::printf("  stream %d %-4s|%s%s%s|\n", issued[i].stream, issued[i].name.c_str(), std::string(begin, ' ').c_str(),
                std::string(end - begin, '#').c_str(),
                std::string(static_cast<std::size_t>(makespan(runs)) - end, ' ').c_str());
  }
}

/// Grids that may run at once: 16 (compute capability 2.x, 3.0), 32 (3.5, 5.x, 6.1), 128 (6.0, 7.0 and later).
int mostGrids(int major, int minor) {
  if (major >= 7 || (major == 6 && minor == 0)) return 128;
  if (major > 3 || (major == 3 && minor >= 5)) return 32;
  return 16;
}

void trace() {
  draw("A, stream 1 first", kFermi, depthFirst(exampleA()));
  draw("B, stream 2 first", kFermi, inOrder(exampleA(), {"DH2", "HD1", "HD2", "K1", "DH1"}));
  draw("C, depth first", kFermi, depthFirst(exampleC()));
  draw("C, breadth first", kFermi, breadthFirst(exampleC()));
  draw("D, depth first", kFermi, depthFirst(exampleD()));
  draw("D, K1 K3 K4 K2", kFermi, inOrder(exampleD(), {"K1", "K3", "K4", "K2"}));
  draw("E, depth first", kFermi, depthFirst(exampleE()));
  draw("nine kernels, one queue", kFermi, depthFirst(nineKernels()));
  draw("nine kernels, a queue for each stream", kHyperQ, depthFirst(nineKernels()));
  traceRequirements();
  std::printf("grids at once by compute capability: 2.0 %d, 3.0 %d, 3.5 %d, 5.2 %d, 6.0 %d, 6.1 %d, 7.0 %d\n",
              mostGrids(2, 0), mostGrids(3, 0), mostGrids(3, 5), mostGrids(5, 2), mostGrids(6, 0), mostGrids(6, 1),
              mostGrids(7, 0));
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 15;
  options.block = 1;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) {
    trace();
    return 0;
  }
  if (options.size > 32) lab::usageError("--size: at most 32 streams, as many as there are queues");
  lab::Output output("queues", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish();
}
