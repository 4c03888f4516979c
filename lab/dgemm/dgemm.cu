// A product of matrices whose copies are hidden: C += A B in double precision, with A of n x 288 and B of 288 x n
// numbers, so that C is as much to copy as there is to compute. C and B are cut into panels of columns; while one is
// multiplied the next comes and the one before goes, and in the end the host multiplies some as well. With panels the
// device need never hold all of C.
//
//   dgemm [--size N] [--variant NAME] [--rounds R] [--json] [--trace]        N: rows and columns of C
//
// Build it with -lcublas.
#include <cublas_v2.h>

#include <random>

#include "../common/output.hpp"
#include "../streams/pool.hpp"
#include "plan.hpp"

namespace {

constexpr std::size_t kLargestSize = 16384;
constexpr std::size_t kPublishedSize = 8192;
constexpr std::size_t kStreams = 3;

void checkBlas(cublasStatus_t status, const char* call, int line) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, line, call, cublasGetStatusName(status));
  std::exit(1);
}
#define BLAS_CHECK(call) checkBlas((call), #call, __LINE__)

/// Adds A B to columns `first` up to `last` of C, all by columns: blocks of rows of A stay in the cache while the
/// columns pass by.
void multiplyOnHost(const double* a, const double* b, double* c, std::size_t n, std::size_t first, std::size_t last) {
  constexpr std::size_t kRows = 256, kDepth = 96;
  for (std::size_t row = 0; row < n; row += kRows) {
    const std::size_t rows = std::min(kRows, n - row);
    for (std::size_t depth = 0; depth < dgemm::kInner; depth += kDepth) {
      for (std::size_t column = first; column < last; ++column) {
        double* out = c + column * n + row;
        for (std::size_t k = depth; k < depth + kDepth; ++k) {
          const double factor = b[column * dgemm::kInner + k];
          const double* in = a + k * n + row;
          for (std::size_t i = 0; i < rows; ++i) out[i] += factor * in[i];
        }
      }
    }
  }
}

struct Context {
  explicit Context(const lab::Options& given)
      : options(given), n(given.size), a(n * dgemm::kInner), b(n * dgemm::kInner), c(n * n), old(n * n) {
    // Small whole numbers, whose sums are exact in any order.
    std::mt19937 random(16);
    auto fill = [&](double* numbers, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<double>(random() % 9) - 4;
    };
    fill(a.get(), a.size());
    fill(b.get(), b.size());
    fill(old.data(), old.size());
    expected = old;
    multiplyOnHost(a.get(), b.get(), expected.data(), n, 0, n);
  }
  void prepare() { std::copy(old.begin(), old.end(), c.get()); }
  bool isRight() const { return std::equal(expected.begin(), expected.end(), c.get()); }

  const lab::Options& options;
  std::size_t n;
  streams::Pinned<double> a, b, c;
  std::vector<double> old, expected;
};

void runHost(Context& c, lab::Measurement& row) {
  row.flops = dgemm::operationsOf(c.n, c.n);
  lab::timeCpuRounds(
      c.options.rounds, row, [&] { c.prepare(); },
      [&] { multiplyOnHost(c.a.get(), c.b.get(), c.c.get(), c.n, 0, c.n); });
  row.verified = c.isRight() ? lab::Verified::yes : lab::Verified::no;
}

