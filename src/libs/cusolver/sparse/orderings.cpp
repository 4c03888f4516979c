// See orderings.hpp.
#include "libs/cusolver/sparse/orderings.hpp"

#include <set>

namespace ordito::cusolver {
namespace {

/// The vertices of a part of a graph in levels by their distance from a vertex.
class Levels {
 public:
  /// `isInside[v]` is 0 for vertices that do not belong to the part.
  Levels(const Graph& graph, const std::vector<char>& isInside, int first) : order_{first}, begin_{0} {
    std::vector<char> isSeen(at(graph.size()));
    isSeen[at(first)] = 1;
    for (size_t done = 0; done < order_.size();) {
      const size_t end = order_.size();
      begin_.push_back(end);
      for (; done < end; ++done)
        for (const int next : graph.of(order_[done]))
          if (isInside[at(next)] && !isSeen[at(next)]) isSeen[at(next)] = 1, order_.push_back(next);
    }
  }
  const std::vector<int>& order() const { return order_; }
  size_t count() const { return begin_.size() - 1; }
  /// Level i is [begin(i), begin(i + 1)) of the order.
  size_t begin(size_t i) const { return begin_[i]; }

 private:
  std::vector<int> order_;
  std::vector<size_t> begin_;
};

/// From a vertex at the edge of its part.
Levels longLevels(const Graph& graph, const std::vector<char>& isInside, int vertex) {
  Levels levels(graph, isInside, vertex);
  for (;;) {
    const auto last = levels.order().begin() + static_cast<ptrdiff_t>(levels.begin(levels.count() - 1));
    const auto degree = [&](int v) { return graph.of(v).size(); };
    const int farthest = *std::ranges::min_element(last, levels.order().end(), {}, degree);
    Levels longer(graph, isInside, farthest);
    if (longer.count() <= levels.count()) return levels;
    levels = std::move(longer);
  }
}

}  // namespace

Order reverseCuthillMcKee(const Graph& graph) {
  const auto n = at(graph.size());
  std::vector<char> isLeft(n, 1);
  Order order;
  for (size_t v = 0; v < n; ++v) {
    if (!isLeft[v]) continue;
    const Levels levels = longLevels(graph, isLeft, static_cast<int>(v));
    size_t done = order.size();
    order.push_back(levels.order().front());
    isLeft[at(order.back())] = 0;
    for (; done < order.size(); ++done) {
      const size_t first = order.size();
      for (const int next : graph.of(order[done]))
        if (isLeft[at(next)]) isLeft[at(next)] = 0, order.push_back(next);
      std::ranges::sort(order.begin() + static_cast<ptrdiff_t>(first), order.end(), {},
                        [&](int u) { return std::pair(graph.of(u).size(), u); });
    }
  }
  std::ranges::reverse(order);
  return order;
}

namespace {

/// The graph of what is left while vertices are eliminated. An eliminated vertex becomes an element: its neighbours are
/// beside each other without being listed as such.
class Elimination {
 public:
  explicit Elimination(const Graph& graph)
      : vertices_(at(graph.size())),
        elements_(at(graph.size())),
        members_(at(graph.size())),
        degree_(at(graph.size())) {
    for (int v = 0; v < graph.size(); ++v) {
      vertices_[at(v)] = graph.of(v);
      setDegree(v, graph.of(v).size());
    }
  }

  Order run() {
    Order order;
    while (!queue_.empty()) {
      const int v = queue_.begin()->second;
      queue_.erase(queue_.begin());
      order.push_back(v);
      eliminate(v);
    }
    return order;
  }

 private:
  void setDegree(int v, size_t degree) {
    degree_[at(v)] = degree;
    queue_.emplace(degree, v);
  }

