// NPP: how far each pixel is from the nearest site, and which one that is, exactly: along columns first, and then rows,
// where each column's distance is a parabola and the lowest of all is looked for (Felzenszwalb and Huttenlocher,
// "Distance transforms of sampled functions", 2012).
#include <cmath>
#include <limits>
#include <vector>

#include "libs/npp/image.hpp"
#include "nppi_filtering_functions.h"

using namespace ordito::libs;
using namespace ordito::libs::npp;

namespace {

/// For each pixel of a column the row of the nearest site; -1 if there is none.
void nearestInColumn(Image<const Npp8u> from, NppiSize size, int x, Npp8u least, Npp8u most, std::vector<int>& rows) {
  int above = -1;
  for (int y = 0; y < size.height; ++y) {
    const Npp8u value = from.row(y)[x];
    if (value >= least && value <= most) above = y;
    rows[static_cast<size_t>(y)] = above;
  }
  int below = -1;
  for (int y = size.height - 1; y >= 0; --y) {
    int& row = rows[static_cast<size_t>(y)];
    if (row == y) below = y;
    if (below >= 0 && (row < 0 || below - y < y - row)) row = below;
  }
}

/// The parabolas that are lowest somewhere in a row, from the left, and where each begins to be.
class Envelope {
 public:
  explicit Envelope(const std::vector<int64_t>& heights) : heights_(heights) {
    for (int x = 0; x < static_cast<int>(heights.size()); ++x)
      if (heights[static_cast<size_t>(x)] >= 0) add(x);
  }
  bool isEmpty() const { return columns_.empty(); }
  /// The columns that are nearest to each place, told in order.
  template <class Visit>
  void each(int width, const Visit& visit) const {
    size_t k = 0;
    for (int x = 0; x < width; ++x) {
      while (k + 1 < columns_.size() && begins_[k + 1] < x) ++k;
      visit(x, columns_[k]);
    }
  }

 private:
  double meeting(int left, int right) const {
    const auto height = [&](int x) { return static_cast<double>(heights_[static_cast<size_t>(x)]) + double(x) * x; };
    return (height(right) - height(left)) / (2.0 * (right - left));
  }
  void add(int x) {
    double begin = -std::numeric_limits<double>::infinity();
    while (!columns_.empty()) {
      begin = meeting(columns_.back(), x);
      if (begin > begins_.back()) break;
      columns_.pop_back(), begins_.pop_back();
    }
    if (columns_.empty()) begin = -std::numeric_limits<double>::infinity();
    columns_.push_back(x), begins_.push_back(begin);
  }

  const std::vector<int64_t>& heights_;
  std::vector<int> columns_;
  std::vector<double> begins_;
};

/// Pairs of x and y: the site, and how far it is; any may be missing.
struct Sites {
  Image<Npp16s> voronoi, indices, relative;

  static void put(Image<Npp16s> to, int x, int y, int first, int second) {
    if (!to.data) return;
    to.row(y)[2 * x] = static_cast<Npp16s>(first), to.row(y)[2 * x + 1] = static_cast<Npp16s>(second);
  }
  void tell(int x, int y, int siteX, int siteY) const {
    put(voronoi, x, y, siteX, siteY);
    put(indices, x, y, siteX, siteY);
    put(relative, x, y, x - siteX, y - siteY);
  }
};

template <class T>
void transform(Image<const Npp8u> from, NppiSize size, Npp8u least, Npp8u most, const Sites& sites, Image<T> to) {
  const auto width = static_cast<size_t>(size.width);
  std::vector<std::vector<int>> nearest(width, std::vector<int>(static_cast<size_t>(size.height)));
  parallelFor(static_cast<unsigned>(size.width),
              [&](unsigned x) { nearestInColumn(from, size, static_cast<int>(x), least, most, nearest[x]); });
  parallelFor(static_cast<unsigned>(size.height), [&](unsigned row) {
    const int y = static_cast<int>(row);
    std::vector<int64_t> heights(width);
    for (size_t x = 0; x < width; ++x) {
      const int64_t down = nearest[x][row] < 0 ? -1 : y - nearest[x][row];
      heights[x] = nearest[x][row] < 0 ? -1 : down * down;
    }
    const Envelope envelope(heights);
    if (envelope.isEmpty()) return;  // no site in the image
    envelope.each(size.width, [&](int x, int column) {
      const int siteY = nearest[static_cast<size_t>(column)][row];
      sites.tell(x, y, column, siteY);
      if (to.data) to.row(y)[x] = static_cast<T>(std::sqrt(std::pow(x - column, 2) + std::pow(y - siteY, 2)));
    });
  });
}

template <class T>
NppStatus distances(const NppStreamContext& c, const char* name, Image<const Npp8u> from, Npp8u least, Npp8u most,
                    const Sites& sites, Image<T> to, NppiSize size, const Npp8u* scratch) {
  if (!scratch) return NPP_NULL_POINTER_ERROR;
  if (const NppStatus bad = check(size, from)) return bad;
  for (const Image<Npp16s>& image : {sites.voronoi, sites.indices, sites.relative})
    if (image.data && image.step <= 0) return NPP_STEP_ERROR;
  if (to.data && to.step <= 0) return NPP_STEP_ERROR;
  return run(c, name, [=] { transform(from, size, least, most, sites, to); });
}

}  // namespace

NppStatus nppiDistanceTransformPBAGetBufferSize(NppiSize size, size_t* bytes) {
  if (!bytes) return NPP_NULL_POINTER_ERROR;
  if (size.width <= 0 || size.height <= 0) return NPP_SIZE_ERROR;
  *bytes = 1;  // tasks have memory of their own
  return NPP_SUCCESS;
}

#define DISTANCES(type)                                                                                                \
  BOTH_FORMS(                                                                                                          \
      nppiDistanceTransformPBA_8u##type##_C1R,                                                                         \
      (Npp8u * from, int fromStep, Npp8u least, Npp8u most, Npp16s* voronoi, int voronoiStep, Npp16s* indices,         \
       int indicesStep, Npp16s* relative, int relativeStep, Npp##type* to, int toStep, NppiSize size, Npp8u* scratch), \
      (from, fromStep, least, most, voronoi, voronoiStep, indices, indicesStep, relative, relativeStep, to, toStep,    \
       size, scratch)) {                                                                                               \
    return distances(context, "nppiDistanceTransformPBA_8u" #type "_C1R", Image<const Npp8u>{from, fromStep}, least,   \
                     most, {{voronoi, voronoiStep}, {indices, indicesStep}, {relative, relativeStep}},                 \
                     Image{to, toStep}, size, scratch);                                                                \
  }
DISTANCES(16u)
DISTANCES(32f)