/// What a plan is issued to.
class Device {
 public:
  explicit Device(Context& c)
      : c_(c), pool_(kStreams, cudaStreamNonBlocking), a_(c.a.size()), b_(c.b.size()), out_(c.c.size()) {
    BLAS_CHECK(cublasCreate(&handle_));
  }
  ~Device() { cublasDestroy(handle_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void issue(const std::vector<dgemm::Step>& steps) {
    for (const dgemm::Step& step : steps) issue(step);
  }
  void synchronize() const { pool_.synchronize(); }

 private:
  void issue(const dgemm::Step& step) {
    const cudaStream_t stream = pool_[static_cast<std::size_t>(step.stream)];
    const std::size_t first = dgemm::columnsBefore(step.first, c_.n), last = dgemm::columnsBefore(step.last, c_.n);
    if (first == last) return;
    if (step.kind == queues::Kind::kernel) return multiply(first, last, stream);
    const std::size_t bytes = dgemm::elementsOf(step, c_.n) * sizeof(double);
    if (step.kind == queues::Kind::toHost) {
      LAB_CHECK(
          cudaMemcpyAsync(c_.c.get() + first * c_.n, out_.get() + first * c_.n, bytes, cudaMemcpyDeviceToHost, stream));
    } else if (step.part == dgemm::Part::a) {
      LAB_CHECK(cudaMemcpyAsync(a_.get(), c_.a.get(), bytes, cudaMemcpyHostToDevice, stream));
    } else if (step.part == dgemm::Part::b) {
      const std::size_t at = first * dgemm::kInner;
      LAB_CHECK(cudaMemcpyAsync(b_.get() + at, c_.b.get() + at, bytes, cudaMemcpyHostToDevice, stream));
    } else {
      LAB_CHECK(
          cudaMemcpyAsync(out_.get() + first * c_.n, c_.c.get() + first * c_.n, bytes, cudaMemcpyHostToDevice, stream));
    }
  }
  void multiply(std::size_t first, std::size_t last, cudaStream_t stream) {
    const double one = 1;
    const int rows = static_cast<int>(c_.n), inner = static_cast<int>(dgemm::kInner);
    BLAS_CHECK(cublasSetStream(handle_, stream));
    BLAS_CHECK(cublasDgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, rows, static_cast<int>(last - first), inner, &one,
                           a_.get(), rows, b_.get() + first * dgemm::kInner, inner, &one, out_.get() + first * c_.n,
                           rows));
  }

  Context& c_;
  streams::StreamPool pool_;
  lab::DeviceArray<double> a_, b_, out_;
  cublasHandle_t handle_ = nullptr;
};

template <dgemm::Plan (*MakePlan)()>
void runPlan(Context& c, lab::Measurement& row) {
  const dgemm::Plan plan = MakePlan();
  Device device(c);
  row.flops = dgemm::operationsOf(c.n, c.n);
  lab::timeRounds(
      c.options.rounds, row, [&] { c.prepare(); }, [] {},
      [&] {
        device.issue(plan.before);
        if (!plan.before.empty()) device.synchronize();
        device.issue(plan.steps);
        multiplyOnHost(c.a.get(), c.b.get(), c.c.get(), c.n,
                       dgemm::columnsBefore(dgemm::kPanels - plan.hostPanels, c.n), c.n);
        device.synchronize();
      },
      [] {});
  row.verified = c.isRight() ? lab::Verified::yes : lab::Verified::no;
}

dgemm::Plan threeWayPlan() { return dgemm::threeWay(); }

const std::vector<lab::Variant<Context>> kVariants = {
    {"host", "lib.mkl", "The host alone, in blocks", true, runHost},
    {"serial", "sx.dgemm", "One stream: copies, product, copy", true, runPlan<dgemm::serial>},
    {"two_way", "sx.dgemm", "2-way: products beside copies back", true, runPlan<dgemm::twoWay>},
    {"three_way", "sx.dgemm", "3-way: copies there, products and copies back", true, runPlan<threeWayPlan>},
    {"four_way", "sx.dgemm", "4-way: and the host multiplies as well", true, runPlan<dgemm::fourWay>},
};

/// The published machine by three rates: what DGEMM reaches on it, what MKL reaches beside it, and its link each way.
void trace() {
  constexpr dgemm::Rates kFermi = {300, 43, 6};
  std::printf("a product at %.0f GFLOP/s, a host at %.0f, a link of %.0f GB/s each way, 8192 x 8192 x 288:\n",
              kFermi.deviceGflops, kFermi.hostGflops, kFermi.linkGBs);
  struct {
    const char* name;
    dgemm::Plan plan;
    int published;
  } const all[] = {{"serial", dgemm::serial(), 125},
                   {"2-way", dgemm::twoWay(), 177},
                   {"3-way", dgemm::threeWay(), 262},
                   {"4-way", dgemm::fourWay(), 282}};
  for (const auto& one : all) {
    std::printf("%-7s %4.0f GFLOP/s by the queues of a Fermi card, published %d\n", one.name,
                dgemm::simulatedGflops(one.plan, kPublishedSize, kFermi), one.published);
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = 2048;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.trace) {
    trace();
    return 0;
  }
  if (options.size > kLargestSize) lab::usageError("--size: at most 16384 rows");
  lab::mustFit(options.size * std::max(options.size, 2 * dgemm::kInner), 4 * sizeof(double), 2 * sizeof(double));
  lab::Output output("dgemm", options);
  Context context(options);
  lab::runVariants(kVariants, options, context, output);
  return output.finish("host");
}
