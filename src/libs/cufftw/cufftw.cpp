// FFTW's names, as CUDA's libcufftw has them, for programs that are moved to a GPU by changing what they link. A call
// waits for what the legacy stream has to do and returns when its results are there, as FFTW's callers expect. Plans
// keep their arrays; flags of the planner ask for nothing here, and no array is written when a plan is made.
#include "cufftw.h"

#include <fmt/core.h>

#include <cstdlib>
#include <new>

#include "libs/cufftw/transform.hpp"
#include "libs/stream_task.hpp"

extern "C" void orditoTellOnce(const char* subject, const char* text);

namespace ordito::cufftw {
namespace {

using cufft::Form;
using cufft::Precision;

/// What a plan's handle points to.
struct Planned {
  Transform transform;
  const void* from;
  void* to;
};
const Planned* planOf(const void* plan) { return static_cast<const Planned*>(plan); }

constexpr int kMostDimensions = 3;

void* plan(const Request& request, const void* from, void* to) {
  for (const Dimension& d : request.dimensions)
    if (d.size <= 0) return nullptr;
  for (const Dimension& d : request.loops)
    if (d.size < 0) return nullptr;
  if (request.dimensions.size() > kMostDimensions) {
    orditoTellOnce("cufftw rank",
                   "cuFFTW: a transform of more than three dimensions is not supported; the plan is NULL");
    return nullptr;
  }
  if (!libs::hasContext()) return nullptr;
  try {
    return new Planned{Transform(request), from, to};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void execute(const char* name, const void* handle, const void* from, void* to) {
  const Planned* planned = planOf(handle);
  if (!planned) return;
  const CUresult queued = libs::enqueue(nullptr, name, [planned, from, to] { planned->transform.run(from, to); },
                                        {planned->transform.operations(), 0});
  // FFTW has no status to answer with.
  if (queued != CUDA_SUCCESS || libs::await(nullptr) != CUDA_SUCCESS)
    fmt::print(stderr, "ordito: {} failed: its results are not there\n", name);
}
void execute(const char* name, const void* handle) {
  if (const Planned* planned = planOf(handle)) execute(name, handle, planned->from, planned->to);
}

/// The sizes of an array whose last dimension has `last` elements.
std::vector<int> sizesOf(int rank, const int* n, int last) {
  std::vector<int> sizes(n, n + rank);
  if (rank > 0) sizes.back() = last;
  return sizes;
}

/// The steps of an array within one of the sizes `embed`.
std::vector<int64_t> stepsOf(const std::vector<int>& embed, int stride) {
  std::vector<int64_t> steps(embed.size());
  int64_t step = stride;
  for (size_t d = embed.size(); d-- > 0; step *= embed[d]) steps[d] = step;
  return steps;
}

struct Side {
  const int* embed;  // null: the transform's own sizes
  int stride, distance;
};

template <class Real>
constexpr Precision kPrecision = sizeof(Real) == sizeof(double) ? Precision::Double : Precision::Single;

/// fftw_plan_many_dft and its relatives.
template <class Real>
void* planMany(Form form, int rank, const int* n, int howMany, const void* from, const Side& in, void* to,
               const Side& out, int sign) {
  if (rank < 0 || howMany < 0 || (rank > 0 && !n)) return nullptr;
  const int last = rank > 0 ? n[rank - 1] : 1, half = last / 2 + 1;
  // Rows of real numbers that are transformed in place have the room of their results.
  const int real = from == to ? 2 * half : last;
  const auto steps = [&](const Side& side, int plainLast) {
    return stepsOf(side.embed ? std::vector<int>(side.embed, side.embed + rank) : sizesOf(rank, n, plainLast),
                   side.stride);
  };
  const auto inSteps = steps(in, form == Form::RealToComplex ? real : form == Form::ComplexToReal ? half : last);
  const auto outSteps = steps(out, form == Form::ComplexToReal ? real : form == Form::RealToComplex ? half : last);
  Request request;
  for (size_t d = 0; d < inSteps.size(); ++d) request.dimensions.push_back({n[d], inSteps[d], outSteps[d]});
  request.loops.push_back({howMany, in.distance, out.distance});
  request.form = form;
  request.precision = kPrecision<Real>;
  request.isInverse = form == Form::ComplexToReal || (form == Form::Complex && sign == FFTW_BACKWARD);
  return plan(request, from, to);
}
template <class Real>
void* planOne(Form form, int rank, const int* n, const void* from, void* to, int sign) {
  return planMany<Real>(form, rank, n, 1, from, {nullptr, 1, 0}, to, {nullptr, 1, 0}, sign);
}
template <class Real, class... Sizes>
void* planSizes(Form form, const void* from, void* to, int sign, Sizes... sizes) {
  const int n[] = {sizes...};
  return planOne<Real>(form, sizeof...(sizes), n, from, to, sign);
}

template <class Real, class Dim>
void* planGuru(Form form, int rank, const Dim* dimensions, int loops, const Dim* loop, const void* from, void* to,
               int sign) {
  if (rank < 0 || loops < 0 || (rank > 0 && !dimensions) || (loops > 0 && !loop)) return nullptr;
  Request request;
  for (int d = 0; d < rank; ++d) request.dimensions.push_back({dimensions[d].n, dimensions[d].is, dimensions[d].os});
  for (int d = 0; d < loops; ++d) request.loops.push_back({loop[d].n, loop[d].is, loop[d].os});
  request.form = form;
  request.precision = kPrecision<Real>;
  request.isInverse = form == Form::ComplexToReal || (form == Form::Complex && sign == FFTW_BACKWARD);
  return plan(request, from, to);
}

void* allocate(size_t bytes) {
  constexpr size_t kLine = 64;
  return std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
}

/// Half of the operations are said to be multiplications: the transform does not count them.
void countOperations(const void* handle, double* additions, double* multiplications, double* fused) {
  const double all = handle ? planOf(handle)->transform.operations() : 0;
  if (additions) *additions = all / 2;
  if (multiplications) *multiplications = all / 2;
  if (fused) *fused = 0;
}

void print(const void* handle) {
  if (!handle) return;
  const Request& request = planOf(handle)->transform.request();
  std::string sizes;
  for (const Dimension& d : request.dimensions) sizes += fmt::format("{}{}", sizes.empty() ? "" : "x", d.size);
  const char* kind = request.form == Form::Complex ? "dft" : request.form == Form::RealToComplex ? "r2c" : "c2r";
  fmt::print("(ordito-{} {})", kind, sizes);
  std::fflush(stdout);
}

}  // namespace
}  // namespace ordito::cufftw

using ordito::cufft::Form;
namespace w = ordito::cufftw;

// Each function in both precisions; the names and their arguments are those of FFTW 3's manual, chapter 4.
#define PLAN_SIZES(P, R)                                                                                            \
  P##_plan P##_plan_dft_1d(int n, P##_complex* in, P##_complex* out, int sign, unsigned) {                          \
    return w::planSizes<R>(Form::Complex, in, out, sign, n);                                                        \
  }                                                                                                                 \
  P##_plan P##_plan_dft_2d(int n0, int n1, P##_complex* in, P##_complex* out, int sign, unsigned) {                 \
    return w::planSizes<R>(Form::Complex, in, out, sign, n0, n1);                                                   \
  }                                                                                                                 \
  P##_plan P##_plan_dft_3d(int n0, int n1, int n2, P##_complex* in, P##_complex* out, int sign, unsigned) {         \
    return w::planSizes<R>(Form::Complex, in, out, sign, n0, n1, n2);                                               \
  }                                                                                                                 \
  P##_plan P##_plan_dft(int rank, const int* n, P##_complex* in, P##_complex* out, int sign, unsigned) {            \
    return w::planOne<R>(Form::Complex, rank, n, in, out, sign);                                                    \
  }                                                                                                                 \
  P##_plan P##_plan_many_dft(int rank, const int* n, int howmany, P##_complex* in, const int* inembed, int istride, \
                             int idist, P##_complex* out, const int* onembed, int ostride, int odist, int sign,     \
                             unsigned) {                                                                            \
    return w::planMany<R>(Form::Complex, rank, n, howmany, in, {inembed, istride, idist}, out,                      \
                          {onembed, ostride, odist}, sign);                                                         \
  }                                                                                                                 \
  P##_plan P##_plan_guru_dft(int rank, const P##_iodim* dims, int howmany, const P##_iodim* loops, P##_complex* in, \
                             P##_complex* out, int sign, unsigned) {                                                \
    return w::planGuru<R>(Form::Complex, rank, dims, howmany, loops, in, out, sign);                                \
  }                                                                                                                 \
  P##_plan P##_plan_guru64_dft(int rank, const P##_iodim64* dims, int howmany, const P##_iodim64* loops,            \
                               P##_complex* in, P##_complex* out, int sign, unsigned) {                             \
    return w::planGuru<R>(Form::Complex, rank, dims, howmany, loops, in, out, sign);                                \
  }

