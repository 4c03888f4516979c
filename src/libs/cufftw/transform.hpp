// A transform as FFTW describes it: dimensions and loops, each with a size and a step on both sides (FFTW 3's manual,
// "Guru vector and transform sizes"). What cuFFT's layouts can say is done in place; anything else is brought
// together, transformed, and put where it belongs.
#pragma once

#include <vector>

#include "libs/cufft/plan.hpp"

namespace ordito::cufftw {

/// Steps count elements of their side: real numbers or complex ones.
struct Dimension {
  int64_t size, from, to;
};

struct Request {
  std::vector<Dimension> dimensions, loops;
  cufft::Form form = cufft::Form::Complex;
  cufft::Precision precision = cufft::Precision::Double;
  bool isInverse = false;
};

class Transform {
 public:
  explicit Transform(const Request& request);

  void run(const void* from, void* to) const;
  double operations() const { return packed_->description().operations(); }
  const Request& request() const { return request_; }

 private:
  bool isEmpty() const;
  /// What cuFFT's layouts say of the request, if they can.
  std::optional<cufft::Description> laidOut() const;
  /// Whether a line's result lies where the line was, if both arrays are the same.
  bool staysInPlace() const;

  Request request_;
  std::unique_ptr<const cufft::Plan> direct_;  // null: cuFFT's layouts cannot say it
  std::unique_ptr<const cufft::Plan> packed_;
};

}  // namespace ordito::cufftw
