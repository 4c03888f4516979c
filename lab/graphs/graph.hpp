// Graphs as rows of neighbours (compressed sparse rows), generators of such, what makes a colouring or an independent
// set right, and the sequential algorithms that the kernels are judged by.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace graphs {

/// The neighbours of v are neighbour[first[v]] to neighbour[first[v + 1] - 1], each edge in both rows.
struct Graph {
  std::vector<unsigned> first{0};
  std::vector<unsigned> neighbour;

  std::size_t size() const { return first.size() - 1; }
  std::size_t degree(std::size_t v) const { return first[v + 1] - first[v]; }
  template <class Visit>
  void forNeighbours(std::size_t v, Visit visit) const {
    for (std::size_t k = first[v]; k < first[v + 1]; ++k) visit(neighbour[k]);
  }
};

using Edges = std::vector<std::pair<unsigned, unsigned>>;

/// Loops and repeated edges are left out.
inline Graph fromEdges(std::size_t n, const Edges& given) {
  Edges edges;
  for (const auto& [a, b] : given) {
    if (a == b) continue;
    edges.emplace_back(a, b);
    edges.emplace_back(b, a);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  Graph graph;
  graph.first.assign(n + 1, 0);
  for (const auto& edge : edges) {
    ++graph.first[edge.first + 1];
    graph.neighbour.push_back(edge.second);
  }
  std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
  return graph;
}

/// About `degree` edges at each vertex, by chance.
inline Graph randomGraph(std::size_t n, std::size_t degree, unsigned seed) {
  Edges edges;
  std::mt19937 random(seed);
  for (std::size_t k = 0; n > 0 && k < n * degree / 2; ++k) {
    const auto a = static_cast<unsigned>(random() % n);
    edges.emplace_back(a, static_cast<unsigned>(random() % n));
  }
  return fromEdges(n, edges);
}

/// Two rows of n vertices, each joined with all of the other row but the one opposite. Two colours do; taken by
/// columns, the greedy algorithm needs n.
inline Graph crown(unsigned n) {
  Edges edges;
  for (unsigned a = 0; a < n; ++a) {
    for (unsigned b = 0; b < n; ++b) {
      if (a != b) edges.emplace_back(a, n + b);
    }
  }
  return fromEdges(std::size_t{2} * n, edges);
}

inline Graph ring(unsigned n) {
  Edges edges;
  for (unsigned v = 0; v < n; ++v) edges.emplace_back(v, (v + 1) % n);
  return fromEdges(n, edges);
}

/// True if the rows are ascending, without loops, and every edge is in both rows.
inline bool isGraph(const Graph& graph) {
  bool right = true;
  for (unsigned v = 0; v < graph.size(); ++v) {
    const auto row = [&](std::size_t u) {
      return graph.neighbour.begin() + static_cast<std::ptrdiff_t>(graph.first[u]);
    };
    right = right && std::adjacent_find(row(v), row(v + 1), std::greater_equal<>()) == row(v + 1);
    graph.forNeighbours(v, [&](unsigned u) { right = right && u != v && std::binary_search(row(u), row(u + 1), v); });
  }
  return right && graph.first.back() == graph.neighbour.size();
}

using Colours = std::vector<unsigned>;  // from 1; 0: none
using Order = std::vector<unsigned>;

inline Order identity(std::size_t n) {
  Order order(n);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

inline bool isProper(const Graph& graph, const Colours& colours) {
  bool proper = true;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    proper = proper && colours[v] != 0;
    graph.forNeighbours(v, [&](unsigned u) { proper = proper && colours[u] != colours[v]; });
  }
  return proper;
}

inline unsigned smallestFree(const Graph& graph, const Colours& colours, std::size_t v) {
  std::vector<bool> used(graph.degree(v) + 2, false);
  graph.forNeighbours(v, [&](unsigned u) {
    if (colours[u] < used.size()) used[colours[u]] = true;
  });
  unsigned colour = 1;
  while (used[colour]) ++colour;
  return colour;
}

inline Colours greedyColours(const Graph& graph, const Order& order) {
  Colours colours(graph.size(), 0);
  for (const unsigned v : order) colours[v] = smallestFree(graph, colours, v);
  return colours;
}

inline unsigned most(const Colours& colours) {
  return colours.empty() ? 0 : *std::max_element(colours.begin(), colours.end());
}

inline std::size_t largestDegree(const Graph& graph) {
  std::size_t largest = 0;
  for (std::size_t v = 0; v < graph.size(); ++v) largest = std::max(largest, graph.degree(v));
  return largest;
}

/// Whether k colours are enough, by trying all ways.
inline bool colourable(const Graph& graph, unsigned k, Colours& colours, std::size_t v = 0) {
  if (v == graph.size()) return true;
  for (unsigned colour = 1; colour <= k; ++colour) {
    bool free = true;
    graph.forNeighbours(v, [&](unsigned u) { free = free && (u >= v || colours[u] != colour); });
    colours[v] = colour;
    if (free && colourable(graph, k, colours, v + 1)) return true;
  }
  return false;
}

inline unsigned chromaticNumber(const Graph& graph) {
  Colours colours(graph.size(), 0);
  unsigned k = 0;
  while (!colourable(graph, k, colours)) ++k;
  return k;
}

using Set = std::vector<unsigned char>;  // 1: in it

inline bool isIndependent(const Graph& graph, const Set& set) {
  bool independent = true;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    graph.forNeighbours(v, [&](unsigned u) { independent = independent && !(set[v] == 1 && set[u] == 1); });
  }
  return independent;
}

