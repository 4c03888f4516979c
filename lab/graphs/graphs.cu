// Graphs on the device: colouring by Jones and Plassmann, Luby's maximal independent set, breadth-first search and
// connected components, against greedy and sequential algorithms on the host. A result is judged by what makes it right
// (no two neighbours alike, nothing to add), not by being the host's. --trace shows what depends on the order, and that
// maximal is not maximum.
//
//   graphs [--size N] [--variant NAME] [--rounds R] [--json] [--trace]        N: vertices
#include <cmath>

#include "../common/output.hpp"
#include "components.cuh"
#include "graph.hpp"
#include "kernels.cuh"
#include "search.cuh"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 24;
constexpr std::size_t kDegree = 8;
constexpr unsigned kBlock = 256;

struct Context {
  explicit Context(const lab::Options& given)
      : options(given),
        graph(graphs::randomGraph(given.size, kDegree, 20)),
        first(graph.first.size()),
        neighbour(graph.neighbour.size()),
        word(1) {
    first.upload(graph.first.data(), graph.first.size());
    neighbour.upload(graph.neighbour.data(), graph.neighbour.size());
  }

  DeviceGraph onDevice() const { return {first.get(), neighbour.get(), static_cast<unsigned>(graph.size())}; }
  dim3 grid() const { return dim3(lab::ceilDiv(graph.size(), kBlock)); }

  const lab::Options& options;
  graphs::Graph graph;
  lab::DeviceArray<unsigned> first;
  lab::DeviceArray<unsigned> neighbour;
  lab::DeviceArray<unsigned> word;  // what a round tells the host
};

unsigned told(Context& c) {
  unsigned word = 0;
  c.word.download(&word, 1);
  return word;
}

void tell(Context& c, unsigned word) { c.word.upload(&word, 1); }

void conclude(lab::Measurement& row, bool right, const std::string& note) {
  row.verified = right ? lab::Verified::yes : lab::Verified::no;
  row.note = note;
}

/// Runs `round(number)` until it says that it was the last, and returns how many there were.
template <class Prepare, class Round, class Finish>
unsigned runRounds(Context& c, lab::Measurement& row, Prepare prepare, Round round, Finish finish) {
  unsigned rounds = 0;
  row.kernel = "graphs";  // what the names of all of its kernels begin with
  row.grid = c.grid();
  row.block = dim3(kBlock);
  lab::timeRounds(
      c.options.rounds, row, prepare,
      [&] {
        rounds = 0;
        bool more = c.graph.size() > 0;
        while (more) more = round(rounds++);
      },
      finish);
  return rounds;
}

/// With high probability the rounds are O(log V): the test allows 4 log2 V + 4.
bool fewRounds(const Context& c, unsigned rounds) {
  return rounds <= 4 * std::log2(static_cast<double>(c.graph.size()) + 1) + 4;
}

void judgeColours(Context& c, lab::Measurement& row, const graphs::Colours& colours, const std::string& note) {
  const unsigned count = graphs::most(colours);
  row.result = std::to_string(count);
  conclude(row, graphs::isProper(c.graph, colours) && count <= graphs::largestDegree(c.graph) + 1,
           std::to_string(count) + " colours" + note);
}

void runGreedyColours(Context& c, lab::Measurement& row) {
  graphs::Colours colours;
  lab::timeCpuRounds(
      c.options.rounds, row, [] {},
      [&] { colours = graphs::greedyColours(c.graph, graphs::identity(c.graph.size())); });
  judgeColours(c, row, colours, "");
  if (!graphs::isGraph(c.graph)) row.verified = lab::Verified::no;
}