  void eliminate(int v) {
    std::vector<int> all = std::move(vertices_[at(v)]);
    for (const int e : elements_[at(v)]) {
      all.insert(all.end(), members_[at(e)].begin(), members_[at(e)].end());
      members_[at(e)].clear();  // it is a part of the new one
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    std::erase(all, v);
    members_[at(v)] = std::move(all);
    for (const int u : members_[at(v)]) update(u, v);
  }

  /// u got the element v: what that says already is no longer said otherwise.
  void update(int u, int v) {
    const std::vector<int>& inside = members_[at(v)];
    auto& beside = vertices_[at(u)];
    std::erase_if(beside, [&](int w) { return w == v || std::ranges::binary_search(inside, w); });
    auto& elements = elements_[at(u)];
    std::erase_if(elements, [&](int e) { return members_[at(e)].empty(); });
    elements.push_back(v);
    // A bound: what two elements share is counted twice.
    size_t degree = beside.size();
    for (const int e : elements) degree += members_[at(e)].size() - 1;
    queue_.erase({degree_[at(u)], u});
    setDegree(u, std::min(degree, degree_.size() - 1));
  }

  std::vector<std::vector<int>> vertices_, elements_, members_;
  std::vector<size_t> degree_;
  std::set<std::pair<size_t, int>> queue_;
};

}  // namespace

Order minimumDegree(const Graph& graph) { return Elimination(graph).run(); }

Order nestedDissection(const Graph& graph) {
  constexpr size_t kSmall = 32;
  const auto n = at(graph.size());
  Order order(n);
  std::vector<std::pair<std::vector<int>, size_t>> parts;  // vertices, and the end of their places in the order
  parts.emplace_back(identityOrder(graph.size()), n);
  std::vector<char> isInside(n);
  while (!parts.empty()) {
    auto [part, end] = std::move(parts.back());
    parts.pop_back();
    if (part.empty()) continue;
    for (const int v : part) isInside[at(v)] = 1;
    const Levels levels = longLevels(graph, isInside, part.front());
    for (const int v : part) isInside[at(v)] = 0;
    const std::vector<int>& found = levels.order();
    if (found.size() < part.size()) {  // not connected
      std::vector<char> isFound(n);
      for (const int v : found) isFound[at(v)] = 1;
      std::vector<int> rest;
      std::ranges::copy_if(part, std::back_inserter(rest), [&](int v) { return !isFound[at(v)]; });
      parts.emplace_back(found, end);
      parts.emplace_back(std::move(rest), end - found.size());
      continue;
    }
    if (part.size() <= kSmall || levels.count() < 3) {
      std::ranges::copy(found, order.begin() + static_cast<ptrdiff_t>(end - part.size()));
      continue;
    }
    size_t middle = 1;
    while (middle + 2 < levels.count() && levels.begin(middle + 1) < found.size() / 2) ++middle;
    const auto from = found.begin() + static_cast<ptrdiff_t>(levels.begin(middle));
    const auto to = found.begin() + static_cast<ptrdiff_t>(levels.begin(middle + 1));
    end -= static_cast<size_t>(to - from);
    std::copy(from, to, order.begin() + static_cast<ptrdiff_t>(end));
    parts.emplace_back(std::vector<int>(found.begin(), from), end);
    parts.emplace_back(std::vector<int>(to, found.end()), end - static_cast<size_t>(from - found.begin()));
  }
  return order;
}

template <class T>
std::vector<int> rowOfEachColumn(const Rows<T>& a) {
  std::vector<int> rowOf(at(a.columns), -1), seen(at(a.columns), -1), next(at(a.rows));
  for (int first = 0; first < a.rows; ++first) {
    // A path from a row to a column that is free, over columns whose rows can move.
    std::vector<int> path{first}, over;
    next[at(first)] = a.begin[at(first)];
    while (!path.empty()) {
      const int row = path.back();
      if (next[at(row)] == a.begin[at(row + 1)]) {
        path.pop_back();
        if (!over.empty()) over.pop_back();
        continue;
      }
      const auto k = at(next[at(row)]++);
      const int column = a.column[k];
      if (a.value[k] == T(0) || seen[at(column)] == first) continue;
      seen[at(column)] = first;
      over.push_back(column);
      if (rowOf[at(column)] < 0) {
        for (size_t i = 0; i < path.size(); ++i) rowOf[at(over[i])] = path[i];
        break;
      }
      path.push_back(rowOf[at(column)]);
      next[at(path.back())] = a.begin[at(path.back())];
    }
  }
  return rowOf;
}
template std::vector<int> rowOfEachColumn(const Rows<float>&);
template std::vector<int> rowOfEachColumn(const Rows<double>&);
template std::vector<int> rowOfEachColumn(const Rows<std::complex<float>>&);
template std::vector<int> rowOfEachColumn(const Rows<std::complex<double>>&);

}  // namespace ordito::cusolver
