// The libraries of CUDA, each beside what one would write without it: a loop of the host, by the definition, which is
// also what the library's answer is held against. Dense algebra (cuBLAS), Fourier transforms (cuFFT), sparse algebra
// (cuSPARSE), algorithms over vectors (Thrust), and factorisations that host and device share (as MAGMA does). Random
// numbers have a program of their own, `montecarlo`, and images `convolution` and `rgb_histogram`.
//
//   libraries [--size N] [--variant NAME] [--rounds R] [--json] [--trace]        N: elements of a vector
//
// Build it with -lcublas -lcufft -lcusparse.
#include "algorithms.hpp"
#include "blas.hpp"
#include "fourier.hpp"
#include "hybrid.hpp"
#include "sparse.hpp"

namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 26;

const std::vector<lab::Variant<lab::Context>> kVariants = {
    {"axpy_loop", "blas.levels", "a x + y: a loop", true, lab::axpyLoop},
    {"axpy", "blas.axpy", "a x + y: cuBLAS, level 1, vectors with strides", true, lab::runAxpy},
    {"dot_loop", "blas.levels", "Scalar product: a loop", true, lab::dotLoop},
    {"dot", "blas.dot", "Scalar product: cuBLAS, level 1", true, lab::runDot},
    {"gemv", "blas.gemv", "Matrix times vector: cuBLAS, level 2, and transposed", true, lab::runGemv},
    {"gemm_loop", "blas.levels", "Matrix times matrix: a loop", true, lab::gemmLoop},
    {"gemm_kernel", "blas.levels", "Matrix times matrix: a kernel, a thread for each element", true,
     lab::runGemmKernel},
    {"eight_steps", "lib.workflow", "Matrix times matrix: cuBLAS, level 3, in eight steps", true, lab::runEightSteps},
    {"operations", "blas.op", "All pairs of operations on complex matrices", true, lab::runGemmOperations},
    {"dft_loop", "lib.fft", "Fourier transform: the sum that defines it", true, lab::transformLoop},
    {"fft", "lib.fft", "Fourier transforms, three at once, and back: cuFFT", true, lab::runTransforms},
    {"fft_real", "lib.fft", "Fourier transform of real numbers: cuFFT", true, lab::runRealTransform},
    {"spmv_loop", "lib.sparse", "Sparse matrix times vector: a loop", true, lab::sparseLoop},
    {"spmv", "lib.sparse", "Sparse matrix times vector: cuSPARSE", true, lab::runSparseVector},
    {"spmm", "lib.sparse", "Sparse matrix times five columns: cuSPARSE", true, lab::runSparseColumns},
    {"sort_loop", "lib.thrust", "Sorting: C++", true, lab::sortLoop},
    {"thrust", "lib.thrust", "Sorting, transforming, adding up, scanning: Thrust", true, lab::runThrust},
    {"cholesky", "lib.magma", "Cholesky's L L^T: panels on the host, products on the device", true, lab::runCholesky},
    {"lu", "lib.magma", "L U: panels on the host, systems and products on the device", true, lab::runLu},
    {"qr", "lib.magma", "Q R: panels on the host, products on the device", true, lab::runQr},
    {"svd", "lib.magma", "U S V^T of 16 rows: pairs of columns turned on the device", true, lab::runSvd},
};

void printMatrix(const char* what, const std::vector<float>& numbers) {
  std::printf("%s", what);
  for (const float number : numbers) std::printf(" %g", number);
  std::printf("\n");
}

/// A matrix of 3 by 3 on its way to the device and back: where each element lies, and what two copies with strides and
/// with leading dimensions leave.
void trace() {
  const std::vector<float> square = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  printMatrix("by rows:             ", square);
  const std::vector<float> columns = lab::byColumns(square, 3, 3);
  printMatrix("by columns:          ", columns);
  printMatrix("and by rows again:   ", lab::byRows(columns, 3, 3));

  lab::DeviceArray<float> device(20);
  std::vector<float> found(20, -1);
  device.clear();
  LIBRARY_CHECK(cublasSetMatrix(3, 3, sizeof(float), columns.data(), 3, device.get(), 5));
  device.download(found.data(), 15);
  printMatrix("on the device, columns 5 apart:", std::vector<float>(found.begin(), found.begin() + 15));
  std::vector<float> back(9, -1);
  LIBRARY_CHECK(cublasGetMatrix(3, 3, sizeof(float), device.get(), 5, back.data(), 3));
  printMatrix("back from there:     ", back);
  std::fill(back.begin(), back.end(), -1.0f);
  cudaStream_t stream;
  LAB_CHECK(cudaStreamCreate(&stream));
  LAB_CHECK(cudaMemsetAsync(device.get(), 0, 5 * sizeof(float), stream));
  LIBRARY_CHECK(cublasGetMatrixAsync(3, 3, sizeof(float), device.get(), 5, back.data(), 3, stream));
  LAB_CHECK(cudaStreamSynchronize(stream));
  LAB_CHECK(cudaStreamDestroy(stream));
  printMatrix("in a stream, after its first column was cleared there:", back);

  device.clear();
  LIBRARY_CHECK(cublasSetVector(3, sizeof(float), square.data(), 2, device.get(), 4));
  device.download(found.data(), 9);
  printMatrix("every second element, 4 apart on the device:", std::vector<float>(found.begin(), found.begin() + 9));
  cublasHandle_t handle;
  LIBRARY_CHECK(cublasCreate(&handle));
  LIBRARY_CHECK(cublasScopy(handle, 3, device.get(), 4, device.get() + 12, 2));
  LIBRARY_CHECK(cublasDestroy(handle));
  std::vector<float> copied(6, -1);
  LIBRARY_CHECK(cublasGetVector(3, sizeof(float), device.get() + 12, 2, copied.data(), 1));
  printMatrix("copied to 2 apart, and back:", std::vector<float>(copied.begin(), copied.begin() + 3));

  const cublasStatus_t withoutHandle = cublasScopy(nullptr, 3, device.get(), 1, device.get() + 3, 1);
  std::printf("without a handle: %s\n", cublasGetStatusName(withoutHandle));
}

}  // namespace

int main(int argc, char** argv) {
  lab::Options options;
  options.size = std::size_t{1} << 20;
  options.block = lab::kBlock;
  options = lab::parse(argc, argv, options, " [--trace]");
  if (options.size > kLargestSize) lab::usageError("--size: at most 2^26 elements");
  lab::mustFit(options.size, 200, 200);
  if (options.trace) {
    trace();
    return 0;
  }
  lab::Output output("libraries", options);
  lab::Context context(options);
  lab::runVariants(kVariants, options, context, output);
  output.note("a loop is one thread of the host; the library may use all of the machine's");
  return output.finish();
}