#define PLAN_REAL(P, R, KIND, FORM, IN, OUT)                                                                         \
  P##_plan P##_plan_dft_##KIND##_1d(int n, IN* in, OUT* out, unsigned) {                                             \
    return w::planSizes<R>(FORM, in, out, 0, n);                                                                     \
  }                                                                                                                  \
  P##_plan P##_plan_dft_##KIND##_2d(int n0, int n1, IN* in, OUT* out, unsigned) {                                    \
    return w::planSizes<R>(FORM, in, out, 0, n0, n1);                                                                \
  }                                                                                                                  \
  P##_plan P##_plan_dft_##KIND##_3d(int n0, int n1, int n2, IN* in, OUT* out, unsigned) {                            \
    return w::planSizes<R>(FORM, in, out, 0, n0, n1, n2);                                                            \
  }                                                                                                                  \
  P##_plan P##_plan_dft_##KIND(int rank, const int* n, IN* in, OUT* out, unsigned) {                                 \
    return w::planOne<R>(FORM, rank, n, in, out, 0);                                                                 \
  }                                                                                                                  \
  P##_plan P##_plan_many_dft_##KIND(int rank, const int* n, int howmany, IN* in, const int* inembed, int istride,    \
                                    int idist, OUT* out, const int* onembed, int ostride, int odist, unsigned) {     \
    return w::planMany<R>(FORM, rank, n, howmany, in, {inembed, istride, idist}, out, {onembed, ostride, odist}, 0); \
  }                                                                                                                  \
  P##_plan P##_plan_guru_dft_##KIND(int rank, const P##_iodim* dims, int howmany, const P##_iodim* loops, IN* in,    \
                                    OUT* out, unsigned) {                                                            \
    return w::planGuru<R>(FORM, rank, dims, howmany, loops, in, out, 0);                                             \
  }                                                                                                                  \
  P##_plan P##_plan_guru64_dft_##KIND(int rank, const P##_iodim64* dims, int howmany, const P##_iodim64* loops,      \
                                      IN* in, OUT* out, unsigned) {                                                  \
    return w::planGuru<R>(FORM, rank, dims, howmany, loops, in, out, 0);                                             \
  }

