// The cases: their sizes, their input, the result they must give and the ratios they are held to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contender.hpp"

namespace ordito::bench {

struct CaseSpec {
  std::string name;
  Kernel kernel;
  int block;
  std::size_t n;
  std::string baseline;   ///< the contender that 1.0 stands for: "native" or "openblas"
  double target;          ///< least share of the baseline's speed that Ordito must reach
  double targetOverPocl;  ///< least speed-up over PoCL; 0 where none is asked
  double work;            ///< bytes moved, or operations for the matrix products
  std::string unit;       ///< "GB/s" or "GFLOP/s"
};

const std::vector<CaseSpec>& allCases();

/// The input arrays of a case and the right result, computed by the obvious sequential program.
class CaseData {
 public:
  explicit CaseData(const CaseSpec& spec);

  const Problem& problem() const { return problem_; }

  /// Empty if `result` is right, else what differs first.
  std::string verify(const std::vector<std::byte>& result) const;

 private:
  void makeSaxpy();
  void makeReduction();
  void makeMatmul();
  void makeTranspose();
  void makeHistogram();
  void makeMandelbrot();
  void makeCollatz();
  void makeXorshift();
  void makeScan();
  void makeBitonicSort();
  void makeSparse(std::size_t perRow);
  void makeSearch();
  void makeParticles();
  void makeCellForces();
  void makeNbody();
  void makeStencil();

  Problem problem_;
  std::vector<float> a_, b_;
  std::vector<std::int32_t> ints_;
  std::vector<unsigned char> text_;
  std::vector<double> bodies_;
  std::vector<Particle> particles_;
  std::vector<std::uint32_t> rowStart_, columns_;
  std::vector<float> floats_;            ///< expected result, one of the three
  std::vector<std::uint32_t> integers_;  ///< expected result
  std::vector<double> doubles_;          ///< expected result, to nine digits: the order of additions is free
};

}  // namespace ordito::bench
