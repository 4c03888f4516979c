// See transform.hpp.
#include "libs/cufftw/transform.hpp"

#include <algorithm>

namespace ordito::cufftw {
namespace {

using cufft::Description;
using cufft::Form;
using cufft::Layout;
using cufft::Precision;

enum class Side { From, To };

int64_t stepOf(const Dimension& dimension, Side side) { return side == Side::From ? dimension.from : dimension.to; }
bool isReal(const Request& request, Side side) {
  return request.form == (side == Side::From ? Form::RealToComplex : Form::ComplexToReal);
}

/// The steps of one side as an array within an array: each step is a multiple of the next one. `rooms` gets how often.
bool isNested(const std::vector<Dimension>& dimensions, Side side, Layout& layout) {
  const size_t rank = dimensions.size();
  layout.stride = stepOf(dimensions[rank - 1], side);
  if (layout.stride <= 0) return false;
  layout.embed[0] = dimensions[0].size;
  for (size_t d = 1; d < rank; ++d) {
    const int64_t outer = stepOf(dimensions[d - 1], side), inner = stepOf(dimensions[d], side);
    if (outer <= 0 || inner <= 0 || outer % inner != 0) return false;
    layout.embed[d] = outer / inner;
  }
  return true;
}

/// body(number in packed order, place) for each element of one side.
template <class Body>
void each(const Request& request, Side side, const Body& body) {
  std::vector<Dimension> all = request.loops;
  all.insert(all.end(), request.dimensions.begin(), request.dimensions.end());
  if (request.form != Form::Complex && !isReal(request, side)) all.back().size = all.back().size / 2 + 1;
  std::vector<int64_t> at(all.size(), 0);
  int64_t place = 0;
  for (int64_t number = 0;; ++number) {
    body(number, place);
    size_t d = all.size();
    while (d > 0) {
      --d;
      place += stepOf(all[d], side);
      if (++at[d] < all[d].size) break;
      place -= stepOf(all[d], side) * all[d].size;
      at[d] = 0;
      if (d == 0) return;
    }
  }
}

Description packedDescription(const Request& request) {
  Description what;
  what.rank = static_cast<int>(request.dimensions.size());
  for (size_t d = 0; d < request.dimensions.size(); ++d) what.size[d] = request.dimensions[d].size;
  for (const Dimension& loop : request.loops) what.batch *= loop.size;
  what.form = request.form;
  what.precision = request.precision;
  return what;
}

/// Brought together, transformed, and put where it belongs.
template <class Real>
void runApart(const Request& request, const cufft::Plan& plan, const void* from, void* to) {
  const Description& what = plan.description();
  const auto elements = [&](Side side) {
    const bool real = isReal(request, side);
    return (real ? 1 : 2) * what.batch * what.rows() * (real ? what.last() : what.lastComplex());
  };
  std::vector<Real> in(static_cast<size_t>(elements(Side::From))), out(static_cast<size_t>(elements(Side::To)));
  const int64_t inParts = isReal(request, Side::From) ? 1 : 2, outParts = isReal(request, Side::To) ? 1 : 2;
  const auto* source = static_cast<const Real*>(from);
  auto* target = static_cast<Real*>(to);
  each(request, Side::From, [&](int64_t number, int64_t place) {
    std::copy_n(source + place * inParts, inParts, in.data() + number * inParts);
  });
  plan.transform(in.data(), out.data(), request.isInverse);
  each(request, Side::To, [&](int64_t number, int64_t place) {
    std::copy_n(out.data() + number * outParts, outParts, target + place * outParts);
  });
}

}  // namespace

Transform::Transform(const Request& request) : request_(request) {
  // A transform of no dimensions is a copy, as one of one element is.
  if (request_.dimensions.empty()) request_.dimensions.push_back({1, 1, 1});
  if (const auto what = laidOut(); what && !isEmpty()) direct_ = cufft::makePlan(*what);
  packed_ = cufft::makePlan(packedDescription(request_));
}

bool Transform::isEmpty() const {
  return std::any_of(request_.loops.begin(), request_.loops.end(), [](const Dimension& d) { return d.size == 0; });
}

std::optional<Description> Transform::laidOut() const {
  if (request_.loops.size() > 1) return std::nullopt;
  Description what = packedDescription(request_);
  Layout in, out;
  if (!isNested(request_.dimensions, Side::From, in) || !isNested(request_.dimensions, Side::To, out))
    return std::nullopt;
  if (!request_.loops.empty()) {
    in.distance = request_.loops[0].from;
    out.distance = request_.loops[0].to;
    if (in.distance < 0 || out.distance < 0) return std::nullopt;
  }
  what.input = in;
  what.output = out;
  return what;
}

bool Transform::staysInPlace() const {
  const int64_t from = isReal(request_, Side::From) ? 1 : 2, to = isReal(request_, Side::To) ? 1 : 2;
  const auto same = [&](const Dimension& d) { return d.from * from == d.to * to; };
  const Dimension& last = request_.dimensions.back();
  return std::all_of(request_.loops.begin(), request_.loops.end(), same) &&
         std::all_of(request_.dimensions.begin(), request_.dimensions.end() - 1, same) &&
         (from == to ? same(last) : last.from == 1 && last.to == 1);
}

void Transform::run(const void* from, void* to) const {
  if (isEmpty()) return;
  if (direct_ && (from != to || staysInPlace())) return direct_->transform(from, to, request_.isInverse);
  if (request_.precision == Precision::Double)
    runApart<double>(request_, *packed_, from, to);
  else
    runApart<float>(request_, *packed_, from, to);
}

}  // namespace ordito::cufftw