#define EXECUTE_AND_REST(P, R)                                                                        \
  void P##_execute(const P##_plan plan) { w::execute(#P "_execute", plan); }                          \
  void P##_execute_dft(const P##_plan plan, P##_complex* in, P##_complex* out) {                      \
    w::execute(#P "_execute_dft", plan, in, out);                                                     \
  }                                                                                                   \
  void P##_execute_dft_r2c(const P##_plan plan, R* in, P##_complex* out) {                            \
    w::execute(#P "_execute_dft_r2c", plan, in, out);                                                 \
  }                                                                                                   \
  void P##_execute_dft_c2r(const P##_plan plan, P##_complex* in, R* out) {                            \
    w::execute(#P "_execute_dft_c2r", plan, in, out);                                                 \
  }                                                                                                   \
  void P##_destroy_plan(P##_plan plan) { delete static_cast<w::Planned*>(plan); }                     \
  void P##_cleanup() {}                                                                               \
  void* P##_malloc(size_t bytes) { return w::allocate(bytes); }                                       \
  void P##_free(void* memory) { std::free(memory); }                                                  \
  void P##_print_plan(const P##_plan plan) { w::print(plan); }                                        \
  void P##_flops(const P##_plan plan, double* additions, double* multiplications, double* fused) {    \
    w::countOperations(plan, additions, multiplications, fused);                                      \
  }                                                                                                   \
  double P##_cost(const P##_plan plan) { return plan ? w::planOf(plan)->transform.operations() : 0; } \
  void P##_set_timelimit(double) {}                                                                   \
  /* Nothing is learnt about the machine, so there is nothing to read or to keep. */                  \
  int P##_import_wisdom_from_file(FILE*) { return 0; }                                                \
  void P##_export_wisdom_to_file(FILE*) {}

extern "C" {
PLAN_SIZES(fftw, double)
PLAN_SIZES(fftwf, float)
PLAN_REAL(fftw, double, r2c, Form::RealToComplex, double, fftw_complex)
PLAN_REAL(fftw, double, c2r, Form::ComplexToReal, fftw_complex, double)
PLAN_REAL(fftwf, float, r2c, Form::RealToComplex, float, fftwf_complex)
PLAN_REAL(fftwf, float, c2r, Form::ComplexToReal, fftwf_complex, float)
EXECUTE_AND_REST(fftw, double)
EXECUTE_AND_REST(fftwf, float)
}