void runJonesPlassmann(Context& c, lab::Measurement& row) {
  const std::size_t n = c.graph.size();
  lab::DeviceArray<unsigned> colours(n);
  lab::DeviceArray<unsigned char> selected(n);
  graphs::Colours found(n);
  const unsigned rounds = runRounds(
      c, row,
      [&] {
        colours.clear();
        tell(c, static_cast<unsigned>(n));
      },
      [&](unsigned) {
        graphsSelect<<<c.grid(), kBlock>>>(c.onDevice(), colours.get(), selected.get());
        lab::launched("graphsSelect");
        graphsColour<<<c.grid(), kBlock>>>(c.onDevice(), colours.get(), selected.get(), c.word.get());
        lab::launched("graphsColour");
        return told(c) > 0;
      },
      [&] { colours.download(found.data(), n); });
  judgeColours(c, row, found, ", " + std::to_string(rounds) + " rounds");
  if (!fewRounds(c, rounds)) row.verified = lab::Verified::no;
}

void judgeSet(Context& c, lab::Measurement& row, const graphs::Set& set, const std::string& note) {
  row.result = std::to_string(graphs::members(set));
  conclude(row, graphs::isIndependent(c.graph, set) && graphs::isMaximal(c.graph, set),
           row.result + " vertices" + note);
}

void runGreedySet(Context& c, lab::Measurement& row) {
  graphs::Set set;
  lab::timeCpuRounds(
      c.options.rounds, row, [] {}, [&] { set = graphs::greedySet(c.graph, graphs::identity(c.graph.size())); });
  judgeSet(c, row, set, "");
}

void runLuby(Context& c, lab::Measurement& row) {
  const std::size_t n = c.graph.size();
  lab::DeviceArray<unsigned char> state(n);
  lab::DeviceArray<unsigned char> selected(n);
  graphs::Set found(n);
  const unsigned rounds = runRounds(
      c, row,
      [&] {
        state.clear();
        tell(c, static_cast<unsigned>(n));
      },
      [&](unsigned round) {
        graphsDraw<<<c.grid(), kBlock>>>(c.onDevice(), round, state.get(), selected.get());
        lab::launched("graphsDraw");
        graphsClose<<<c.grid(), kBlock>>>(c.onDevice(), state.get(), selected.get(), c.word.get());
        lab::launched("graphsClose");
        return told(c) > 0;
      },
      [&] { state.download(found.data(), n); });
  judgeSet(c, row, found, ", " + std::to_string(rounds) + " rounds");
  if (!fewRounds(c, rounds)) row.verified = lab::Verified::no;
}

void runSearchOnHost(Context& c, lab::Measurement& row) {
  lab::timeCpuRounds(c.options.rounds, row, [] {}, [&] { graphs::distances(c.graph, 0); });
  conclude(row, true, "");
}

void runSearch(Context& c, lab::Measurement& row) {
  const std::size_t n = c.graph.size();
  lab::DeviceArray<unsigned> distance(n);
  std::vector<unsigned> found(n);
  const unsigned zero = 0;
  const unsigned levels = runRounds(
      c, row,
      [&] {
        distance.fillBytes(0xff);
        if (n > 0) distance.upload(&zero, 1);
      },
      [&](unsigned level) {
        c.word.clear();
        graphsReach<<<c.grid(), kBlock>>>(c.onDevice(), level, distance.get(), c.word.get());
        lab::launched("graphsReach");
        return told(c) > 0;
      },
      [&] { distance.download(found.data(), n); });
  conclude(row, found == graphs::distances(c.graph, 0), std::to_string(levels) + " levels");
}

/// The queues of a search, and what the last step told.
struct Search {
  explicit Search(std::size_t n)
      : distance(n), queues{lab::DeviceArray<unsigned>(n), lab::DeviceArray<unsigned>(n)}, told(1) {}

  unsigned* queue() { return queues[stepsDown % 2].get(); }
  unsigned* nextQueue() { return queues[(stepsDown + 1) % 2].get(); }