/// No vertex can be added: each is in it or has a neighbour in it.
inline bool isMaximal(const Graph& graph, const Set& set) {
  bool maximal = true;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    bool covered = set[v] == 1;
    graph.forNeighbours(v, [&](unsigned u) { covered = covered || set[u] == 1; });
    maximal = maximal && covered;
  }
  return maximal;
}

inline Set greedySet(const Graph& graph, const Order& order) {
  Set set(graph.size(), 0);
  for (const unsigned v : order) {
    bool free = true;
    graph.forNeighbours(v, [&](unsigned u) { free = free && set[u] == 0; });
    if (free) set[v] = 1;
  }
  return set;
}

inline std::size_t members(const Set& set) { return static_cast<std::size_t>(std::count(set.begin(), set.end(), 1)); }

/// The size of a largest independent set, by trying all sets; for small graphs.
inline std::size_t largestSet(const Graph& graph) {
  std::size_t largest = 0;
  for (unsigned word = 0; word < 1u << graph.size(); ++word) {
    Set set(graph.size());
    for (std::size_t v = 0; v < graph.size(); ++v) set[v] = word >> v & 1;
    if (isIndependent(graph, set)) largest = std::max(largest, members(set));
  }
  return largest;
}

constexpr unsigned kFar = ~0u;

/// Edges between `source` and each vertex; kFar where there is no way.
inline std::vector<unsigned> distances(const Graph& graph, unsigned source) {
  std::vector<unsigned> distance(graph.size(), kFar);
  if (graph.size() == 0) return distance;
  std::vector<unsigned> queue{source};
  distance[source] = 0;
  for (std::size_t k = 0; k < queue.size(); ++k) {
    graph.forNeighbours(queue[k], [&](unsigned u) {
      if (distance[u] != kFar) return;
      distance[u] = distance[queue[k]] + 1;
      queue.push_back(u);
    });
  }
  return distance;
}

/// The smallest vertex that can be reached from each.
inline std::vector<unsigned> components(const Graph& graph) {
  std::vector<unsigned> label(graph.size(), kFar);
  for (unsigned v = 0; v < graph.size(); ++v) {
    if (label[v] != kFar) continue;
    std::vector<unsigned> stack{v};
    label[v] = v;
    while (!stack.empty()) {
      const unsigned next = stack.back();
      stack.pop_back();
      graph.forNeighbours(next, [&](unsigned u) {
        if (label[u] != kFar) return;
        label[u] = v;
        stack.push_back(u);
      });
    }
  }
  return label;
}

}  // namespace graphs
