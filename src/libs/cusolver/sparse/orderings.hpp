// Orders of rows and columns in which a factorization stays sparse, or has a diagonal to divide by.
#pragma once

#include "libs/cusolver/sparse/rows.hpp"

namespace ordito::cusolver {

/// Who is beside whom: the pattern of A + A^T without the diagonal.
class Graph {
 public:
  template <class T>
  explicit Graph(const Rows<T>& a) : neighbours_(at(a.rows)) {
    a.eachEntry([&](int i, int j, const T&) {
      if (i != j) neighbours_[at(i)].push_back(j), neighbours_[at(j)].push_back(i);
    });
    for (auto& list : neighbours_) {
      std::ranges::sort(list);
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }
  int size() const { return static_cast<int>(neighbours_.size()); }
  const std::vector<int>& of(int vertex) const { return neighbours_[at(vertex)]; }

 private:
  std::vector<std::vector<int>> neighbours_;
};

/// Narrow bands. E. Cuthill, J. McKee, "Reducing the bandwidth of sparse symmetric matrices", 1969, backwards as A.
/// George found better; it begins where A. George and J. Liu's "An implementation of a pseudoperipheral node finder",
/// 1979, ends.
Order reverseCuthillMcKee(const Graph& graph);

/// Few new entries: next is always the vertex with the fewest neighbours, which are joined then. Eliminated vertices
/// are kept as elements (A. George, J. Liu, "The evolution of the minimum degree ordering algorithm", 1989), degrees
/// are the bounds of P. Amestoy, T. Davis and I. Duff, "An approximate minimum degree ordering algorithm", 1996.
Order minimumDegree(const Graph& graph);

/// Halves, and between them those that touch both, which come last. A. George, "Nested dissection of a regular finite
/// element mesh", 1973; the cut is the middle level of a walk in breadth.
Order nestedDissection(const Graph& graph);

/// `pairs[j]`: a row for each column j in which it has an entry that is not 0, -1 where there is none left; of all such
/// pairings one of the largest. I. Duff, "On algorithms for obtaining a maximum transversal", 1981.
template <class T>
std::vector<int> rowOfEachColumn(const Rows<T>& a);

}  // namespace ordito::cusolver