  lab::DeviceArray<unsigned> distance;
  lab::DeviceArray<unsigned> queues[2];
  lab::DeviceArray<Frontier> told;
  Frontier frontier{};
  std::size_t edgesLeft = 0;
  bool down = true;
  unsigned stepsDown = 0;
  unsigned stepsUp = 0;
};

void beginSearch(Context& c, Search& search) {
  const unsigned zero = 0;
  search.distance.fillBytes(0xff);
  search.edgesLeft = c.graph.neighbour.size();
  search.frontier = {1, 0};
  search.down = true;
  search.stepsDown = 0;
  search.stepsUp = 0;
  if (c.graph.size() == 0) return;
  search.distance.upload(&zero, 1);
  search.queues[0].upload(&zero, 1);
  search.frontier.edges = c.graph.first[1];
}

/// The frontier becomes a queue again, when it has become small.
void turnDown(Context& c, Search& search, unsigned level) {
  c.word.clear();
  graphsFrontier<<<c.grid(), kBlock>>>(c.onDevice(), level, search.distance.get(), search.queue(), c.word.get());
  lab::launched("graphsFrontier");
  search.down = true;
}

bool searchStep(Context& c, Search& search, unsigned level) {
  const bool wasDown = search.down;
  search.edgesLeft -= search.frontier.edges;
  if (wasDown && search.frontier.edges > search.edgesLeft / kUpwardsFrom) search.down = false;
  if (!wasDown && search.frontier.vertices < c.graph.size() / kDownwardsFrom) turnDown(c, search, level);
  search.told.clear();
  if (search.down) {
    const unsigned length = search.frontier.vertices;
    c.word.clear();
    graphsSearchDown<<<lab::ceilDiv(length, kBlock), kBlock>>>(c.onDevice(), level, search.distance.get(),
                                                               search.queue(), length, search.nextQueue(), c.word.get(),
                                                               search.told.get());
    lab::launched("graphsSearchDown");
    ++search.stepsDown;
  } else {
    ++search.stepsUp;
    graphsSearchUp<<<c.grid(), kBlock>>>(c.onDevice(), level, search.distance.get(), search.told.get());
    lab::launched("graphsSearchUp");
  }
  search.told.download(&search.frontier, 1);
  return search.frontier.vertices > 0;
}

void runSwitchingSearch(Context& c, lab::Measurement& row) {
  const std::size_t n = c.graph.size();
  Search search(n);
  std::vector<unsigned> found(n);
  const unsigned levels = runRounds(
      c, row, [&] { beginSearch(c, search); }, [&](unsigned level) { return searchStep(c, search, level); },
      [&] { search.distance.download(found.data(), n); });
  conclude(row, found == graphs::distances(c.graph, 0),
           std::to_string(levels) + " levels, " + std::to_string(search.stepsUp) + " of them upwards");
}

void runUnion(Context& c, lab::Measurement& row) {
  const std::size_t n = c.graph.size();
  lab::DeviceArray<unsigned> names(n);
  std::vector<unsigned> found(n);
  runRounds(
      c, row, [] {},
      [&](unsigned) {
        graphsName<<<c.grid(), kBlock>>>(c.onDevice(), names.get());
        lab::launched("graphsName");
        graphsHook<<<c.grid(), kBlock>>>(c.onDevice(), names.get());
        lab::launched("graphsHook");
        graphsFlatten<<<c.grid(), kBlock>>>(c.onDevice(), names.get());
        lab::launched("graphsFlatten");
        return false;
      },
      [&] { names.download(found.data(), n); });
  conclude(row, found == graphs::components(c.graph), "each edge once");
}

void runComponents(Context& c, lab::Measurement& row) {
  const std::size_t n = c.graph.size();
  lab::DeviceArray<unsigned> label(n);
  std::vector<unsigned> found(n);
  const graphs::Order own = graphs::identity(n);
  const unsigned rounds = runRounds(
      c, row, [&] { label.upload(own.data(), n); },
      [&](unsigned) {
        c.word.clear();
        graphsSpread<<<c.grid(), kBlock>>>(c.onDevice(), label.get(), c.word.get());
        lab::launched("graphsSpread");
        return told(c) > 0;
      },
      [&] { label.download(found.data(), n); });
  conclude(row, found == graphs::components(c.graph), std::to_string(rounds) + " rounds");
}

