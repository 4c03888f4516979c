// A plan: transforms in one to three dimensions, many of them, in the layout that the caller describes.
#pragma once

#include <memory>
#include <optional>

#include "libs/cufft/lines.hpp"

namespace ordito::cufft {

/// Where the elements of one side lie, in units of its elements (real numbers or complex ones).
struct Layout {
  std::array<int64_t, 3> embed{};  // the sizes of the array that the data is part of; the first one does not matter
  int64_t stride = 1, distance = 0;
};

enum class Precision { Half, Bfloat16, Single, Double };
/// Of a real number.
inline size_t sizeOf(Precision precision) {
  return precision == Precision::Double ? 8 : precision == Precision::Single ? 4 : 2;
}

struct Description {
  int rank = 1;
  std::array<int64_t, 3> size{};
  int64_t batch = 1;
  Form form = Form::Complex;
  Precision precision = Precision::Single;
  // None: packed, one behind the other. Then real numbers that are transformed in place have rows of
  // 2 * (n / 2 + 1), as complex numbers need.
  std::optional<Layout> input, output;

  int64_t last() const { return size[static_cast<size_t>(rank - 1)]; }
  /// Elements of the last dimension on the side of the complex numbers.
  int64_t lastComplex() const { return form == Form::Complex ? last() : last() / 2 + 1; }
  /// Of the other dimensions.
  int64_t rows() const;
  /// Floating-point operations as benchmarks count them (5 n log2 n, half of that for real numbers), and bytes.
  double operations() const;
  double bytes() const;
};

/// Where the elements of one side lie, in its elements, in the order of a packed array.
struct Places {
  int64_t batch;                // transforms
  std::array<int64_t, 3> size;  // of each dimension; the last one comes last
  int64_t batchStep;
  std::array<int64_t, 3> step;

  int64_t count() const { return batch * size[0] * size[1] * size[2]; }
  /// body(number, place)
  template <class Body>
  void each(const Body& body) const {
    int64_t i = 0;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t x = 0; x < size[0]; ++x)
        for (int64_t y = 0; y < size[1]; ++y)
          for (int64_t z = 0; z < size[2]; ++z) body(i++, b * batchStep + x * step[0] + y * step[1] + z * step[2]);
  }
};
Places placesOf(const Description& what, bool isInput, bool isInPlace);
/// The same transforms of packed arrays.
Description asPacked(Description what);

class Plan {
 public:
  virtual ~Plan() = default;
  /// Inverse only counts for Form::Complex. `from` and `to` may be the same.
  virtual void transform(const void* from, void* to, bool isInverse) const = 0;

  const Description& description() const { return description_; }

 protected:
  explicit Plan(const Description& description) : description_(description) {}
  const Description description_;
};

std::unique_ptr<const Plan> makePlan(const Description& description);

}  // namespace ordito::cufft
