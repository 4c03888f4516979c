// See plan.hpp. A transform in several dimensions is one along each of them: real numbers become complex along the last
// dimension, first of all or, the other way, last of all.
#include "libs/cufft/plan.hpp"

#include <cmath>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "libs/cufft/bundles.hpp"

namespace ordito::cufft {
namespace {

/// The strides of one side in units of Real, of the batch and of each dimension.
struct Strides {
  ptrdiff_t batch = 0;
  std::array<ptrdiff_t, 3> of{};
};

Strides stridesOf(const Layout& layout, int rank, ptrdiff_t unit) {
  Strides strides;
  strides.batch = layout.distance * unit;
  ptrdiff_t stride = layout.stride * unit;
  for (int d = rank - 1; d >= 0; --d) {
    strides.of[static_cast<size_t>(d)] = stride;
    stride *= layout.embed[static_cast<size_t>(d)];
  }
  return strides;
}

/// One behind the other, with `last` elements in the last dimension.
Layout packed(const Description& what, int64_t last) {
  Layout layout;
  layout.embed = what.size;
  layout.embed[static_cast<size_t>(what.rank - 1)] = last;
  layout.distance = what.rows() * last;
  return layout;
}

Strides packedComplex(const Description& what) { return stridesOf(packed(what, what.lastComplex()), what.rank, 2); }

template <class Real>
class PlanOf final : public Plan {
 public:
  explicit PlanOf(const Description& what) : Plan(what) {
    for (int d = 0; d + 1 < what.rank; ++d)
      axes_.push_back(std::make_unique<Lines<Real>>(what.size[static_cast<size_t>(d)], Form::Complex));
    axes_.push_back(std::make_unique<Lines<Real>>(what.last(), what.form));
  }

  void transform(const void* from, void* to, bool isInverse) const override {
    const bool isInPlace = from == to;
    const Strides in = strides(description_.input, description_.form == Form::RealToComplex, isInPlace);
    const Strides out = strides(description_.output, description_.form == Form::ComplexToReal, isInPlace);
    const auto* source = static_cast<const Real*>(from);
    auto* target = static_cast<Real*>(to);
    const int last = description_.rank - 1;
    if (description_.form == Form::ComplexToReal) return toReal(source, in, target, out);
    along(last, source, in, target, out, isInverse);
    for (int d = last - 1; d >= 0; --d) along(d, target, out, target, out, isInverse);
  }

 private:
  /// The input of several dimensions stays as it is: all but the last one are done beside it.
  void toReal(const Real* from, const Strides& in, Real* to, const Strides& out) const {
    const int last = description_.rank - 1;
    if (last == 0) return along(0, from, in, to, out, true);
    const Strides middle = packedComplex(description_);
    Buffer<Real> buffer(2 * description_.batch * description_.rows() * description_.lastComplex());
    along(0, from, in, buffer.data(), middle, true);
    for (int d = 1; d < last; ++d) along(d, buffer.data(), middle, buffer.data(), middle, true);
    along(last, buffer.data(), middle, to, out, true);
  }

  Strides strides(const std::optional<Layout>& layout, bool isReal, bool isInPlace) const {
    const int rank = description_.rank;
    if (layout) return stridesOf(*layout, rank, isReal ? 1 : 2);
    if (!isReal) return packedComplex(description_);
    return stridesOf(packed(description_, isInPlace ? 2 * description_.lastComplex() : description_.last()), rank, 1);
  }

  void along(int d, const Real* from, const Strides& in, Real* to, const Strides& out, bool isInverse) const {
    const int last = description_.rank - 1;
    Loops loops;
    size_t next = 0;
    loops.loops[next++] = {description_.batch, in.batch, out.batch};
    for (int other = 0; other <= last; ++other) {
      const auto at = static_cast<size_t>(other);
      if (other == d) continue;
      loops.loops[next++] = {other == last ? description_.lastComplex() : description_.size[at], in.of[at], out.of[at]};
    }
    // The dimension whose elements lie next to each other comes last.
    std::sort(loops.loops.begin(), loops.loops.end(), [](const auto& a, const auto& b) { return reach(a) > reach(b); });
    const auto axis = static_cast<size_t>(d);
    // Where another dimension follows, it reads what this one writes.
    constexpr double kMoreThanCaches = 64 << 20;
    const bool isStreamed = last == 0 && from != to && description_.bytes() >= kMoreThanCaches;
    axes_[axis]->transform({from, {in.of[axis], 1}}, {to, {out.of[axis], 1}, isInverse, isStreamed}, loops, isInverse);
  }
  static ptrdiff_t reach(const Loops::Loop& loop) { return loop.count == 1 ? PTRDIFF_MAX : std::abs(loop.from); }