const std::vector<lab::Variant<Context>> kVariants = {
    {"greedy_colours", "alg.coloring_greedy", "Colours, one vertex after the other", true, runGreedyColours},
    {"jones_plassmann", "alg.coloring_jp", "Colours, by random priorities", true, runJonesPlassmann},
    {"greedy_set", "alg.mis_greedy", "Independent set, one vertex after the other", true, runGreedySet},
    {"luby", "alg.mis_luby", "Independent set, by drawing lots", true, runLuby},
    {"search_host", "alg.graph_repr", "Breadth-first search on the host", true, runSearchOnHost},
    {"search", "alg.graph_repr", "Breadth-first search, a kernel for each level", true, runSearch},
    {"search_switching", "alg.graph_repr", "Breadth-first search that changes its direction", true, runSwitchingSearch},
    {"components", "alg.graph_repr", "Connected components, by spreading labels", true, runComponents},
    {"union", "alg.graph_repr", "Connected components, by uniting sets", true, runUnion},
};

/// The fewest and the most colours that the greedy algorithm needs, over all orders.
std::pair<unsigned, unsigned> overAllOrders(const graphs::Graph& graph) {
  graphs::Order order = graphs::identity(graph.size());
  unsigned least = ~0u;
  unsigned most = 0;
  do {
    const unsigned count = graphs::most(graphs::greedyColours(graph, order));
    least = std::min(least, count);
    most = std::max(most, count);
  } while (std::next_permutation(order.begin(), order.end()));
  return {least, most};
}

int trace() {
  const graphs::Graph crown = graphs::crown(4);
  const auto [least, most] = overAllOrders(crown);
  std::printf("crown of 8: chromatic number %u; greedy over all orders: %u to %u colours\n",
              graphs::chromaticNumber(crown), least, most);
  const graphs::Graph five = graphs::ring(5);
  const auto [fiveLeast, fiveMost] = overAllOrders(five);
  std::printf("ring of 5: chromatic number %u; greedy over all orders: %u to %u colours\n",
              graphs::chromaticNumber(five), fiveLeast, fiveMost);
  graphs::Edges spokes;
  for (unsigned v = 1; v < 6; ++v) spokes.emplace_back(0, v);
  const graphs::Graph star = graphs::fromEdges(6, spokes);
  const graphs::Set hub = graphs::greedySet(star, graphs::identity(6));
  std::printf("star of 6: greedy from the hub %zu, maximal %s; the largest has %zu\n", graphs::members(hub),
              graphs::isMaximal(star, hub) ? "yes" : "no", graphs::largestSet(star));
  const graphs::Set both = {1, 1, 0, 0, 0, 0};
  const graphs::Set none(6, 0);
  std::printf("hub and leaf: independent %s; nobody: independent %s, maximal %s\n",
              graphs::isIndependent(star, both) ? "yes" : "no", graphs::isIndependent(star, none) ? "yes" : "no",
              graphs::isMaximal(star, none) ? "yes" : "no");
  const graphs::Colours alike(6, 1);
  std::printf("star in one colour: proper %s; rows of the star:", graphs::isProper(star, alike) ? "yes" : "no");
  for (const unsigned first : star.first) std::printf(" %u", first);
  std::printf(":");
  for (const unsigned neighbour : star.neighbour) std::printf(" %u", neighbour);
  std::printf("\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 20000;
  options.block = kBlock;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) return trace();
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^24 vertices");
  lab::mustFit(options.size, kDegree * 40, kDegree * sizeof(unsigned) + 32);
  lab::Output output("graphs", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("greedy_colours");
}
