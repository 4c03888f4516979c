// Matrices of blocks (BSR, and general BSR whose blocks are not square), and what becomes of them as CSR and back.
#pragma once

#include <algorithm>
#include <vector>

#include "libs/cusparse/typed.hpp"

namespace ordito::cusparse {

/// The pattern is of blocks, each `down` rows and `across` columns, by rows or by columns inside.
template <class T>
struct Blocks {
  Pattern pattern;
  int down, across;
  cusparseDirection_t direction;
  T* values;

  int64_t cells() const { return static_cast<int64_t>(down) * across; }
  T& at(int block, int i, int j) const {
    const bool byRows = direction == CUSPARSE_DIRECTION_ROW;
    return values[block * cells() + (byRows ? i * across + j : j * down + i)];
  }
  bool isRight() const {
    return pattern.rows >= 0 && down > 0 && across > 0 && (pattern.rows == 0 || pattern.offsets) &&
           (direction == CUSPARSE_DIRECTION_ROW || direction == CUSPARSE_DIRECTION_COLUMN);
  }
};

/// Every element of a block becomes an entry, also a 0. Without `values` only the pattern is written.
template <class T>
void expand(const Blocks<const T>& a, int base, T* values, int* offsets, int* indices) {
  int at = 0;
  for (int row = 0; row < a.pattern.rows * a.down; ++row) {
    offsets[row] = at + base;
    const int line = row / a.down;
    for (int block = a.pattern.begin(line); block < a.pattern.end(line); ++block)
      for (int j = 0; j < a.across; ++j, ++at) {
        if (values) values[at] = a.at(block, row % a.down, j);
        indices[at] = a.pattern.column(block) * a.across + j + base;
      }
  }
  offsets[a.pattern.rows * a.down] = at + base;
}

/// The columns of blocks that a row of blocks has entries in, sorted.
inline void blockColumns(const Pattern& a, int down, int across, int line, std::vector<int>& columns) {
  columns.clear();
  for (int row = line * down; row < std::min(a.rows, (line + 1) * down); ++row)
    for (int k = a.begin(row); k < a.end(row); ++k) columns.push_back(a.column(k) / across);
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

/// The offsets of the blocks that an m-row matrix needs; answers how many there are.
inline int countBlocks(const Pattern& a, int down, int across, int base, int* offsets) {
  std::vector<int> columns;
  const int lines = (a.rows + down - 1) / down;
  offsets[0] = base;
  for (int line = 0; line < lines; ++line) {
    blockColumns(a, down, across, line, columns);
    offsets[line + 1] = offsets[line] + static_cast<int>(columns.size());
  }
  return offsets[lines] - base;
}

/// Into blocks whose offsets the count has left; rows behind the last are 0.
template <class T>
void gather(const Pattern& a, const T* from, const Blocks<T>& to, int base, int* indices) {
  std::vector<int> columns;
  for (int line = 0; line < to.pattern.rows; ++line) {
    blockColumns(a, to.down, to.across, line, columns);
    const int first = to.pattern.begin(line);
    for (size_t i = 0; i < columns.size(); ++i) indices[static_cast<size_t>(first) + i] = columns[i] + base;
    const auto cells = static_cast<int64_t>(columns.size()) * to.cells();
    std::fill_n(to.values + static_cast<int64_t>(first) * to.cells(), cells, T(0));
    for (int row = line * to.down; row < std::min(a.rows, (line + 1) * to.down); ++row)
      for (int k = a.begin(row); k < a.end(row); ++k) {
        const auto found = std::lower_bound(columns.begin(), columns.end(), a.column(k) / to.across);
        to.at(first + static_cast<int>(found - columns.begin()), row % to.down, a.column(k) % to.across) = from[k];
      }
  }
}

}  // namespace ordito::cusparse