  std::vector<std::unique_ptr<Lines<Real>>> axes_;
};

/// Elements of 16 bits: widened to packed floats, transformed, and rounded once.
template <class Small>
class NarrowPlan final : public Plan {
 public:
  explicit NarrowPlan(const Description& what) : Plan(what), wide_(inSingle(what)) {}

  void transform(const void* from, void* to, bool isInverse) const override {
    const Description& what = description_;
    const bool fromReal = what.form == Form::RealToComplex, toReal = what.form == Form::ComplexToReal;
    Buffer<float> in(2 * elements(fromReal)), out(2 * elements(toReal));
    const auto* source = static_cast<const Small*>(from);
    auto* target = static_cast<Small*>(to);
    const bool isInPlace = from == to;
    placesOf(what, true, isInPlace).each([&](int64_t i, int64_t at) {
      for (int64_t part = 0, parts = fromReal ? 1 : 2; part < parts; ++part)
        in.data()[i * parts + part] = static_cast<float>(source[at * parts + part]);
    });
    wide_.transform(in.data(), out.data(), isInverse);
    placesOf(what, false, isInPlace).each([&](int64_t i, int64_t at) {
      for (int64_t part = 0, parts = toReal ? 1 : 2; part < parts; ++part)
        target[at * parts + part] = static_cast<Small>(out.data()[i * parts + part]);
    });
  }

 private:
  static Description inSingle(const Description& what) {
    Description single = asPacked(what);
    single.precision = Precision::Single;
    return single;
  }
  int64_t elements(bool isReal) const {
    return description_.batch * description_.rows() * (isReal ? description_.last() : description_.lastComplex());
  }
  PlanOf<float> wide_;
};

}  // namespace

Places placesOf(const Description& what, bool isInput, bool isInPlace) {
  const bool isReal = what.form == (isInput ? Form::RealToComplex : Form::ComplexToReal);
  const int64_t last = isReal ? what.last() : what.lastComplex();
  const Layout basic = packed(what, isReal && isInPlace ? 2 * what.lastComplex() : last);
  const Strides strides = stridesOf((isInput ? what.input : what.output).value_or(basic), what.rank, 1);
  Places places{what.batch, {1, 1, 1}, strides.batch, {}};
  for (int d = 0; d < what.rank; ++d) {
    const auto from = static_cast<size_t>(d), to = 3 - static_cast<size_t>(what.rank) + from;
    places.size[to] = d + 1 == what.rank ? last : what.size[from];
    places.step[to] = strides.of[from];
  }
  return places;
}

Description asPacked(Description what) {
  what.input = what.output = std::nullopt;
  return what;
}

int64_t Description::rows() const {
  int64_t product = 1;
  for (int d = 0; d + 1 < rank; ++d) product *= size[static_cast<size_t>(d)];
  return product;
}

double Description::operations() const {
  const auto all = static_cast<double>(rows() * last());
  return (form == Form::Complex ? 5 : 2.5) * static_cast<double>(batch) * all * std::log2(std::max(all, 1.0));
}

double Description::bytes() const {
  const auto number = static_cast<double>(sizeOf(precision));
  const double complexSide = 2 * static_cast<double>(lastComplex());
  const double otherSide = form == Form::Complex ? complexSide : static_cast<double>(last());
  return static_cast<double>(batch * rows()) * (complexSide + otherSide) * number;
}

std::unique_ptr<const Plan> makePlan(const Description& description) {
  switch (description.precision) {
    case Precision::Half: return std::make_unique<NarrowPlan<__half>>(description);
    case Precision::Bfloat16: return std::make_unique<NarrowPlan<__nv_bfloat16>>(description);
    case Precision::Single: return std::make_unique<PlanOf<float>>(description);
    case Precision::Double: return std::make_unique<PlanOf<double>>(description);
  }
  return nullptr;
}

}  // namespace ordito::cufft
